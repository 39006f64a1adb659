/* SPDX-License-Identifier: MIT */
/*
 * Where files that look like modules are mapped: the beginning of a file, and behind it some of the same file that can
 * be executed; and the vdso. Raw system calls, memory of its own, no locks, no libc; callable from any thread and
 * inside the target.
 */
#ifndef GAIT_PROCESS_MODULE_FILES_H
#define GAIT_PROCESS_MODULE_FILES_H

#include "base/attributes.h"
#include "process/mapping_list.h"

struct module;

struct module_file {
    uint64_t base; /* of the file's first byte */
    uint64_t end;  /* of the last mapping of the file that was met */
    bool has_code;
    bool is_vdso;
    size_t path_length;
    char path[MAPPING_PATH_BYTES_MAX + 1]; /* ended by a NUL */
};

struct module_files {
    struct module_file *files; /* by address */
    size_t count;
    size_t mapped_bytes;
};

/* -ENOMEM; what mapping_list_visit gives. The caller gives it back with module_files_deinit. */
MUST_USE int module_files_init(struct module_files *files);
void module_files_deinit(struct module_files *files);

/* The file that is mapped around an address, also one without code; NULL: none. */
const struct module_file *module_files_at(const struct module_files *files, uint64_t address);

/*
 * What the headers of an image in memory say: all but path, link_map and namespace. -ENOEXEC: there is none; -EFAULT.
 */
MUST_USE int module_describe(uint64_t base, struct module *module_out);

#endif
