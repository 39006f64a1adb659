/* SPDX-License-Identifier: MIT */
/*
 * Traps that lead elsewhere, and SIGTRAP as the program has it.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/trap_table.h"

#include "support/check.h"
#include "support/forbid.h"

#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

__asm__("        .text\n"
        "trapped:\n"
        "        int3\n"
        "        movl    $1, %eax\n"
        "        ret\n"
        "other_trap:\n"
        "        int3\n"
        "        movl    $2, %eax\n"
        "        ret\n"
        "trap_target:\n"
        "        movl    $42, %eax\n"
        "        ret\n");

int trapped(void), other_trap(void), trap_target(void);

static volatile int handled;

static void program_handler(int number)
{
    handled += number == SIGTRAP;
}

static void a_trap_leads_to_its_target(void)
{
    CHECK_EQUAL(trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target), 0);
    CHECK_EQUAL(trapped(), 42);
    CHECK_EQUAL(trap_table_set((uintptr_t)trapped, (uintptr_t)trapped + 1), 0);
    CHECK_EQUAL(trapped(), 1);
    trap_table_end();
}

static void other_traps_and_signals_go_to_the_program(void)
{
    struct sigaction action = {.sa_handler = program_handler}, before, now;

    sigaction(SIGTRAP, &action, &before);
    CHECK_EQUAL(trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target), 0);
    handled = 0;
    CHECK_EQUAL(other_trap(), 2);
    CHECK_EQUAL(handled, 1);
    raise(SIGTRAP);
    CHECK_EQUAL(handled, 2);
    CHECK_EQUAL(trapped(), 42);
    CHECK_EQUAL(handled, 2);
    trap_table_end();
    sigaction(SIGTRAP, NULL, &now);
    CHECK(now.sa_handler == program_handler);
    sigaction(SIGTRAP, &before, NULL);
}

static void a_handler_that_the_program_sets_later_is_called_too(void)
{
    struct sigaction action = {.sa_handler = program_handler}, before;

    CHECK_EQUAL(trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target), 0);
    sigaction(SIGTRAP, &action, &before);
    trap_table_renew();
    trap_table_renew();
    handled = 0;
    CHECK_EQUAL(trapped(), 42);
    CHECK_EQUAL(other_trap(), 2);
    CHECK_EQUAL(handled, 1);
    trap_table_end();
    signal(SIGTRAP, SIG_DFL);
}

static int status_of(void (*run)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        run();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static void run_into_other_trap(void)
{
    (void)!trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target);
    other_trap();
}

static void be_sent_a_trap(void)
{
    (void)!trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target);
    raise(SIGTRAP);
}

static void ignore_what_is_sent(void)
{
    signal(SIGTRAP, SIG_IGN);
    (void)!trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target);
    raise(SIGTRAP);
    _exit(trapped() == 42 ? 7 : 8);
}

static void without_a_handler_the_program_ends_as_it_would(void)
{
    int status = status_of(run_into_other_trap);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
    status = status_of(be_sent_a_trap);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
    status = status_of(ignore_what_is_sent);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static int (*volatile cleared_function)(void);

/* Somebody who has met the trap when it is taken away executes what stands there then: here the trap, once more. */
static void a_trap_that_is_gone_is_no_signal_of_the_programs(void)
{
    CHECK_EQUAL(trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target), 0);
    trap_table_clear((uintptr_t)trapped);
    trap_table_clear((uintptr_t)other_trap);
    CHECK_EQUAL(trap_table_set((uintptr_t)trapped, (uintptr_t)trap_target), 0);
    cleared_function = trapped;
    CHECK_EQUAL(cleared_function(), 42);
    trap_table_end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_trap_leads_to_its_target),
        CHECK_CASE(other_traps_and_signals_go_to_the_program),
        CHECK_CASE(a_handler_that_the_program_sets_later_is_called_too),
        CHECK_CASE(without_a_handler_the_program_ends_as_it_would),
        CHECK_CASE(a_trap_that_is_gone_is_no_signal_of_the_programs),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
