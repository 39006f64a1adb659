/* SPDX-License-Identifier: MIT */
/* A program that traces a child of its own: stops it, reads and changes its memory, sees it exit. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long shared_word = 17;

static __attribute__((noinline)) int child(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 100;
    raise(SIGSTOP);
    return (int)shared_word;
}

int main(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(child());
    waitpid(pid, &status, 0);
    printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
    printf("word %ld\n", ptrace(PTRACE_PEEKDATA, pid, &shared_word, NULL));
    ptrace(PTRACE_POKEDATA, pid, &shared_word, (void *)23);
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACEEXIT);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    printf("exits: %x\n", (unsigned)status);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    printf("status %x\n", (unsigned)status);
    return 0;
}
