/* SPDX-License-Identifier: MIT */
/*
 * Which file was mapped where and when in a process: its modules.gait, in memory. Nothing in the file is trusted. After
 * reading it does not change.
 */
#ifndef GAIT_TRACE_MODULES_H
#define GAIT_TRACE_MODULES_H

#include "trace/stream_reader.h"

/* What begins there is called so, whatever the file says. */
struct module_name {
    uint64_t address; /* in memory */
    char *name;
};

struct recorded_module {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint64_t loaded;   /* the counter */
    uint64_t unloaded; /* UINT64_MAX: it stayed */
    char *path;
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    struct module_name *names;
    size_t name_count;
};

struct modules {
    struct recorded_module *modules; /* in the order in which they were loaded */
    size_t count;
    size_t capacity;
    struct stream_end end; /* how the stream ended: what was before is there */
};

/* As trace_blocks_read. */
MUST_USE int modules_read(struct modules *modules, int folder, const char *path, struct gait_error *err);
void modules_deinit(struct modules *modules);

/* Gives what begins at an address a name that is used if its file has none, in any module that was there. -ENOMEM. */
MUST_USE int modules_set_name(struct modules *modules, uint64_t address, const char *name);

/*
 * The module that covered an address at some time from `first` to `last` (the same: at that time); of several, the one
 * that was loaded last. NULL: none did. Looks at all of them.
 */
const struct recorded_module *modules_find(const struct modules *modules, uint64_t address, uint64_t first,
                                           uint64_t last);

#endif
