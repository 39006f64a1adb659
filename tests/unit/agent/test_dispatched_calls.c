/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* What the kernel is asked for in the program's place, and that our calls pass then: in children, which may end by it.
 */
#define _GNU_SOURCE
#include "agent/dispatched_calls.h"

#include "arch/own_calls.h"
#include "base/raw_syscall.h"
#include "support/check.h"

#include <errno.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define TID      ((uint32_t)gettid())
#define IMAGE    0x10000000ul
#define BYTES    0x8000ul
#define DISPATCH PR_SET_SYSCALL_USER_DISPATCH

static volatile uint8_t selector;
static long arguments[6];

/* What the program asks for; what the kernel is asked for is in `arguments` then. */
static bool begin_setting(long mode, uint64_t start, uint64_t size)
{
    const long asked[6] = {DISPATCH, mode, (long)start, (long)size, (long)&selector, 0};

    memcpy(arguments, asked, sizeof(arguments));
    return dispatched_calls_setting_begins(TID, SYS_prctl, arguments);
}

static void set(long mode, uint64_t start, uint64_t size)
{
    CHECK(begin_setting(mode, start, size));
    dispatched_calls_setting_ends(TID, 0);
}

static enum dispatched_call ask(uint64_t pc)
{
    return dispatched_calls_ask(TID, pc, pc + 2);
}

/* Executable code, with an instruction that our calls can be made by, or without. */
static uint8_t *map_code(bool has_place)
{
    uint8_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(code, 0xcc, 8192);
    /* Where pieces that are read at a time meet. */
    if (has_place)
        memcpy(code + 1022, "\x0f\x05\xc3", 3);
    return code;
}

static void other_calls_are_none_of_it(void)
{
    arguments[0] = PR_GET_DUMPABLE;
    CHECK(!dispatched_calls_setting_begins(TID, SYS_prctl, arguments));
    CHECK(!dispatched_calls_setting_begins(TID, SYS_getpid, arguments));
    CHECK(!dispatched_calls_are_used());
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_PASSES);
}

static void without_a_range_our_image_is_the_one_that_passes(void)
{
    dispatched_calls_begin(IMAGE, BYTES, false);
    CHECK(begin_setting(PR_SYS_DISPATCH_ON, 0, 0));
    CHECK_EQUAL(arguments[1], PR_SYS_DISPATCH_ON);
    CHECK_EQUAL(arguments[2], IMAGE);
    CHECK_EQUAL(arguments[3], BYTES);
    CHECK_EQUAL(arguments[4], (long)&selector);
    /* The kernel has refused it. */
    dispatched_calls_setting_ends(TID, -EFAULT);
    selector = 1;
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_PASSES);
    set(PR_SYS_DISPATCH_ON, 0, 0);
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_IS_HELD);
    CHECK_EQUAL(dispatched_calls_ask(TID + 1, 0x4000, 0x4002), DISPATCHED_CALL_PASSES);
    selector = 0;
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_PASSES);
    selector = 1;
    set(PR_SYS_DISPATCH_OFF, 0, 0);
    CHECK_EQUAL(arguments[2], 0);
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_PASSES);
}

static void what_is_wrong_is_left_to_the_kernel(void)
{
    dispatched_calls_begin(IMAGE, BYTES, false);
    CHECK(begin_setting(PR_SYS_DISPATCH_ON, (uint64_t)-16, 32));
    CHECK_EQUAL(arguments[1], PR_SYS_DISPATCH_ON);
    CHECK_EQUAL(arguments[2], -16);
    CHECK(begin_setting(9, 0, 0));
    CHECK(arguments[1] != PR_SYS_DISPATCH_ON && arguments[1] != PR_SYS_DISPATCH_OFF);
}

/* Ends with 5 if our calls are made as they should be while the kernel holds back all others but those of the code. */
static void call_while_held(const uint8_t *code)
{
    long own = raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0), seen;

    selector = 0;
    CHECK(begin_setting(PR_SYS_DISPATCH_ON, (uintptr_t)code, 8192));
    if (raw_syscall_for_program(SYS_prctl, DISPATCH, arguments[1], arguments[2], arguments[3], arguments[4], 0) != 0)
        _exit(5);
    dispatched_calls_setting_ends(TID, 0);
    selector = 1;
    seen = raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
    if (raw_syscall_for_program(SYS_getppid, 0, 0, 0, 0, 0, 0) != own)
        seen = 0;
    raw_syscall(SYS_exit_group, seen == own ? 5 : 6, 0, 0, 0, 0, 0);
}

static void in_a_range_our_calls_are_made_by_an_instruction_there(void)
{
    uint8_t *code = map_code(true);
    int status = 0;

    dispatched_calls_begin(IMAGE, BYTES, false);
    if (fork() == 0)
        call_while_held(code);
    CHECK(wait(&status) > 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    set(PR_SYS_DISPATCH_ON, (uintptr_t)code, 8192);
    CHECK_EQUAL(arguments[2], (long)(uintptr_t)code);
    CHECK_EQUAL(arguments[3], 8192);
    CHECK(!dispatched_calls_hold_return(TID, (uintptr_t)code + 16));
    set(PR_SYS_DISPATCH_OFF, 0, 0);
    munmap(code, 8192);
    /* By our own again. */
    CHECK_EQUAL(raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0), getppid());
}

static void a_range_without_one_is_refused_where_calls_are_not_patched(void)
{
    uint8_t *code = map_code(false);

    dispatched_calls_begin(IMAGE, BYTES, false);
    CHECK(begin_setting(PR_SYS_DISPATCH_ON, (uintptr_t)code, 8192));
    CHECK(arguments[1] != PR_SYS_DISPATCH_ON);
    dispatched_calls_setting_ends(TID, -EINVAL);
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_PASSES);
}

static void stubs_of_calls_in_such_a_range_are_apart(void)
{
    uint8_t *code = map_code(false);
    uint64_t start = (uintptr_t)code;

    dispatched_calls_begin(IMAGE, BYTES, true);
    set(PR_SYS_DISPATCH_ON, start, 8192);
    CHECK_EQUAL(arguments[2], IMAGE);
    selector = 1;
    CHECK_EQUAL(ask(start + 8), DISPATCHED_CALL_IS_APART);
    CHECK_EQUAL(ask(start + 8190), DISPATCHED_CALL_IS_HELD);
    selector = 0;
    CHECK_EQUAL(ask(start + 8), DISPATCHED_CALL_PASSES);
    CHECK(dispatched_calls_hold_return(TID, start + 16));
    CHECK(!dispatched_calls_hold_return(TID, start + 8192));
    CHECK(dispatched_calls_pause(TID));
    CHECK(!dispatched_calls_pause(TID));
    CHECK(dispatched_calls_resume(TID));
    CHECK(!dispatched_calls_resume(TID));
    (void)raw_syscall(SYS_prctl, DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0, 0);
}

static void a_child_has_none_of_it(void)
{
    dispatched_calls_begin(IMAGE, BYTES, false);
    set(PR_SYS_DISPATCH_ON, 0, 0);
    selector = 1;
    dispatched_calls_begin_in_child();
    CHECK_EQUAL(ask(0x4000), DISPATCHED_CALL_PASSES);
    CHECK(!dispatched_calls_pause(TID));
}

static const struct check_case cases[] = {
    CHECK_CASE(other_calls_are_none_of_it),
    CHECK_CASE(without_a_range_our_image_is_the_one_that_passes),
    CHECK_CASE(what_is_wrong_is_left_to_the_kernel),
    CHECK_CASE(in_a_range_our_calls_are_made_by_an_instruction_there),
    CHECK_CASE(a_range_without_one_is_refused_where_calls_are_not_patched),
    CHECK_CASE(stubs_of_calls_in_such_a_range_are_apart),
    CHECK_CASE(a_child_has_none_of_it),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("functions are hooked on x86-64 only");
}

#endif
