/* SPDX-License-Identifier: MIT */
/* Makes children by vfork that take their time before they execute a program: slow_vfork COUNT MILLISECONDS. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    long milliseconds = argc > 2 ? atol(argv[2]) : 300;
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    for (int i = 0; i < count; i++) {
        int status = 0;
        pid_t child = vfork();

        if (child == 0) {
            nanosleep(&pause, NULL);
            execl("/bin/true", "true", (char *)NULL);
            _exit(9);
        }
        if (child == -1 || waitpid(child, &status, 0) != child || status != 0) {
            printf("child %d ended with %#x\n", i, (unsigned)status);
            return 1;
        }
    }
    puts("all ended well");
    return 0;
}
