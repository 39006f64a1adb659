/* SPDX-License-Identifier: MIT */
/* A module of the core's as gait/process.h has it. */
#ifndef GAIT_LIBGAIT_PROCESS_MODULE_H
#define GAIT_LIBGAIT_PROCESS_MODULE_H

#include "elf/loaded_image.h"
#include "gait/process.h"

struct module;

/* What a public module points to. */
struct process_module {
    struct gait_module module;
    struct gait_segment segments[ELF_LOADED_SEGMENTS_MAX];
};

/* Of a module that may be gone: then it has no segments. Good for as long as the core's is. */
void process_module_fill(const struct module *module, struct process_module *process_module_out);

#endif
