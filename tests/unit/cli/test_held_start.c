/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/held_start.h"

#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned asked, over_at;

static bool is_over(void *context)
{
    CHECK(context == &asked);
    return ++asked >= over_at;
}

static void wait_at(int terminal, int other, unsigned limit)
{
    const struct held_start held = {.terminal = terminal, .other = other, .is_over = is_over, .context = &asked};

    asked = 0;
    over_at = limit;
    held_start_wait(&held);
}

static void a_line_ends_it(void)
{
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    CHECK_EQUAL(write(ends[1], "\n", 1), 1);
    wait_at(ends[0], -1, 100);
    CHECK_EQUAL(asked, 1);
    close(ends[1]);
    wait_at(ends[0], -1, 100);
    CHECK_EQUAL(asked, 1);
    close(ends[0]);
}

static void others_are_asked_again_and_again(void)
{
    wait_at(-1, -1, 4);
    CHECK_EQUAL(asked, 4);
}

static void somebody_else_is_heard_at_once(void)
{
    struct timespec before, after;
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    CHECK_EQUAL(write(ends[1], "", 1), 1);
    clock_gettime(CLOCK_MONOTONIC, &before);
    wait_at(-1, ends[0], 20);
    clock_gettime(CLOCK_MONOTONIC, &after);
    /* Twenty times the pause would be a second. */
    CHECK((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 < 500);
    close(ends[0]);
    close(ends[1]);
}

/* A session of its own, whose terminal is the pseudoterminal. */
static int run_with_terminal(int master)
{
    int slave, terminal;

    setsid();
    slave = open(ptsname(master), O_RDWR);
    if (slave == -1 || ioctl(slave, TIOCSCTTY, 0) != 0)
        return 2;
    terminal = held_start_terminal();
    if (terminal == -1 || write(master, "\n", 1) != 1)
        return 3;
    wait_at(terminal, -1, 100);
    return asked == 1 ? 0 : 4;
}

static void enter_on_a_terminal_is_heard(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), status = -1;
    pid_t child;

    if (master == -1 || grantpt(master) != 0 || unlockpt(master) != 0) {
        printf("no pseudoterminals here\n");
        return;
    }
    child = fork();
    if (child == 0)
        _exit(run_with_terminal(master));
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
    close(master);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_line_ends_it),
    CHECK_CASE(others_are_asked_again_and_again),
    CHECK_CASE(somebody_else_is_heard_at_once),
    CHECK_CASE(enter_on_a_terminal_is_heard),
};

CHECK_MAIN(cases)
