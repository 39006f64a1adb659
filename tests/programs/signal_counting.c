/* SPDX-License-Identifier: MIT */
/* Signals that a process sends itself: counted, blocked and released, queued, nested, with their values. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t counts[65], values, depth, deepest;

static void on_signal(int number)
{
    int saved = errno;

    errno = 12345;
    counts[number]++;
    errno = saved;
}

static void on_value(int number, siginfo_t *info, void *context)
{
    (void)context;
    counts[number]++;
    values = values * 3 + info->si_value.sival_int;
}

static void on_nested(int number)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
    counts[number]++;
    if (depth < 5)
        raise(number);
    depth--;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
    sigset_t set, old;

    signal(SIGUSR1, on_signal);
    errno = 7;
    for (int i = 0; i < 1000; i++)
        kill(getpid(), SIGUSR1);
    printf("sent %d, errno %d\n", counts[SIGUSR1], errno);

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf("blocked %d\n", counts[SIGUSR1]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("released %d\n", counts[SIGUSR1]);

    sigaction(SIGRTMIN, &action, NULL);
    for (int i = 0; i < 20; i++)
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
    printf("queued %d, values %d\n", counts[SIGRTMIN], values);

    action = (struct sigaction){.sa_handler = on_nested, .sa_flags = SA_NODEFER};
    sigaction(SIGRTMIN + 1, &action, NULL);
    raise(SIGRTMIN + 1);
    printf("nested %d, deepest %d\n", counts[SIGRTMIN + 1], deepest);
    return 0;
}
