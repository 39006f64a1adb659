/* SPDX-License-Identifier: MIT */
/* A mount without a place: the descriptor is kept open as long as the process lives, and leads there by /proc/self/fd.
 */
#define _GNU_SOURCE
#include "kernel/tracefs.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_BYTES 4096u /* at once, at least */

static char found[64];

static int mount_alone(void)
{
    int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), folder, result;

    if (context < 0)
        return -errno;
    folder = syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0
                 ? -1
                 : (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
    result = folder < 0 ? -errno : folder;
    close(context);
    return result;
}

static int explain(int code, struct gait_error *err)
{
    if (code == -ENODEV)
        return error_set(err, code, "cannot look at tracepoints: this kernel was built without them");
    if (code == -EPERM || code == -EACCES)
        return error_set(err, code,
                         "cannot look at tracepoints: this user may not read the kernel's folder of them; try as root");
    return error_set(err, code,
                     "cannot look at tracepoints: %s; try mount -t tracefs tracefs /sys/kernel/tracing as root",
                     strerror(-code));
}

int tracefs_find(const char **path_out, struct gait_error *err)
{
    static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    int folder;

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) && found[0] == '\0'; i++) {
        char events[64];

        snprintf(events, sizeof(events), "%s/events", usual[i]);
        if (access(events, R_OK | X_OK) == 0)
            snprintf(found, sizeof(found), "%s", usual[i]);
    }
    if (found[0] == '\0') {
        folder = mount_alone();
        if (folder < 0)
            return explain(folder, err);
        snprintf(found, sizeof(found), "/proc/self/fd/%d", folder);
    }
    *path_out = found;
    return 0;
}

int tracefs_read(const char *name, char **text_out, size_t *size_out, struct gait_error *err)
{
    const char *folder;
    char path[512], *text = NULL;
    size_t used = 0, room = 0;
    ssize_t got = 1;
    int result = tracefs_find(&folder, err), fd;

    if (result != 0)
        return result;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, errno, "cannot read %s of the kernel's tracepoints: %s", name, strerror(errno));
    while (got > 0) {
        if (ARRAY_RESERVE(text, room, used + READ_BYTES) != 0) {
            errno = ENOMEM;
            got = -1;
            break;
        }
        got = read(fd, text + used, room - used - 1);
        if (got > 0)
            used += (size_t)got;
    }
    result = got < 0 ? -errno : 0;
    close(fd);
    if (result != 0) {
        free(text);
        return error_set(err, result, "cannot read %s of the kernel's tracepoints: %s", name, strerror(-result));
    }
    text[used] = '\0';
    *text_out = text;
    *size_out = used;
    return 0;
}
