/* SPDX-License-Identifier: MIT */
/*
 * What the .eh_frame of files says about frames, each file's read once, for stacks of processes that have them mapped.
 * Files are those that processes see, also in containers. Memory grows with files. One thread at a time.
 */
#ifndef GAIT_KERNEL_FILE_FRAMES_H
#define GAIT_KERNEL_FILE_FRAMES_H

#include "base/hash_map.h"
#include "trace/modules.h"
#include "unwind/unwind_table.h"

#define FILE_FRAMES_MAX 4096u

struct file_frames;

struct known_frames {
    struct hash_map numbers; /* of a process and a path -> number in the list */
    struct file_frames **list;
    size_t count;
};

/* -ENOMEM. */
MUST_USE int known_frames_init(struct known_frames *known);
void known_frames_deinit(struct known_frames *known);

/* The frames of a file that a process has mapped; NULL: it says nothing of them, or cannot be read. */
const struct file_frames *known_frames_find(struct known_frames *known, uint32_t pid,
                                            const struct recorded_module *module);

/* What the file calls an address of the process. -ENOENT: the file has no code there. */
MUST_USE int file_frames_place(const struct file_frames *frames, const struct recorded_module *module, uint64_t address,
                               uint64_t *place_out);

/* By addresses as in the file. */
const struct unwind_table *file_frames_table(const struct file_frames *frames);

#endif
