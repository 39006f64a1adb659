/* SPDX-License-Identifier: MIT */
/*
 * The file of a module, with all that is known of its functions, and a planner for hooks in them. The bytes are the
 * file's, so what was patched in memory meanwhile does not matter. Raw system calls, memory of its own, no locks, no
 * libc; callable from any thread and inside the target.
 */
#ifndef GAIT_HOOK_HOOK_IMAGE_H
#define GAIT_HOOK_HOOK_IMAGE_H

#include "base/attributes.h"
#include "elf/function_list.h"
#include "elf/symbol_file.h"
#include "hook/hook_plan.h"

#include <stdint.h>

/* Does not move: parts of it point to others. */
struct hook_image {
    struct symbol_file file;
    struct eh_frame frame;
    struct elf_function_list functions;
    struct hook_module module;
    struct hook_planner planner;
    uint64_t entry; /* where a program begins; as all addresses, as the file has it */
    void *memory;   /* the planner's */
    size_t memory_bytes;
};

/*
 * Reads the file and lists its functions. The caller gives it back with hook_image_close. As symbol_file_open;
 * -ENOEXEC: nor is there any code.
 */
MUST_USE int hook_image_open(struct hook_image *image, const char *path);

/* Looks at its code, before the first plan. NULL: anything is planned. As hook_planner_init_for; -ENOMEM. */
MUST_USE int hook_image_survey(struct hook_image *image, const struct hook_interest *interest);

void hook_image_close(struct hook_image *image);

#endif
