/* SPDX-License-Identifier: MIT */
/* The link in it that leads to the calling process has the number that the mount knows it by. */
#include "inject/proc_folder.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int proc_folder_check(struct gait_error *err)
{
    char number[32] = "";
    ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

    if (length <= 0 || access("/proc/self/status", R_OK) != 0)
        return error_set(err, ENOENT,
                         "cannot look at processes: /proc does not show them, because it is not mounted here or "
                         "something covers it; 'mount -t proc proc /proc' mounts it, as root");
    if (strtol(number, NULL, 10) == getpid())
        return 0;
    return error_set(
        err, EXDEV,
        "cannot look at processes: /proc is that of another PID namespace, in which process %d is called "
        "%s; 'mount -t proc proc /proc' mounts that of this one, as root, and so does unshare --mount-proc",
        (int)getpid(), number);
}
