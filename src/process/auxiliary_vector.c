/* SPDX-License-Identifier: MIT */
/* Linux gives it by prctl() from 6.4 on, which needs no /proc and no right to read it. */
#include "process/auxiliary_vector.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/fcntl.h>

#define ENTRIES_MAX  64
#define CONTROL_AUXV 0x41555856 /* PR_GET_AUXV */

struct auxiliary_entry {
    uint64_t type;
    uint64_t value;
};

static void take(const struct auxiliary_entry *entry, struct auxiliary_vector *vector)
{
    switch (entry->type) {
    case AT_PHDR:
        vector->program_headers = entry->value;
        break;
    case AT_PHNUM:
        vector->program_header_count = entry->value;
        break;
    case AT_BASE:
        vector->loader = entry->value;
        break;
    case AT_ENTRY:
        vector->entry = entry->value;
        break;
    case AT_SYSINFO_EHDR:
        vector->vdso = entry->value;
        break;
    default:
        break;
    }
}

/* How many bytes, or -errno. */
static long read_entries(struct auxiliary_entry *entries, long size_bytes)
{
    long got = raw_syscall(__NR_prctl, CONTROL_AUXV, (long)entries, size_bytes, 0, 0, 0);
    long fd;

    if (got > 0)
        return got < size_bytes ? got : size_bytes;
    fd = descriptor_open("/proc/self/auxv", O_RDONLY);
    if (fd < 0)
        return fd;
    got = raw_syscall(__NR_read, fd, (long)entries, size_bytes, 0, 0, 0);
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    return got;
}

int auxiliary_vector_read(struct auxiliary_vector *vector_out)
{
    struct auxiliary_entry entries[ENTRIES_MAX];
    struct auxiliary_vector vector = {0};
    long size_bytes = read_entries(entries, sizeof(entries));

    if (size_bytes <= 0)
        return size_bytes == 0 ? -ENOENT : (int)size_bytes;
    for (long i = 0; i < size_bytes / (long)sizeof(entries[0]) && entries[i].type != AT_NULL; i++)
        take(&entries[i], &vector);
    *vector_out = vector;
    return 0;
}
