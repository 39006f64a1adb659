/* SPDX-License-Identifier: MIT */
/* Children by fork, and of children; their statuses and signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *what, pid_t child)
{
    int status = 0;

    if (waitpid(child, &status, 0) != child)
        printf("%s: not waited for\n", what);
    else if (WIFEXITED(status))
        printf("%s: exit %d\n", what, WEXITSTATUS(status));
    else
        printf("%s: signal %d\n", what, WTERMSIG(status));
    fflush(stdout);
}

static int work(int rounds)
{
    unsigned value = 1;

    for (int i = 0; i < rounds; i++)
        value = value * 1103515245 + 12345;
    return (int)(value >> 16 & 0x3f);
}

int main(void)
{
    pid_t child;

    for (int i = 0; i < 20; i++) {
        child = fork();
        if (child == 0)
            _exit(work(i * 1000));
        show("child", child);
    }
    child = fork();
    if (child == 0) {
        child = fork();
        if (child == 0)
            _exit(9);
        show("grandchild", child);
        exit(8);
    }
    show("child with a child", child);
    child = fork();
    if (child == 0) {
        raise(SIGKILL);
        _exit(1);
    }
    show("killed", child);
    return 0;
}
