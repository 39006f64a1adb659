/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
#define _GNU_SOURCE
#include "stalker/follow_other.h"

#include "gait/stalker.h"
#include "support/check.h"
#include "support/event_log.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define EVENTS_ALL (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)
#define ROUNDS     60
/* With somebody who takes each event, a thread has little time for itself. */
#define ROUNDS_WITH_SINK 8

static struct gait_stalker *stalker;
static struct event_log event_log;
static const struct gait_event_sink sink = {event_log_process, &event_log};
static atomic_bool finished;
static atomic_long rounds, mistakes;

static const uint32_t masks[] = {
    0, GAIT_EVENT_BLOCK, GAIT_EVENT_CALL | GAIT_EVENT_RET, GAIT_EVENT_EXEC, EVENTS_ALL,
};

static void begin(void)
{
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    atomic_store(&finished, false);
    atomic_store(&rounds, 0);
    atomic_store(&mistakes, 0);
    event_log_clear(&event_log);
}

static int follow_to(int tid, uint32_t events, const struct gait_event_sink *where)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = events, .sink = where};

    return gait_stalker_follow(stalker, tid, &options, NULL);
}

static int follow(int tid, uint32_t events)
{
    return follow_to(tid, events, &sink);
}

/* ---- code that notices everything ------------------------------------------------------------------------------- */

/*
 * Goes round until *finished is set, with every register and flag in use: each has a value that only this code knows,
 * and is compared over and over. There are direct and indirect calls and jumps, and a loop that is linked to itself.
 * Adds to *rounds; returns how often something was wrong.
 */
long spins_checking_registers(const atomic_bool *is_finished, atomic_long *round_count);

__asm__(".text\n"
        "spins_checking_registers:\n"
        "    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "    push %rsi; push %rdi; push $0\n" /* mistakes */
        "0:\n"
        "    mov 8(%rsp), %rax; cmpb $0, (%rax); jne 9f\n"
        "    mov 16(%rsp), %rax; incq (%rax)\n"
        "    mov $0x1111, %ebx; mov $0x2222, %ebp; mov $0x3333, %edx; mov $0x4444, %esi; mov $0x5555, %edi\n"
        "    mov $0x8888, %r8d; mov $0x9999, %r9d; mov $0xaaaa, %r10d; mov $0xbbbb, %r11d; mov $0xcccc, %r12d\n"
        "    mov $0xdddd, %r13d; mov $0xeeee, %r14d; mov $0xffff, %r15d\n"
        "    mov $50, %ecx; movq $0x6666, -128(%rsp); movq $0x7777, -8(%rsp)\n"
        "1:  lea -1(%rcx), %rcx; lea 1(%r11), %r11; lea 1(%rdi), %rdi; jrcxz 2f; jmp 1b\n"
        "2:  cmp $0xbbed, %r11; jne 8f; cmp $0x5587, %rdi; jne 8f\n"
        "    cmpq $0x6666, -128(%rsp); jne 8f; cmpq $0x7777, -8(%rsp); jne 8f\n"
        "    mov $0x7777, %ecx; mov $0xbbbb, %r11d; mov $0x5555, %edi\n"
        "    lea 5f(%rip), %rax\n"
        "    stc\n"
        "    call *%rax\n"
        "    jnc 8f\n"
        "    call 5f\n"
        "    jnc 8f\n"
        "    lea 4f(%rip), %rax; cmp %eax, %eax; jmp *%rax\n"
        "    ud2\n"
        "4:  jne 8f\n"
        "    cmp $0x1111, %rbx; jne 8f; cmp $0x2222, %rbp; jne 8f; cmp $0x3333, %rdx; jne 8f\n"
        "    cmp $0x4444, %rsi; jne 8f; cmp $0x5555, %rdi; jne 8f; cmp $0x8888, %r8; jne 8f\n"
        "    cmp $0x9999, %r9; jne 8f; cmp $0xaaaa, %r10; jne 8f; cmp $0xbbbb, %r11; jne 8f\n"
        "    cmp $0xcccc, %r12; jne 8f; cmp $0xdddd, %r13; jne 8f; cmp $0xeeee, %r14; jne 8f\n"
        "    cmp $0xffff, %r15; jne 8f; cmp $0x7777, %rcx; jne 8f\n"
        "    jmp 0b\n"
        "5:  lea (%rcx,%rdi), %rax; lea (%rax,%r11), %rax; ret\n"
        "8:  incq (%rsp); jmp 0b\n"
        "9:  pop %rax; pop %rdi; pop %rsi\n"
        "    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "    ret\n");

static void spin(void *unused)
{
    (void)unused;
    atomic_fetch_add(&mistakes, spins_checking_registers(&finished, &rounds));
}

static unsigned (*volatile called[4])(unsigned);

__attribute__((noinline)) static unsigned add_one(unsigned value)
{
    return value + 1;
}
__attribute__((noinline)) static unsigned add_two(unsigned value)
{
    return value + 2;
}
__attribute__((noinline)) static unsigned add_three(unsigned value)
{
    return value + 3;
}
__attribute__((noinline)) static unsigned add_four(unsigned value)
{
    return value + 4;
}

static void call_through_pointers(void *unused)
{
    (void)unused;
    called[0] = add_one;
    called[1] = add_two;
    called[2] = add_three;
    called[3] = add_four;
    while (!atomic_load_explicit(&finished, memory_order_relaxed)) {
        unsigned value = 0;

        for (unsigned i = 0; i < 100; i++)
            value = called[i % 4](value);
        if (value != 250)
            atomic_fetch_add(&mistakes, 1);
        atomic_fetch_add(&rounds, 1);
    }
}

/* System calls all the time, some of which the engine has a part in. */
static void make_system_calls(void *unused)
{
    int ends[2];

    (void)unused;
    if (pipe(ends) != 0)
        return;
    while (!atomic_load(&finished)) {
        char sent = 'x', got = 0;

        if (write(ends[1], &sent, 1) != 1 || read(ends[0], &got, 1) != 1 || got != 'x' || getppid() == 0)
            atomic_fetch_add(&mistakes, 1);
        atomic_fetch_add(&rounds, 1);
    }
    close(ends[0]);
    close(ends[1]);
}

static void come_and_go(void (*run)(void *), uint32_t events, const struct gait_event_sink *where)
{
    unsigned failures = 0, late = 0, count = where != NULL && events != 0 ? ROUNDS_WITH_SINK : ROUNDS;
    struct subject_thread subject;

    begin();
    subject_thread_start(&subject, run, NULL);
    subject_thread_wait_count(&rounds, 1);
    for (unsigned i = 0; i < count; i++) {
        size_t seen;

        failures += follow_to(subject.tid, events, where) != 0;
        if (i % 3 == 0)
            subject_thread_wait_count(&rounds, atomic_load(&rounds) + 2);
        failures += gait_stalker_unfollow(stalker, subject.tid, NULL) != 0;
        failures += gait_stalker_is_following(stalker, subject.tid);
        seen = atomic_load(&event_log.count);
        failures += i == 0 && where != NULL && events != 0 && seen == 0;
        if (i % 10 == 0)
            subject_thread_wait_count(&rounds, atomic_load(&rounds) + 2);
        late += atomic_load(&event_log.count) != seen;
    }
    atomic_store(&finished, true);
    subject_thread_join(&subject);
    CHECK(event_log_is_of(&event_log, subject.tid));
    CHECK_EQUAL(failures, 0);
    CHECK_EQUAL(late, 0);
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    gait_stalker_destroy(stalker);
}

/* Follows and unfollows a thread that does that, with all kinds of events; after each time, none may come any more. */
static void come_and_go_with_all(void (*run)(void *))
{
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        come_and_go(run, masks[i], NULL);
        come_and_go(run, masks[i], &sink);
    }
}

static void a_thread_keeps_its_registers_wherever_it_is_met(void)
{
    come_and_go_with_all(spin);
}

static void a_thread_that_calls_through_pointers_can_be_met(void)
{
    come_and_go_with_all(call_through_pointers);
}

static void a_thread_between_system_calls_can_be_met(void)
{
    come_and_go(make_system_calls, 0, NULL);
    come_and_go(make_system_calls, EVENTS_ALL, NULL);
    come_and_go(make_system_calls, EVENTS_ALL, &sink);
}

/* ---- in and out of excluded code --------------------------------------------------------------------------------- */

/* The thread changes between two caches all the time while it is met. */
static void a_thread_that_goes_in_and_out_of_excluded_code_can_be_met(void)
{
    struct subject_thread subject;
    unsigned failures = 0;

    begin();
    CHECK_EQUAL(gait_stalker_exclude(stalker, (uintptr_t)add_two, 1, NULL), 0);
    CHECK_EQUAL(gait_stalker_exclude(stalker, (uintptr_t)add_four, 1, NULL), 0);
    subject_thread_start(&subject, call_through_pointers, NULL);
    for (unsigned i = 0; i < ROUNDS; i++) {
        failures += follow(subject.tid, i % 2 ? EVENTS_ALL : 0) != 0;
        subject_thread_wait_count(&rounds, atomic_load(&rounds) + i % 3);
        failures += gait_stalker_unfollow(stalker, subject.tid, NULL) != 0;
    }
    atomic_store(&finished, true);
    subject_thread_join(&subject);
    CHECK_EQUAL(failures, 0);
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    gait_stalker_destroy(stalker);
}

/* ---- threads that sleep ------------------------------------------------------------------------------------------ */

static int ends[2], poll_set;
static atomic_int futex_word;

static void sleep_in_nanosleep(void *unused)
{
    struct timespec time = {.tv_nsec = 60000000}, before, after;
    long elapsed_ns;

    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (nanosleep(&time, NULL) != 0)
        atomic_fetch_add(&mistakes, 1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    elapsed_ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    if (elapsed_ns < 60000000)
        atomic_fetch_add(&mistakes, 1);
}

static void sleep_in_poll(void *unused)
{
    struct pollfd wanted = {.fd = ends[0], .events = POLLIN};

    (void)unused;
    if (poll(&wanted, 1, -1) != 1 || wanted.revents != POLLIN)
        atomic_fetch_add(&mistakes, 1);
}

static void sleep_in_read(void *unused)
{
    char got = 0;

    (void)unused;
    if (read(ends[0], &got, 1) != 1 || got != 'x')
        atomic_fetch_add(&mistakes, 1);
}

static void sleep_in_epoll_wait(void *unused)
{
    struct epoll_event event;

    (void)unused;
    if (epoll_wait(poll_set, &event, 1, -1) != 1 || event.data.u32 != 77)
        atomic_fetch_add(&mistakes, 1);
}

static void sleep_in_futex(void *unused)
{
    (void)unused;
    while (atomic_load(&futex_word) == 0)
        if (syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0) != 0 && errno != EAGAIN)
            atomic_fetch_add(&mistakes, 1);
}

static void wake_nobody(void)
{
}

static void wake_reader(void)
{
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
}

static void wake_futex(void)
{
    atomic_store(&futex_word, 1);
    syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

struct sleeper {
    void (*run)(void *unused);
    void (*wake)(void);
    long number;
};

static const struct sleeper sleepers[] = {
    {sleep_in_nanosleep, wake_nobody, SYS_clock_nanosleep},
    {sleep_in_poll, wake_reader, SYS_poll},
    {sleep_in_read, wake_reader, SYS_read},
    {sleep_in_epoll_wait, wake_reader, SYS_epoll_wait},
    {sleep_in_futex, wake_futex, SYS_futex},
};

static void open_files(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 77};

    CHECK_EQUAL(pipe(ends), 0);
    poll_set = epoll_create1(0);
    CHECK_EQUAL(epoll_ctl(poll_set, EPOLL_CTL_ADD, ends[0], &event), 0);
    atomic_store(&futex_word, 0);
}

static void close_files(void)
{
    close(ends[0]);
    close(ends[1]);
    close(poll_set);
}

/* Followed and unfollowed `times` times in its sleep, and left followed or not when it wakes up. */
static void meet_sleeper(const struct sleeper *sleeper, unsigned times, bool leave_followed)
{
    struct subject_thread subject;

    begin();
    open_files();
    subject_thread_start(&subject, sleeper->run, NULL);
    subject_thread_wait_in(&subject, sleeper->number);
    for (unsigned i = 0; i < times; i++) {
        CHECK_EQUAL(follow(subject.tid, i % 2 ? EVENTS_ALL : 0), 0);
        subject_thread_wait_in(&subject, sleeper->number);
        if (!leave_followed || i + 1 < times)
            CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, NULL), 0);
    }
    sleeper->wake();
    subject_thread_join(&subject);
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    close_files();
    gait_stalker_destroy(stalker);
}

static void system_calls_that_sleep_are_not_disturbed(void)
{
    for (size_t i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++) {
        bool is_timed = sleepers[i].wake == wake_nobody;

        meet_sleeper(&sleepers[i], is_timed ? 2 : 10, true);
        meet_sleeper(&sleepers[i], is_timed ? 2 : 10, false);
    }
}

/* ---- signal handlers --------------------------------------------------------------------------------------------- */

static void handle(int number)
{
    (void)number;
    atomic_fetch_add(&mistakes, spins_checking_registers(&finished, &rounds));
}

static void spin_in_handler(void *unused)
{
    (void)unused;
    raise(SIGUSR1);
    if (!atomic_load(&finished))
        atomic_fetch_add(&mistakes, 1);
}

static void a_thread_in_a_signal_handler_can_be_met(void)
{
    struct sigaction action = {.sa_handler = handle};

    sigaction(SIGUSR1, &action, NULL);
    come_and_go(spin_in_handler, 0, NULL);
    come_and_go(spin_in_handler, GAIT_EVENT_BLOCK, NULL);
    signal(SIGUSR1, SIG_DFL);
}

/* The pc that a handler sees is the program's, also if the signal was raised just before the thread was stopped. */
extern const char trap_behind[];

static void look_at_trap(int number, siginfo_t *info, void *context)
{
    const ucontext_t *ucontext = context;

    (void)number;
    (void)info;
    atomic_fetch_add(&mistakes, ucontext->uc_mcontext.gregs[REG_RIP] != (greg_t)(uintptr_t)trap_behind);
}

static __attribute__((noinline)) void trap(void)
{
    __asm__ volatile("int3\n"
                     ".globl trap_behind\n"
                     ".hidden trap_behind\n"
                     "trap_behind:\n" ::
                         : "memory");
}

static void spin_trapping(void *unused)
{
    (void)unused;
    for (; !atomic_load(&finished); atomic_fetch_add(&rounds, 1))
        trap();
}

static void a_thread_that_raises_signals_can_be_met(void)
{
    struct sigaction action = {.sa_sigaction = look_at_trap, .sa_flags = SA_SIGINFO};

    sigaction(SIGTRAP, &action, NULL);
    come_and_go(spin_trapping, 0, NULL);
    come_and_go(spin_trapping, GAIT_EVENT_BLOCK, NULL);
    signal(SIGTRAP, SIG_DFL);
}

static atomic_long handled;

static void count_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

static void signals_meanwhile_are_neither_lost_nor_doubled(void)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    struct subject_thread subject;
    unsigned failures = 0;

    begin();
    atomic_store(&handled, 0);
    sigaction(SIGUSR1, &action, NULL);
    subject_thread_start(&subject, spin, NULL);
    for (long i = 0; i < 100; i++) {
        failures += follow(subject.tid, masks[i % 2]) != 0;
        pthread_kill(subject.thread, SIGUSR1);
        failures += gait_stalker_unfollow(stalker, subject.tid, NULL) != 0;
        subject_thread_wait_count(&handled, i + 1);
    }
    atomic_store(&finished, true);
    subject_thread_join(&subject);
    CHECK_EQUAL(atomic_load(&handled), 100);
    CHECK_EQUAL(failures, 0);
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    signal(SIGUSR1, SIG_DFL);
    gait_stalker_destroy(stalker);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void threads_that_cannot_be_followed_are_refused(void)
{
    struct subject_thread subject;
    struct gait_error err;
    char expected[200];
    pid_t foreign;

    begin();
    CHECK_EQUAL(gait_stalker_follow(stalker, gettid(), NULL, &err), -EINVAL);
    CHECK(strstr(err.text, "use gait_stalker_follow_me") != NULL);
    CHECK(!gait_stalker_is_following_me(stalker));
    foreign = fork();
    if (foreign == 0) {
        pause();
        _exit(0);
    }
    CHECK_EQUAL(gait_stalker_follow(stalker, foreign, NULL, &err), -ESRCH);
    snprintf(expected, sizeof(expected), "cannot follow thread %d: this process has no such thread", foreign);
    CHECK_TEXT(err.text, expected);
    CHECK_EQUAL(gait_stalker_unfollow(stalker, foreign, &err), -ESRCH);
    kill(foreign, SIGKILL);
    waitpid(foreign, NULL, 0);
    atomic_store(&finished, true);
    subject_thread_start(&subject, spin, NULL);
    subject_thread_join(&subject);
    CHECK_EQUAL(gait_stalker_follow(stalker, subject.tid, NULL, NULL), -ESRCH);
    CHECK(!gait_stalker_is_following(stalker, subject.tid));
    CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, &err), -ESRCH);
    snprintf(expected, sizeof(expected), "cannot unfollow thread %d: it is not followed", (int)subject.tid);
    CHECK_TEXT(err.text, expected);
    gait_stalker_destroy(stalker);
}

static void a_thread_is_followed_once(void)
{
    struct subject_thread subject;
    struct gait_error err;

    begin();
    subject_thread_start(&subject, spin, NULL);
    CHECK_EQUAL(follow(subject.tid, 0), 0);
    CHECK_EQUAL(gait_stalker_follow(stalker, subject.tid, NULL, &err), -EALREADY);
    CHECK(strstr(err.text, "it is followed already") != NULL);
    CHECK(gait_stalker_is_following(stalker, subject.tid));
    CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, NULL), 0);
    CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, NULL), -ESRCH);
    atomic_store(&finished, true);
    subject_thread_join(&subject);
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    gait_stalker_destroy(stalker);
}

/* ---- threads that end -------------------------------------------------------------------------------------------- */

static void a_followed_thread_may_end(void)
{
    begin();
    for (unsigned i = 0; i < 50; i++) {
        struct subject_thread subject;

        atomic_store(&finished, false);
        subject_thread_start(&subject, spin, NULL);
        CHECK_EQUAL(follow(subject.tid, masks[i % 5]), 0);
        atomic_store(&finished, true);
        subject_thread_join(&subject);
        CHECK(!gait_stalker_is_following(stalker, subject.tid));
    }
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    gait_stalker_destroy(stalker);
}

/* Whether it ends before, while or after it is unfollowed, nothing is left. */
static void a_thread_may_end_while_it_is_unfollowed(void)
{
    unsigned failures = 0;

    begin();
    for (unsigned i = 0; i < 100; i++) {
        struct subject_thread subject;
        int result;

        atomic_store(&finished, false);
        subject_thread_start(&subject, spin, NULL);
        failures += follow(subject.tid, masks[i % 5]) != 0;
        atomic_store(&finished, true);
        if (i % 2)
            sched_yield();
        result = gait_stalker_unfollow(stalker, subject.tid, NULL);
        failures += result != 0 && result != -ESRCH;
        failures += gait_stalker_is_following(stalker, subject.tid);
        subject_thread_join(&subject);
    }
    CHECK_EQUAL(failures, 0);
    CHECK_EQUAL(atomic_load(&mistakes), 0);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_thread_keeps_its_registers_wherever_it_is_met),
    CHECK_CASE(a_thread_that_calls_through_pointers_can_be_met),
    CHECK_CASE(a_thread_between_system_calls_can_be_met),
    CHECK_CASE(a_thread_that_goes_in_and_out_of_excluded_code_can_be_met),
    CHECK_CASE(system_calls_that_sleep_are_not_disturbed),
    CHECK_CASE(a_thread_in_a_signal_handler_can_be_met),
    CHECK_CASE(a_thread_that_raises_signals_can_be_met),
    CHECK_CASE(signals_meanwhile_are_neither_lost_nor_doubled),
    CHECK_CASE(threads_that_cannot_be_followed_are_refused),
    CHECK_CASE(a_thread_is_followed_once),
    CHECK_CASE(a_followed_thread_may_end),
    CHECK_CASE(a_thread_may_end_while_it_is_unfollowed),
};

CHECK_MAIN(cases)
