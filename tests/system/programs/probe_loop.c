/* SPDX-License-Identifier: MIT */
/*
 * Passes probes until it is told to end by SIGTERM; each line that it reads is answered by how often it passed them,
 * the semaphore, and the bytes of the code that they are in. A child of it does the same for as long, if it is asked
 * for.
 */
#define _GNU_SOURCE
#include "gait/probe.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

GAIT_PROBE_SEMAPHORE(looping, guarded);

static volatile sig_atomic_t is_over;
static unsigned long passed;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

__attribute__((noinline, used)) static void pass(unsigned long i)
{
    GAIT_PROBE(looping, plain, i);
    GAIT_PROBE_IF_ENABLED(looping, guarded, i * 2);
    passed = i + 1;
}

static void answer(void)
{
    const unsigned char *code = (const unsigned char *)pass;
    char line[64];

    if (fgets(line, sizeof(line), stdin) == NULL)
        return;
    printf("%lu %d ", passed, looping_guarded_semaphore);
    for (int i = 0; i < 48; i++)
        printf("%02x", code[i]);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    pid_t child = -1;

    signal(SIGTERM, end);
    if (argc > 1 && strcmp(argv[1], "--fork") == 0)
        child = fork();
    for (unsigned long i = 0; !is_over; i++) {
        pass(i);
        if (child == 0 && i == 1000)
            _exit(looping_guarded_semaphore);
        if (i % 100 == 0 && child != 0 && poll(&input, 1, 1) == 1)
            answer();
    }
    if (child > 0) {
        int status;

        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
    return 0;
}
