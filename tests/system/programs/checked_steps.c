/* SPDX-License-Identifier: MIT */
/*
 * For so many milliseconds, two threads call a function, make system calls and children who do the same, and look at
 * every result. "good" is written to the file that is named if none was wrong, and if nothing has stayed in the code of
 * the function that was called; else what was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BREAKPOINT 0xcc

__attribute__((noinline)) int take_step(int number, const char *word);

static _Atomic(const char *) wrong;
static int64_t end_ns;

int take_step(int number, const char *word)
{
    __asm__ volatile("" ::: "memory");
    return number + word[0];
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void expect(int is_right, const char *what)
{
    if (!is_right)
        atomic_store(&wrong, what);
}

static void take_steps(void)
{
    char bytes[8] = "";
    int ends[2];

    for (int i = 0; i < 20; i++)
        expect(take_step(i, "a") == i + 'a', "a call");
    expect(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    expect(write(ends[1], "1234567", 8) == 8, "write");
    expect(read(ends[0], bytes, 8) == 8 && strcmp(bytes, "1234567") == 0, "read");
    expect(close(ends[0]) == 0 && close(ends[1]) == 0, "close");
    expect(open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT, "open");
    expect(getppid() > 0, "getppid");
}

static void have_child(void)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        take_steps();
        _exit(atomic_load(&wrong) == NULL ? 0 : 1);
    }
    /* The test kills some: that is not wrong. */
    expect(child > 0 && waitpid(child, &status, 0) == child, "fork");
    expect((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
           "a child");
}

static void *work(void *unused)
{
    (void)unused;
    for (unsigned i = 0; now_ns() < end_ns; i++) {
        take_steps();
        if (i % 64 == 0)
            have_child();
    }
    return NULL;
}

/* What is watched goes when the watcher does, which is before the end. */
static int is_clean(void)
{
    for (int tries = 0; tries < 200; tries++) {
        if (*(volatile const unsigned char *)(uintptr_t)take_step != BREAKPOINT)
            return 1;
        usleep(10000);
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *what;
    FILE *file;

    if (argc < 3)
        return 2;
    end_ns = now_ns() + atoi(argv[1]) * 1000000ll;
    expect(pthread_create(&thread, NULL, work, NULL) == 0, "a thread");
    work(NULL);
    expect(pthread_join(thread, NULL) == 0, "a thread's end");
    /* Somebody who is still there may watch on. */
    if (argc > 3)
        expect(is_clean(), "a breakpoint that was left");
    what = atomic_load(&wrong);
    file = fopen(argv[2], "w");
    if (file == NULL)
        return 2;
    fprintf(file, "%s\n", what == NULL ? "good" : what);
    fclose(file);
    return what != NULL;
}
