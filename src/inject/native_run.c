/* SPDX-License-Identifier: MIT */
/* The program inherits how signals are handled; that typed ones do not end us comes after. */
#define _GNU_SOURCE
#include "inject/native_run.h"

#include "hosted/error_text.h"
#include "inject/stop_signals.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int native_run_wait(int pid, int *status_out)
{
    while (waitpid(pid, status_out, 0) == -1)
        if (errno != EINTR)
            return -errno;
    return 0;
}

int native_run(char *const arguments[], int *status_out, struct gait_error *err)
{
    pid_t pid;
    int result = posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ);

    if (result != 0)
        return error_set(err, result, "cannot start %s: %s", arguments[0], strerror(result));
    stop_signals_take();
    return native_run_wait(pid, status_out);
}
