/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* A process that a signal ends dies as it would, and says so before. */
#define _GNU_SOURCE

#include "gait/cpu_context.h"
#include "gait/stalker.h"
#include "gait/x86_64.h"
#include "stalker/signal_actions.h"
#include "support/check.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

/* What the child leaves. */
static struct report {
    int deaths, signal, code, delivered;
    uint64_t address, pc, rdi;
    bool is_known, was_default;
} * report;

static struct gait_error err;

static void dying(const struct signal_death *death)
{
    report->deaths++;
    report->signal = death->signal;
    report->code = death->code;
    report->address = death->address;
    report->pc = death->cpu->pc;
    report->rdi = gait_x86_64_rdi(death->cpu);
    report->is_known = death->is_known;
}

static void delivered(int signal)
{
    report->delivered = signal;
}

static const struct signal_watcher watcher = {
    .deadly = 1ull << (SIGSEGV - 1) | 1ull << (SIGABRT - 1) | 1ull << (SIGFPE - 1),
    .delivered = delivered,
    .dying = dying,
};

/* Faults at a known place. */
void touch(volatile int *place);
__asm__(".pushsection .text\ntouch: movl (%rdi), %eax\nret\n.popsection");

static void by_a_fault(void)
{
    touch((volatile int *)0x10);
}

static void by_abort(void)
{
    abort();
}

static void handle_and_die(int signal)
{
    /* The second time there is no handler. */
    raise(signal);
}

static void by_a_handler_for_once(void)
{
    struct sigaction action = {.sa_handler = handle_and_die, .sa_flags = SA_RESETHAND | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    raise(SIGSEGV);
}

static void after_a_handler_was_taken_away(void)
{
    struct sigaction before;

    signal(SIGSEGV, handle_and_die);
    signal(SIGSEGV, SIG_DFL);
    sigaction(SIGSEGV, NULL, &before);
    report->was_default = before.sa_handler == SIG_DFL;
    by_a_fault();
}

static void by_a_signal_that_is_ignored(void)
{
    struct sigaction before;

    sigaction(SIGABRT, NULL, &before);
    report->was_default = before.sa_handler == SIG_DFL;
    signal(SIGABRT, SIG_IGN);
    raise(SIGABRT);
    _exit(7);
}

static int use_stack(unsigned depth)
{
    volatile char much[4096];

    much[0] = (char)depth;
    return depth == 0 ? 0 : use_stack(depth - 1) + much[0];
}

static void by_a_stack_without_end(void)
{
    _exit(use_stack(1u << 30));
}

static void note(int number)
{
    (void)number;
}

static void after_a_handler(void)
{
    signal(SIGUSR1, note);
    raise(SIGUSR1);
    _exit(8);
}

/* What wait() says of a child that does it, followed or not. */
static int status_of(void (*function)(void), bool is_followed)
{
    static const struct rlimit no_core, small_stack = {1 << 20, RLIM_INFINITY};
    struct gait_stalker *stalker;
    int status = 0;
    pid_t child;

    memset(report, 0, sizeof(*report));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        setrlimit(RLIMIT_STACK, &small_stack);
        if (is_followed) {
            signal_watch_set(&watcher);
            if (gait_stalker_create(NULL, &stalker, &err) != 0 || gait_stalker_follow_me(stalker, NULL, &err) != 0)
                _exit(99);
        }
        function();
        _exit(98);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    return status;
}

static void check_death(void (*function)(void), int deaths)
{
    int status = status_of(function, false);

    CHECK_EQUAL(status_of(function, true), status);
    CHECK_EQUAL(report->deaths, deaths);
    if (deaths > 0)
        CHECK_EQUAL(report->signal, WTERMSIG(status));
    CHECK(deaths == 0 || report->is_known);
}

static void a_fault_is_told_with_the_programs_registers(void)
{
    check_death(by_a_fault, 1);
    CHECK_EQUAL(report->code, SEGV_MAPERR);
    CHECK_EQUAL(report->address, 0x10);
    CHECK_EQUAL(report->rdi, 0x10);
    CHECK_EQUAL(report->pc, (uintptr_t)touch);
}

static void an_abort_is_told(void)
{
    check_death(by_abort, 1);
    CHECK_EQUAL(report->code, SI_TKILL);
}

static void handlers_come_first(void)
{
    check_death(by_a_handler_for_once, 1);
    CHECK_EQUAL(report->delivered, SIGSEGV);
}

static void the_program_is_not_shown_our_handler(void)
{
    check_death(after_a_handler_was_taken_away, 1);
    CHECK(report->was_default);
    check_death(by_a_signal_that_is_ignored, 0);
    CHECK(report->was_default);
}

static void a_full_stack_is_told(void)
{
    check_death(by_a_stack_without_end, 1);
}

static void signals_that_are_handled_are_told(void)
{
    check_death(after_a_handler, 0);
    CHECK_EQUAL(report->delivered, SIGUSR1);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_fault_is_told_with_the_programs_registers),
    CHECK_CASE(an_abort_is_told),
    CHECK_CASE(handlers_come_first),
    CHECK_CASE(the_program_is_not_shown_our_handler),
    CHECK_CASE(a_full_stack_is_told),
    CHECK_CASE(signals_that_are_handled_are_told),
};

int main(void)
{
    report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
