/* SPDX-License-Identifier: MIT */
/*
 * What processes have mapped to be executed, as the records of a session say, and for those that were there before as
 * /proc does when it is first asked. So addresses in their stacks can be named. Memory is bounded: of too many
 * processes, those that ended are forgotten. One thread at a time.
 */
#ifndef GAIT_KERNEL_MAPPED_FILES_H
#define GAIT_KERNEL_MAPPED_FILES_H

#include "base/hash_map.h"
#include "kernel/perf_reader.h"
#include "trace/modules.h"

#define MAPPED_PROCESSES_MAX 4096u
#define MAPPED_FILES_MAX     4096u /* of a process */

struct mapped_process {
    uint32_t pid;
    uint32_t parent_pid; /* 0: not known */
    bool is_whole;       /* all that it has mapped was reported */
    bool was_looked_at;  /* /proc was asked */
    bool has_ended;
    struct modules modules; /* what is mapped now */
};

struct mapped_files {
    struct hash_map numbers; /* pid -> number in the list */
    struct mapped_process **list;
    size_t count;
    uint64_t began; /* the counter: what was there before is from then on */
};

/* -ENOMEM. */
MUST_USE int mapped_files_init(struct mapped_files *files);
void mapped_files_deinit(struct mapped_files *files);

/* News. What there is no memory or room for is not known, and that is all. */
void mapped_files_map(struct mapped_files *files, const struct perf_mapping *mapping);
/* It executes another program: nothing is mapped, and all that will be is reported. */
void mapped_files_execute(struct mapped_files *files, uint32_t pid);
void mapped_files_fork(struct mapped_files *files, uint32_t pid, uint32_t parent_pid, uint64_t time);
void mapped_files_exit(struct mapped_files *files, uint32_t pid);

/* What a process has mapped, with all that can be found out; NULL: there is no memory. Good until the next news. */
struct mapped_process *mapped_files_look(struct mapped_files *files, uint32_t pid);

/* The same, as far as it is known; NULL: nothing is. */
struct mapped_process *mapped_files_find(const struct mapped_files *files, uint32_t pid);

#endif
