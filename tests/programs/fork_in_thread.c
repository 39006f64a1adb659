/* SPDX-License-Identifier: MIT */
/* Children by fork, of threads: each child is alone with what the thread knew. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread unsigned own;

static void *in_thread(void *number)
{
    int status = 0;
    pid_t child;

    own = (unsigned)(uintptr_t)number * 3;
    child = fork();
    if (child == 0)
        _exit((int)own); /* exit() would write what the other threads have printed so far once more */
    waitpid(child, &status, 0);
    return (void *)(uintptr_t)(WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
}

int main(void)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, (void *)(i + 1));
    for (unsigned i = 0; i < 4; i++) {
        void *result;

        pthread_join(threads[i], &result);
        printf("child of thread %u: %lu\n", i, (unsigned long)(uintptr_t)result);
    }
    return 0;
}
