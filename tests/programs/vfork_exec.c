/* SPDX-License-Identifier: MIT */
/* vfork: the child uses the parent's memory until it runs another program or ends. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
    int status = 0;

    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void)
{
    static char *const arguments[] = {"sh", "-c", "echo of another program; exit 7", NULL};
    static char *const environment[] = {"PATH=/bin:/usr/bin", NULL};
    static volatile int shared, i;
    pid_t child;

    setvbuf(stdout, NULL, _IONBF, 0);
    for (i = 0; i < 50; i++) {
        child = vfork();
        if (child == 0) {
            shared += i;
            _exit(i);
        }
        if (status_of(child) != i)
            printf("child %d ended otherwise\n", i);
    }
    printf("shared %d\n", shared);
    child = vfork();
    if (child == 0) {
        execve("/bin/sh", arguments, environment);
        _exit(127);
    }
    printf("another program: %d\n", status_of(child));
    child = vfork();
    if (child == 0) {
        execve("/nonexistent", arguments, environment);
        _exit(126);
    }
    printf("no program: %d\n", status_of(child));
    return 0;
}
