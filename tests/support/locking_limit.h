/* SPDX-License-Identifier: MIT */
/* How much memory this process has locked, and may lock. For programs of any flags. */
#ifndef GAIT_TESTS_SUPPORT_LOCKING_LIMIT_H
#define GAIT_TESTS_SUPPORT_LOCKING_LIMIT_H

#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline unsigned long locked_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long kib = 0;
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        (void)sscanf(line, "VmLck: %lu", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

/* Fewer privileges, as others have them: those who may lock as much as they want have no limit. 0, or -1. */
static inline int locking_limit_obey(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &header, data) != 0)
        return -1;
    data[CAP_IPC_LOCK / 32].effective &= ~(1u << CAP_IPC_LOCK % 32);
    return (int)syscall(SYS_capset, &header, data);
}

#endif
