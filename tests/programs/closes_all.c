/* SPDX-License-Identifier: MIT */
/* A program that closes every descriptor that it may have inherited, and then expects the next one to be 3. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *use(void *argument)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return argument == NULL ? NULL : (void *)(long)fd;
}

static long in_thread(void)
{
    pthread_t thread;
    void *result;
    int any;

    pthread_create(&thread, NULL, use, &any);
    pthread_join(thread, &result);
    return (long)result;
}

int main(void)
{
    struct rlimit few = {20, 20};
    int status, pipes[2];
    char byte = 0;

    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    printf("next %ld\n", in_thread());
#ifdef SYS_close_range
    syscall(SYS_close_range, 3, ~0u, 0);
#endif
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 3; i < 20; i++)
        if (open("/dev/null", O_RDONLY) != i)
            puts("another descriptor");
    printf("full %d\n", open("/dev/null", O_RDONLY));
    for (int fd = 3; fd < 20; fd++)
        close(fd);
    fflush(stdout);
    if (pipe(pipes) != 0)
        return 1;
    if (fork() == 0) {
        closefrom(pipes[1] + 1);
        byte = (char)in_thread();
        _exit(write(pipes[1], &byte, 1) != 1);
    }
    if (read(pipes[0], &byte, 1) != 1)
        return 1;
    wait(&status);
    printf("child %d %d\n", byte, status);
    return 0;
}
