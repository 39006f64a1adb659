/* SPDX-License-Identifier: MIT */
/* Signals during system calls that wait: restarted with SA_RESTART, interrupted without, and those that always are. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static volatile sig_atomic_t ticks, write_at;

static void on_tick(int number)
{
    (void)number;
    if (++ticks == write_at && write(ends[1], "x", 1) != 1)
        _exit(3);
}

/* From now on a tick each few milliseconds; the given one writes a byte. */
static void start(int flags, int which)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = flags};
    struct itimerval interval = {{0, 5000}, {0, 5000}};

    ticks = 0;
    write_at = which;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
}

static void stop(const char *what, long result)
{
    int error = errno;
    struct itimerval none = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &none, NULL);
    printf("%s: %ld, %s\n", what, result, result < 0 ? strerror(error) : "no error");
}

int main(void)
{
    struct timespec second = {1, 0};
    struct pollfd waited;
    sigset_t set;
    char byte;

    if (pipe(ends) != 0)
        return 1;
    start(SA_RESTART, 4);
    stop("restarted read", read(ends[0], &byte, 1));
    start(0, 1000);
    stop("interrupted read", read(ends[0], &byte, 1));
    start(SA_RESTART, 1000);
    stop("sleep", nanosleep(&second, &second));
    start(SA_RESTART, 1000);
    stop("pause", pause());
    waited = (struct pollfd){.fd = ends[0], .events = POLLIN};
    start(SA_RESTART, 1000);
    stop("poll", poll(&waited, 1, 1000));
    sigemptyset(&set);
    start(SA_RESTART, 1000);
    stop("sigsuspend", sigsuspend(&set));
    return 0;
}
