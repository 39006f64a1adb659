/* SPDX-License-Identifier: MIT */
/* A program that executes itself again and again, from threads too; masks and what is ignored are inherited. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHAIN 8

extern char **environ;

static void *execute(void *argument)
{
    execve("/nowhere/at/all", argument, environ);
    execve("/proc/self/exe", argument, environ);
    abort();
}

int main(void)
{
    const char *given = getenv("CHAIN_LINK");
    int link = given == NULL ? 0 : atoi(given);
    char text[16], *arguments[] = {(char *)"chain", NULL};
    pthread_t thread;
    sigset_t set;

    sigprocmask(SIG_BLOCK, NULL, &set);
    printf("%d: blocked %d, ignored %d, pending %d\n", link, sigismember(&set, SIGUSR1),
           signal(SIGUSR2, SIG_IGN) == SIG_IGN, sigpending(&set) == 0 && sigismember(&set, SIGUSR1));
    fflush(stdout);
    if (link == CHAIN)
        return 0;
    snprintf(text, sizeof(text), "%d", link + 1);
    setenv("CHAIN_LINK", text, 1);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    if (link % 2 == 0)
        execute(arguments);
    pthread_create(&thread, NULL, execute, arguments);
    pthread_join(thread, NULL);
    return 1;
}
