/* SPDX-License-Identifier: MIT */
/*
 * A module of this process: a program or library that is in memory, or the kernel's vdso. What is known of one when it
 * is found; what its file and its headers in memory say can be asked for by its path and base.
 */
#ifndef GAIT_PROCESS_MODULE_H
#define GAIT_PROCESS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_BUILD_ID_BYTES 64

struct module {
    uint64_t base;             /* where its ELF header is */
    uint64_t end;              /* of its last segment, rounded up to pages */
    uint64_t bias;             /* from addresses in the file to those in memory */
    uint64_t dynamic;          /* where its dynamic section is; 0: it has none */
    uint64_t link_map;         /* the loader's entry; 0: the loader did not announce it */
    unsigned namespace_number; /* 0: the program's; others are made by dlmopen(), in their order */
    bool is_program;
    bool is_vdso;
    unsigned build_id_bytes; /* 0: it has none */
    uint8_t build_id[MODULE_BUILD_ID_BYTES];
    size_t path_length;
    const char *path; /* as the kernel has it, else as the loader does; ended by a NUL; "[vdso]" */
};

#endif
