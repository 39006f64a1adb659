/* SPDX-License-Identifier: MIT */
#include "support/stopped_shell.h"

#include "inject/spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

void stopped_shell_start(struct tracee *tracee_out, char *script)
{
    char *arguments[] = {"/bin/sh", "-c", script, NULL};
    struct gait_error err;

    if (spawn_stopped(arguments, tracee_out, &err) == 0)
        return;
    printf("%s\n", err.text);
    exit(1);
}

int stopped_shell_end(const struct tracee *tracee)
{
    int status = -1;

    if (waitpid(tracee->pid, &status, 0) == tracee->pid)
        return status;
    printf("process %d is not there\n", (int)tracee->pid);
    exit(1);
}
