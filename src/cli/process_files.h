/* SPDX-License-Identifier: MIT */
/* The programs and libraries that a process has mapped to execute them. Callable from any thread. */
#ifndef GAIT_CLI_PROCESS_FILES_H
#define GAIT_CLI_PROCESS_FILES_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

struct process_file {
    char *path;           /* as the process sees it */
    char *opened;         /* as it can be opened from here */
    uint64_t start;       /* of its first executable mapping */
    uint64_t file_offset; /* of that */
};

struct process_files {
    struct process_file *files;
    size_t count;
};

/* By address, each once. Errors are explained: no such process, or one that is not ours. To be given back. */
MUST_USE int process_files_read(uint64_t pid, struct process_files *files_out, struct gait_error *err);
void process_files_deinit(struct process_files *files);

#endif
