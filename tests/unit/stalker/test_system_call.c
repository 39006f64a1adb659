/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stalker/system_call.h"

#include "gait/stalker.h"
#include "gait/x86_64.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define PAGE 4096

static struct stalker_lab lab;
static struct stalker_thread *const thread = &lab.thread;

static struct app_pc code_at(size_t offset)
{
    return app_pc_of((uintptr_t)lab.code.base + offset);
}

/* Makes a system call as a thread at code_at(0) would. */
static enum system_call_outcome make(long number, long first, long second, long third, long fourth)
{
    struct gait_cpu_context *cpu = &thread->context;

    gait_x86_64_rax(cpu) = (uint64_t)number;
    gait_x86_64_rdi(cpu) = (uint64_t)first;
    gait_x86_64_rsi(cpu) = (uint64_t)second;
    gait_x86_64_rdx(cpu) = (uint64_t)third;
    gait_x86_64_r10(cpu) = (uint64_t)fourth;
    gait_x86_64_r8(cpu) = (uint64_t)-1;
    gait_x86_64_r9(cpu) = 0;
    cpu->pc = code_at(0).value;
    cpu->flags = 0x246;
    return system_call_make(thread);
}

static void check_done(long result)
{
    CHECK_EQUAL(gait_x86_64_rax(&thread->context), result);
    CHECK_EQUAL(thread->context.pc, code_at(2).value);
    CHECK_EQUAL(gait_x86_64_rcx(&thread->context), code_at(2).value);
    CHECK_EQUAL(gait_x86_64_r11(&thread->context), 0x246);
}

static void the_table_names_what_needs_the_engine(void)
{
    static const long special[] = {SYS_exit,   SYS_exit_group, SYS_execve,        SYS_execveat,  SYS_clone,
                                   SYS_clone3, SYS_fork,       SYS_vfork,         SYS_munmap,    SYS_mmap,
                                   SYS_mremap, SYS_mprotect,   SYS_pkey_mprotect, SYS_arch_prctl};
    static const long ordinary[] = {SYS_read, SYS_write, SYS_getpid, SYS_futex, SYS_sched_yield, SYS_brk, 0xffff};
    uint8_t *table = NULL;

    CHECK_EQUAL(system_call_table_create(&table), 0);
    CHECK((uintptr_t)table + 65536 < 1u << 31);
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
        CHECK(table[special[i]] != 0);
    for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
        CHECK_EQUAL(table[ordinary[i]], 0);
    system_call_table_destroy(table);
    system_call_table_destroy(NULL);
    stalker_lab_init(&lab, NULL);
    CHECK_EQUAL((uint32_t)system_call_table_address(lab.engine), (uintptr_t)lab.engine->system_calls);
    stalker_lab_deinit(&lab);
}

static bool is_known(uint64_t address)
{
    return code_cache_find(lab.cache, app_pc_of(address)) != NULL;
}

/* Two pages of code, the second of which is translated, and something translated elsewhere. */
static uint64_t map_code(void)
{
    uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(pages, 0xcc, 2 * PAGE);
    CHECK_EQUAL(mprotect(pages, 2 * PAGE, PROT_READ | PROT_EXEC), 0);
    CHECK(stalker_lab_obtain(&lab, app_pc_of((uintptr_t)pages + PAGE), false)->size_bytes == 1);
    CHECK(stalker_lab_obtain(&lab, code_at(0x100), false) != NULL);
    return (uintptr_t)pages;
}

static void code_that_is_unmapped_is_forgotten(void)
{
    uint64_t code;

    stalker_lab_init(&lab, NULL);
    code = map_code();
    CHECK_EQUAL(make(SYS_munmap, (long)code, PAGE, 0, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK(is_known(code + PAGE));
    /* A size is rounded up to pages. */
    CHECK_EQUAL(make(SYS_munmap, (long)code + PAGE, 1, 0, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK(!is_known(code + PAGE));
    CHECK(is_known(code_at(0x100).value));
    CHECK_EQUAL(code_source_bytes(&lab.engine->source, app_pc_of(code + PAGE), NULL), 0);
    stalker_lab_deinit(&lab);
}

static void code_whose_access_changes_is_forgotten(void)
{
    uint64_t code;

    stalker_lab_init(&lab, NULL);
    code = map_code();
    CHECK_EQUAL(make(SYS_mprotect, (long)code, 2 * PAGE, PROT_READ, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK(!is_known(code + PAGE));
    CHECK_EQUAL(code_source_bytes(&lab.engine->source, app_pc_of(code), NULL), 0);
    munmap((void *)(uintptr_t)code, 2 * PAGE);
    stalker_lab_deinit(&lab);
}

/* It changes the pages before the one that it cannot change. */
static void code_is_forgotten_where_a_change_comes_to_half_of_its_way(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    stalker_lab_init(&lab, NULL);
    CHECK(stalker_lab_obtain(&lab, app_pc_of((uintptr_t)pages), false) != NULL);
    munmap(pages + PAGE, PAGE);
    CHECK_EQUAL(make(SYS_mprotect, (long)pages, 2 * PAGE, PROT_READ, 0), SYSTEM_CALL_DONE);
    check_done(-ENOMEM);
    CHECK(!is_known((uintptr_t)pages));
    munmap(pages, PAGE);
    munmap(pages + 2 * PAGE, PAGE);
    stalker_lab_deinit(&lab);
}

static void code_that_is_mapped_over_is_forgotten(void)
{
    uint64_t code;

    stalker_lab_init(&lab, NULL);
    code = map_code();
    CHECK_EQUAL(make(SYS_mmap, (long)code + PAGE, 100, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED),
                SYSTEM_CALL_DONE);
    check_done((long)code + PAGE);
    CHECK(!is_known(code + PAGE));
    munmap((void *)(uintptr_t)code, 2 * PAGE);
    stalker_lab_deinit(&lab);
}

static void code_that_moves_is_forgotten(void)
{
    uint64_t code;

    stalker_lab_init(&lab, NULL);
    code = map_code();
    CHECK_EQUAL(make(SYS_mremap, (long)code, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE), SYSTEM_CALL_DONE);
    CHECK((int64_t)gait_x86_64_rax(&thread->context) > 0);
    CHECK(!is_known(code + PAGE));
    munmap((void *)(uintptr_t)gait_x86_64_rax(&thread->context), 64 * PAGE);
    stalker_lab_deinit(&lab);
}

static void calls_that_fail_forget_nothing(void)
{
    uint64_t code;

    stalker_lab_init(&lab, NULL);
    code = map_code();
    CHECK_EQUAL(make(SYS_munmap, (long)code + PAGE + 1, PAGE, 0, 0), SYSTEM_CALL_DONE);
    check_done(-EINVAL);
    CHECK(is_known(code + PAGE));
    munmap((void *)(uintptr_t)code, 2 * PAGE);
    stalker_lab_deinit(&lab);
}

static void ends_are_left_to_the_thread(void)
{
    stalker_lab_init(&lab, NULL);
    CHECK_EQUAL(make(SYS_exit, 0, 0, 0, 0), SYSTEM_CALL_LEAVE);
    CHECK_EQUAL(make(SYS_exit_group, 0, 0, 0, 0), SYSTEM_CALL_LEAVE);
    CHECK_EQUAL(thread->context.pc, code_at(0).value);
    CHECK_EQUAL(gait_x86_64_rax(&thread->context), SYS_exit_group);
    stalker_lab_deinit(&lab);
}

/* Where signals find the program's state; tests/programs/vfork_exec.c sees what it gives. */
static void a_new_program_is_begun_in_place(void)
{
    stalker_lab_init(&lab, NULL);
    CHECK_EQUAL(make(SYS_execve, (long)"/nowhere/at/all", 0, 0, 0), SYSTEM_CALL_IN_PLACE);
    CHECK_EQUAL(thread->context.pc, code_at(0).value);
    CHECK_EQUAL(gait_x86_64_rax(&thread->context), SYS_execve);
    stalker_lab_deinit(&lab);
}

static void children_that_share_memory_begin_by_themselves(void)
{
    struct clone_args arguments = {.flags = CLONE_VM | CLONE_VFORK, .stack = 0x1000, .stack_size = 0x1000};

    stalker_lab_init(&lab, NULL);
    CHECK_EQUAL(make(SYS_vfork, 0, 0, 0, 0), SYSTEM_CALL_IN_PLACE);
    CHECK_EQUAL(make(SYS_clone, CLONE_VM | CLONE_VFORK, 0x1000, 0, 0), SYSTEM_CALL_IN_PLACE);
    CHECK_EQUAL(make(SYS_clone3, (long)&arguments, sizeof(arguments), 0, 0), SYSTEM_CALL_IN_PLACE);
    /* Threads too, if nobody wants them followed. */
    CHECK_EQUAL(make(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0x1000, 0, 0), SYSTEM_CALL_IN_PLACE);
    /* The kernel refuses these. */
    CHECK_EQUAL(make(SYS_clone3, 0, sizeof(arguments), 0, 0), SYSTEM_CALL_IN_PLACE);
    CHECK_EQUAL(make(SYS_clone3, (long)&arguments, 8, 0, 0), SYSTEM_CALL_IN_PLACE);
    CHECK_EQUAL(thread->context.pc, code_at(0).value);
    stalker_lab_deinit(&lab);
}

static void check_fork(long number, long flags)
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    thread->tid = 1;
    CHECK_EQUAL(make(number, flags, 0, 0, 0), SYSTEM_CALL_DONE);
    child = (pid_t)gait_x86_64_rax(&thread->context);
    if (child == 0)
        _exit(thread->context.pc == code_at(2).value && thread->tid == (int)syscall(SYS_gettid) &&
                      mutex_try_lock(&lab.engine->lock) && mutex_try_lock(&lab.cache->lock)
                  ? 42
                  : 1);
    check_done(child);
    CHECK_EQUAL(thread->tid, 1);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    CHECK(mutex_try_lock(&lab.engine->lock));
    mutex_unlock(&lab.engine->lock);
}

static int held;

static void hold(void)
{
    held++;
}

static void let_go(void)
{
    held--;
}

/* Whoever watches threads has its own in order when memory is copied; afterwards both may use it. */
static void who_watches_threads_is_held_up_by_a_fork(void)
{
    static const struct thread_watcher watcher = {.hold = hold, .let_go = let_go};
    pid_t child;
    int status;

    stalker_lab_init(&lab, NULL);
    lab.engine->thread_watcher = &watcher;
    held = 5;
    (void)make(SYS_fork, 0, 0, 0, 0);
    child = (pid_t)gait_x86_64_rax(&thread->context);
    if (child == 0)
        _exit(held == 5 ? 42 : 1);
    CHECK_EQUAL(held, 5);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(WEXITSTATUS(status), 42);
    lab.engine->thread_watcher = NULL;
    stalker_lab_deinit(&lab);
}

static void both_processes_go_on_behind_a_fork(void)
{
    stalker_lab_init(&lab, NULL);
    check_fork(SYS_fork, 0);
    check_fork(SYS_clone, SIGCHLD);
    stalker_lab_deinit(&lab);
}

static void the_programs_segment_base_is_its_own(void)
{
    uint64_t seen = 0;

    stalker_lab_init(&lab, NULL);
    thread->thread_base = 5;
    CHECK_EQUAL(make(SYS_arch_prctl, ARCH_SET_GS, 0x7000, 0, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK_EQUAL(make(SYS_arch_prctl, ARCH_GET_GS, (long)&seen, 0, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK_EQUAL(seen, 0x7000);
    CHECK_EQUAL(thread->thread_base, 0x7000);
    stalker_lab_deinit(&lab);
}

/* A result of 0 is no child's here: were it made in place, the thread would leave as one. */
static void other_segment_bases_are_the_kernels(void)
{
    uint64_t seen = 0, expected = 0;

    stalker_lab_init(&lab, NULL);
    syscall(SYS_arch_prctl, ARCH_GET_FS, &expected);
    CHECK_EQUAL(make(SYS_arch_prctl, ARCH_GET_FS, (long)&seen, 0, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK_EQUAL(seen, expected);
    CHECK_EQUAL(make(SYS_arch_prctl, ARCH_SET_FS, (long)expected, 0, 0), SYSTEM_CALL_DONE);
    check_done(0);
    CHECK_EQUAL(make(SYS_arch_prctl, 0x9999, 0, 0, 0), SYSTEM_CALL_DONE);
    check_done(-EINVAL);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_table_names_what_needs_the_engine),
    CHECK_CASE(code_that_is_unmapped_is_forgotten),
    CHECK_CASE(code_whose_access_changes_is_forgotten),
    CHECK_CASE(code_is_forgotten_where_a_change_comes_to_half_of_its_way),
    CHECK_CASE(code_that_is_mapped_over_is_forgotten),
    CHECK_CASE(code_that_moves_is_forgotten),
    CHECK_CASE(calls_that_fail_forget_nothing),
    CHECK_CASE(ends_are_left_to_the_thread),
    CHECK_CASE(a_new_program_is_begun_in_place),
    CHECK_CASE(children_that_share_memory_begin_by_themselves),
    CHECK_CASE(both_processes_go_on_behind_a_fork),
    CHECK_CASE(who_watches_threads_is_held_up_by_a_fork),
    CHECK_CASE(the_programs_segment_base_is_its_own),
    CHECK_CASE(other_segment_bases_are_the_kernels),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
