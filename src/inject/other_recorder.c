/* SPDX-License-Identifier: MIT */
/*
 * A ring is found by its name among the mappings of a process. A process that was forked may have its parent's, so a
 * ring is its own only if it was made by the process of that number. Its reader is found by the file that both have
 * mapped: the number that the ring has is one of the reader's own namespace.
 */
#define _GNU_SOURCE
#include "inject/other_recorder.h"

#include "hosted/error_text.h"
#include "inject/pid_namespace.h"
#include "inject/tracee.h"
#include "ring/ring_layout.h"
#include "ring/ring_notice.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As the kernel writes the name that the ring's file has. */
#define RING_NAME     "/memfd:gait ring"

#define LOOKS         50
#define LOOK_EACH_NS  20000000
#define COMMAND_BYTES 160

/* A mapping of a ring's file: also of a part of it. */
struct ring_mapping {
    uint64_t start;
    uint64_t offset;
    uint64_t inode;
};

/* Calls `visit` for each until that gives true. */
static bool find_ring(pid_t pid, bool (*visit)(void *context, const struct ring_mapping *mapping), void *context)
{
    char path[64], line[512];
    bool is_found = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    while (file != NULL && !is_found && fgets(line, sizeof(line), file) != NULL) {
        struct ring_mapping mapping;

        if (strstr(line, RING_NAME) != NULL && sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %" SCNu64,
                                                      &mapping.start, &mapping.offset, &mapping.inode) == 3)
            is_found = visit(context, &mapping);
    }
    if (file != NULL)
        fclose(file);
    return is_found;
}

/* The ring of a process, that it writes into. */
struct own_ring {
    pid_t pid;
    uint32_t inner_pid; /* what the process calls itself */
    uint64_t inode;
    uint32_t reader; /* the word by which the reader is there */
};

static bool is_own(void *context, const struct ring_mapping *mapping)
{
    struct own_ring *ring = context;
    struct ring_notices notices;
    struct ring_header header;

    if (mapping->offset != 0 || process_memory_read(ring->pid, mapping->start, &header, sizeof(header)) != 0 ||
        header.magic != RING_MAGIC || header.pid != ring->inner_pid ||
        process_memory_read(ring->pid, mapping->start + RING_NOTICES_OFFSET, &notices, sizeof(notices)) != 0)
        return false;
    ring->inode = mapping->inode;
    ring->reader = atomic_load_explicit(&notices.reader, memory_order_relaxed);
    /* Of several the one that is read is looked for: others were left by who died. */
    return !ring_notices_reader_died(&notices);
}

/* ---- the reader -------------------------------------------------------------------------------------------------- */

static bool has_inode(void *context, const struct ring_mapping *mapping)
{
    const uint64_t *inode = context;

    return mapping->inode == *inode;
}

/* The process that has the ring mapped, and did not make it. */
static pid_t find_reader(struct own_ring *ring)
{
    pid_t guess = (pid_t)(ring->reader & FUTEX_TID_MASK), found = 0;
    const struct dirent *entry;
    DIR *folder;

    if (guess != 0 && guess != ring->pid && find_ring(guess, has_inode, &ring->inode))
        return guess;
    folder = opendir("/proc");
    while (folder != NULL && found == 0 && (entry = readdir(folder)) != NULL) {
        long number = strtol(entry->d_name, NULL, 10);

        if (number > 0 && number <= INT_MAX && number != ring->pid && find_ring((pid_t)number, has_inode, &ring->inode))
            found = (pid_t)number;
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

enum other_recorder other_recorder_find(pid_t pid, pid_t *reader_out)
{
    static const struct timespec pause = {0, LOOK_EACH_NS};
    struct own_ring ring = {.pid = pid, .inner_pid = (uint32_t)pid_namespace_inner_tid(pid, pid)};

    for (unsigned i = 0; i < LOOKS; i++) {
        ring.inode = 0;
        (void)find_ring(pid, is_own, &ring);
        if (ring.inode == 0)
            return OTHER_RECORDER_NONE;
        if (ring.reader & FUTEX_OWNER_DIED)
            return OTHER_RECORDER_DIED;
        *reader_out = find_reader(&ring);
        if (*reader_out != 0 || ring.reader != 0)
            return OTHER_RECORDER_LIVES;
        nanosleep(&pause, NULL);
    }
    return OTHER_RECORDER_DIED;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* As it would be typed; what cannot be shown is left out. "": nothing is known. */
static const char *command_of(pid_t pid, char *text)
{
    size_t length = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    file = fopen(path, "re");
    if (file != NULL) {
        length = fread(text, 1, COMMAND_BYTES - 1, file);
        fclose(file);
    }
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] == '\0' ? ' ' : isprint((unsigned char)text[i]) ? text[i] : '?';
    text[length] = '\0';
    return text;
}

int other_recorder_explain(pid_t pid, pid_t reader, struct gait_error *err)
{
    char command[COMMAND_BYTES];

    if (reader == 0)
        return error_set(err, EALREADY,
                         "process %d is recorded already, by a gait that cannot be seen from here (another user's, or "
                         "outside of this container); only one can at a time: end that first",
                         (int)pid);
    if (reader == getpid())
        return error_set(err, EALREADY, "process %d is named twice, or a child of one that is", (int)pid);
    return error_set(err, EALREADY,
                     "process %d is recorded already, by process %d (%s); only one can at a time: end that first, by "
                     "Ctrl-C there or 'kill -INT %d'",
                     (int)pid, (int)reader, command_of(reader, command), (int)reader);
}
