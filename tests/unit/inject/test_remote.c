/* SPDX-License-Identifier: MIT */
/* Calls of the agent are tested where there is one, in test_agent_load.c. */
#define _GNU_SOURCE
#include "inject/remote.h"

#include "arch/system_call_registers.h"
#include "support/check.h"
#include "support/stopped_shell.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tracee tracee;

static void system_calls_are_made_by_the_program(void)
{
    static const long nothing[6], strange[6] = {-1, -1, -1, -1, -1, -1};
    struct thread_registers before, after;
    struct remote_place place = {0};
    long answer = 0;

    stopped_shell_start(&tracee, "exit 3");
    CHECK_EQUAL(tracee_get_registers(&tracee, &before), 0);
    CHECK_EQUAL(remote_find_system_call(tracee.pid, (struct memory_range){0, 0}, &place), 0);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_getpid, nothing, &answer), 0);
    CHECK_EQUAL(answer, tracee.pid);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_close, strange, &answer), 0);
    CHECK_EQUAL(answer, -EBADF);
    CHECK_EQUAL(tracee_get_registers(&tracee, &after), 0);
    CHECK(memcmp(&before, &after, thread_registers_size_bytes()) == 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 3);
}

/* Found by what is known of our own, it is the one that is found in the program. */
static void a_program_that_begins_has_the_same_place_as_we(void)
{
    struct remote_place slow = {0}, quick = {0};

    stopped_shell_start(&tracee, "exit 3");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, (struct memory_range){0, 0}, &slow), 0);
    CHECK_EQUAL(remote_find_first_system_call(&tracee, &quick), 0);
    CHECK_EQUAL(quick.address, slow.address);
    CHECK_EQUAL(quick.return_words, slow.return_words);
    tracee.is_fresh = false;
    quick = (struct remote_place){0};
    CHECK_EQUAL(remote_find_first_system_call(&tracee, &quick), 0);
    CHECK_EQUAL(quick.address, slow.address);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 3);
}

/* As valgrind does. */
static _Noreturn void give_vdso_up(void)
{
    char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
    size_t pages = 1;

    /* It goes as a whole only. */
    while (pages < 16 && munmap(vdso, pages * 4096) != 0)
        pages++;
    raise(SIGSTOP);
    _exit(0);
}

static void without_a_vdso_there_is_other_code(void)
{
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    const uint8_t *insn;
    struct remote_place place = {0}, other = {0};
    uint8_t bytes[16];
    size_t insn_bytes;
    pid_t child = fork();
    int status;

    if (child == 0)
        give_vdso_up();
    CHECK_EQUAL(waitpid(child, &status, WUNTRACED), child);
    CHECK(WIFSTOPPED(status));
    CHECK_EQUAL(remote_find_system_call(child, (struct memory_range){0, 0}, &place), 0);
    CHECK_EQUAL(remote_find_system_call(child, (struct memory_range){place.address, place.address + 1}, &other), 0);
    CHECK(other.address != place.address);
    CHECK(place.address < vdso || place.address >= vdso + 8192);
    CHECK(place.return_words != 0);
    insn = system_call_instruction(&insn_bytes);
    CHECK_EQUAL(process_memory_read(child, place.address, bytes, insn_bytes), 0);
    CHECK_EQUAL(memcmp(bytes, insn, insn_bytes), 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

static void without_a_process_there_is_no_place(void)
{
    struct remote_place place = {0};
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    CHECK_EQUAL(remote_find_system_call(gone, (struct memory_range){0, 0}, &place), -ENOENT);
    CHECK_EQUAL(place.address, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(system_calls_are_made_by_the_program),
    CHECK_CASE(a_program_that_begins_has_the_same_place_as_we),
    CHECK_CASE(without_a_vdso_there_is_other_code),
    CHECK_CASE(without_a_process_there_is_no_place),
};

CHECK_MAIN(cases)
