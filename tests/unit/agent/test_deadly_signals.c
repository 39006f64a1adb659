/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Processes end by the same signals, with what came with them, and are put right before. */
#define _GNU_SOURCE
#include "agent/deadly_signals.h"

#include "support/check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

/* What children tell. */
static struct told {
    unsigned places;
    unsigned restored;
} * told;

static bool find_place(struct interrupted_place from, struct interrupted_place *found_out)
{
    (void)from;
    (void)found_out;
    told->places++;
    return false;
}

static void restore_code(void)
{
    told->restored++;
}

static const struct deadly_signals_helper helper = {find_place, restore_code};

static bool is_default(int signal)
{
    struct sigaction action;

    CHECK_EQUAL(sigaction(signal, NULL, &action), 0);
    return action.sa_handler == SIG_DFL;
}

/* How a child ends that does this. */
static int ending(void (*act)(void))
{
    const struct rlimit none = {0, 0};
    int status = 0;
    pid_t child;

    memset(told, 0, sizeof(*told));
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &none);
        deadly_signals_begin(&helper);
        act();
        _exit(3);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void only_defaults_that_write_cores_are_taken_over(void)
{
    deadly_signals_begin(&helper);
    signal(SIGQUIT, SIG_IGN);
    deadly_signals_cover(SIGQUIT);
    deadly_signals_cover(SIGTERM);
    deadly_signals_cover(SIGSEGV);
    CHECK(is_default(SIGTERM));
    CHECK(!is_default(SIGSEGV));
    CHECK(signal(SIGQUIT, SIG_DFL) == SIG_IGN);
    deadly_signals_uncover(SIGSEGV);
    deadly_signals_uncover(SIGTERM);
    CHECK(is_default(SIGSEGV));
}

static volatile int *volatile nowhere;

static void fault(void)
{
    deadly_signals_cover(SIGSEGV);
    *nowhere = 1;
}

static void send(void)
{
    deadly_signals_cover(SIGABRT);
    kill(getpid(), SIGABRT);
}

static void ask_and_send(void)
{
    deadly_signals_cover(SIGQUIT);
    deadly_signals_uncover(SIGQUIT);
    kill(getpid(), SIGQUIT);
}

static void fault_while_blocked(void)
{
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, SIGSEGV);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    fault();
}

/* Of a child with our memory nothing is put right. */
static void fault_in_vfork(void)
{
    int status = 0;
    pid_t child;

    deadly_signals_cover(SIGSEGV);
    child = vfork();
    if (child == 0) {
        *nowhere = 1;
        _exit(4);
    }
    waitpid(child, &status, 0);
    _exit(WTERMSIG(status) == SIGSEGV ? 7 : 8);
}

static void processes_end_as_they_would(void)
{
    CHECK_EQUAL(ending(fault), 128 + SIGSEGV);
    CHECK_EQUAL(told->places, 1);
    CHECK_EQUAL(told->restored, 1);
    CHECK_EQUAL(ending(send), 128 + SIGABRT);
    CHECK_EQUAL(told->restored, 1);
    CHECK_EQUAL(ending(ask_and_send), 128 + SIGQUIT);
    CHECK_EQUAL(told->restored, 0);
    CHECK_EQUAL(ending(fault_while_blocked), 128 + SIGSEGV);
    CHECK_EQUAL(told->restored, 0);
    CHECK_EQUAL(ending(fault_in_vfork), 7);
    CHECK_EQUAL(told->restored, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_defaults_that_write_cores_are_taken_over),
    CHECK_CASE(processes_end_as_they_would),
};

int main(void)
{
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("functions are hooked on x86-64 only");
}

#endif
