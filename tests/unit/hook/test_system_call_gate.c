/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/system_call_gate.h"

#include "base/counters.h"
#include "hook/hook_thread.h"
#include "support/check.h"
#include "support/patched_call.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

static struct {
    uint64_t number;
    uint64_t arguments[6];
    int64_t result;
    uint64_t ticks_known; /* it has a time */
    uint64_t note;
    uint64_t stack_low; /* where it was told */
    unsigned enters;
    _Atomic unsigned lefts;
    _Atomic unsigned forks;
} seen;

static unsigned enters(struct hook_thread *thread, struct system_call_frame *frame)
{
    CHECK(thread != NULL);
    seen.enters++;
    seen.number = frame->number;
    if (frame->number == SYS_clone)
        return CALL_MADE_BY_CHILD;
    if (frame->number == SYS_getuid) {
        frame->result = -EXDEV;
        return CALL_MADE_ANSWERED;
    }
    if (frame->number == SYS_getgid)
        frame->note = 77;
    return frame->number == SYS_getpid ? CALL_MADE_UNTOLD : CALL_MADE_TOLD;
}

static void left(struct hook_thread *thread, const struct system_call_frame *frame)
{
    CHECK(thread != NULL);
    seen.lefts++;
    seen.number = frame->number;
    seen.result = frame->result;
    seen.ticks_known = frame->entered_time;
    seen.note = frame->note;
    seen.stack_low = (uintptr_t)__builtin_frame_address(0);
    memcpy(seen.arguments, frame->arguments, sizeof(seen.arguments));
}

static void forked(void)
{
    seen.forks++;
}

static const struct system_call_watcher watcher = {.enters = enters, .left = left};
static patched_call call;
static struct system_call_stub stub;
static struct hook_plan plan;

static void begin(void)
{
    const struct hook_threads_options options = {.forked = forked};

    CHECK_EQUAL(hook_threads_begin(&options), 0);
    CHECK_EQUAL(system_calls_begin(&watcher), 0);
    memset(system_call_kinds(), CALL_KIND_ORDINARY, 65536);
    system_call_kinds()[SYS_gettid] = CALL_KIND_PLAIN;
    system_call_kinds()[SYS_getpid] = system_call_kinds()[SYS_clone] = CALL_KIND_SPECIAL;
    system_call_kinds()[SYS_execve] = CALL_KIND_SPECIAL;
    system_call_kinds()[SYS_getuid] = system_call_kinds()[SYS_getgid] = CALL_KIND_SPECIAL;
    call = patched_call_make(&stub, &plan);
}

static void a_call_is_told_with_arguments_and_result(void)
{
    CHECK_EQUAL(call(SYS_getppid, 1, 2, 3, 4, 5), getppid());
    CHECK_EQUAL(seen.lefts, 1);
    CHECK_EQUAL(seen.number, SYS_getppid);
    CHECK_EQUAL(seen.result, getppid());
    for (unsigned i = 0; i < 5; i++)
        CHECK_EQUAL(seen.arguments[i], i + 1);
    CHECK_EQUAL(seen.arguments[5], 0);
    CHECK(seen.ticks_known != 0);
    CHECK_EQUAL(call(SYS_close, -1, 0, 0, 0, 0), -EBADF);
    CHECK_EQUAL(seen.result, -EBADF);
    CHECK_EQUAL(counter_read(COUNTER_system_calls_untracked), 0);
}

static void a_result_of_a_call_that_is_not_known_is_counted(void)
{
    struct system_call_frame frame = {.number = SYS_getppid, .sp = 8};
    uint64_t untracked = counter_read(COUNTER_system_calls_untracked);
    unsigned lefts = seen.lefts;

    system_call_gate_left(hook_thread_current(), &frame);
    CHECK_EQUAL(seen.lefts, lefts);
    CHECK_EQUAL(counter_read(COUNTER_system_calls_untracked), untracked + 1);
}

static void what_nobody_wants_passes_by(void)
{
    unsigned before = seen.lefts;

    CHECK_EQUAL(call(SYS_gettid, 0, 0, 0, 0, 0), gettid());
    CHECK_EQUAL(call(SYS_getpid, 0, 0, 0, 0, 0), getpid());
    CHECK_EQUAL(seen.lefts, before);
    CHECK_EQUAL(seen.enters, 1);
    CHECK_EQUAL(call(SYS_execve, 0, 0, 0, 0, 0), -EFAULT);
    CHECK_EQUAL(seen.enters, 2);
    CHECK_EQUAL(seen.lefts, before + 1);
}

static volatile int handled;

static void handle(int signal)
{
    (void)signal;
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    handled++;
}

/* The handler's call is within the interrupted one, which goes on, or does not, as it would without us. */
static void signals_interrupt_calls_as_they_do(void)
{
    struct sigaction action = {.sa_handler = handle};
    struct timespec length = {0, 300000000};
    timer_t timer;
    struct itimerspec soon = {.it_value = {0, 30000000}};
    unsigned before = seen.lefts;

    sigaction(SIGALRM, &action, NULL);
    CHECK_EQUAL(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
    timer_settime(timer, 0, &soon, NULL);
    CHECK_EQUAL(call(SYS_nanosleep, (long)&length, 0, 0, 0, 0), -EINTR);
    CHECK_EQUAL(handled, 1);
    CHECK_EQUAL(seen.number, SYS_nanosleep);
    CHECK_EQUAL(seen.result, -EINTR);
    CHECK_EQUAL(seen.lefts, before + 2);
    timer_delete(timer);
}

static void *work(void *unused)
{
    for (unsigned i = 0; i < 1000; i++)
        CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    return unused;
}

static void threads_have_their_own(void)
{
    pthread_t threads[3];
    unsigned before = seen.lefts;

    for (unsigned i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(seen.lefts, before + 3000);
}

/* The child goes on behind the call untold, and finds that it is one at its first call. */
static void children_are_not_told_how_they_were_made(void)
{
    unsigned before = seen.lefts;
    int status;
    long pid = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (pid == 0) {
        bool is_good = seen.lefts == before && seen.forks == 0;

        is_good = is_good && call(SYS_getppid, 0, 0, 0, 0, 0) > 0 && seen.forks == 1 && seen.lefts == before + 1;
        _exit(is_good ? 7 : 1);
    }
    CHECK(pid > 0);
    CHECK_EQUAL(seen.lefts, before + 1);
    CHECK_EQUAL(seen.result, pid);
    CHECK_EQUAL(waitpid((pid_t)pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* Threads are found by their ids where the quick way does not exist. */
static __attribute__((noinline)) void flags_and_registers_stay(void)
{
    unsigned long before, after, kept = 0x1234;

    __asm__ volatile("stc\n\tpushfq\n\tpopq %0\n\t"
                     "movq %2, %%rbx\n\tmovq %3, %%r12\n\t"
                     "subq $256, %%rsp\n\tstc\n\tcall *%%r12\n\tpushfq\n\tpopq %1\n\taddq $256, %%rsp\n\t"
                     "movq %%rbx, %2\n\t"
                     : "=&r"(before), "=&r"(after), "+r"(kept)
                     : "r"(call), "D"(SYS_getppid)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
    CHECK_EQUAL(before & 1, 1);
    CHECK_EQUAL(after & 1, 1);
    CHECK_EQUAL(kept, 0x1234);
}

static void a_call_can_be_answered_without_being_made(void)
{
    unsigned lefts = seen.lefts;

    CHECK_EQUAL(call(SYS_getuid, 0, 0, 0, 0, 0), -EXDEV);
    CHECK_EQUAL(seen.lefts, lefts);
}

static void what_was_noted_is_known_when_it_is_left(void)
{
    CHECK_EQUAL(call(SYS_getgid, 0, 0, 0, 0, 0), getgid());
    CHECK_EQUAL(seen.note, 77);
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    CHECK_EQUAL(seen.note, 0);
}

/* Enough for a frame of the gate's, and for the call of it; below is what must not be touched. */
#define SMALL_BYTES 640

static __attribute__((noinline)) long call_on(char *top)
{
    long result;

    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "call *%[call]\n\t"
                     "movq %%rbx, %%rsp"
                     : "=a"(result)
                     : [top] "r"(top), [call] "r"(call), "D"((long)SYS_getppid), "S"(0L), "d"(0L)
                     : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}

static void a_small_stack_is_left_alone(void)
{
    static _Alignas(16) char memory[16384];
    uint64_t at = (uintptr_t)memory;
    unsigned lefts = seen.lefts;

    memset(memory, 0x5a, sizeof(memory));
    CHECK_EQUAL(call_on(memory + sizeof(memory)), getppid());
    CHECK_EQUAL(seen.lefts, lefts + 1);
    CHECK_EQUAL(seen.stack_low >= at && seen.stack_low < at + sizeof(memory), 0);
    for (size_t i = 0; i < sizeof(memory) - SMALL_BYTES; i++)
        if (memory[i] != 0x5a)
            CHECK_EQUAL(i, sizeof(memory));
    /* The thread's own one is used. */
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    CHECK_EQUAL((uintptr_t)__builtin_frame_address(0) - seen.stack_low < 65536, 1);
}

static void all(void)
{
    begin();
    a_call_is_told_with_arguments_and_result();
    a_result_of_a_call_that_is_not_known_is_counted();
    what_nobody_wants_passes_by();
    signals_interrupt_calls_as_they_do();
    threads_have_their_own();
    children_are_not_told_how_they_were_made();
    flags_and_registers_stay();
    a_call_can_be_answered_without_being_made();
    what_was_noted_is_known_when_it_is_left();
    a_small_stack_is_left_alone();
}

static const struct check_case cases[] = {
    CHECK_CASE(all),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    return 77;
}

#endif
