/* SPDX-License-Identifier: MIT */
/* Processes and threads made by clone itself, with flags that the C library does not use. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(64)));
static volatile int shared, tids[2];

static int change(void *argument)
{
    shared += (int)(intptr_t)argument;
    close(9);
    chdir("/usr");
    return 3;
}

static void try(const char *what, int flags)
{
    int status = -1, parent = 0, child = 0, pid;
    char folder[100] = "";

    shared = 1;
    chdir("/");
    dup2(0, 9);
    pid = clone(change, stack + sizeof(stack), flags | SIGCHLD, (void *)5, &parent, NULL, &child);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        puts("no child");
    printf("%s: status %x, shared %d, descriptor %d, folder %s, told %d %d\n", what, (unsigned)status, shared,
           fcntl(9, F_GETFD) >= 0, getcwd(folder, sizeof(folder)), parent == pid, child == 0);
}

static void try_clone3(void)
{
    int pidfd = -1, status;
    struct clone_args arguments = {
        .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND, .pidfd = (uintptr_t)&pidfd, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));

    if (pid == 0)
        _exit(signal(SIGUSR1, SIG_IGN) == SIG_DFL ? 4 : 5);
    waitpid((int)pid, &status, 0);
    printf("clone3: %x, pidfd %d\n", (unsigned)status, pidfd >= 0);
    printf("bad: %ld %ld\n", syscall(SYS_clone3, &arguments, 8), syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0));
}

static void on_signal(int number)
{
    shared = number;
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    try("nothing", 0);
    try("tids", CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID);
    try("files", CLONE_FILES);
    try("folder", CLONE_FS);
    try("memory", CLONE_VM);
    try("memory, files, folder", CLONE_VM | CLONE_FILES | CLONE_FS);
    try("memory, handlers", CLONE_VM | CLONE_SIGHAND);
    try("memory, waiting", CLONE_VM | CLONE_VFORK);
    try("waiting", CLONE_VFORK);
    try_clone3();
    return tids[0];
}
