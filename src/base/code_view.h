/* SPDX-License-Identifier: MIT */
/*
 * Executable memory as the system allows it: where it is written and where it runs. Only base/code_memory.h uses this;
 * everybody else gets executable memory from there. The caller owns the view and serializes its use. Raw system calls,
 * no libc; usable inside the target.
 */
#ifndef GAIT_BASE_CODE_VIEW_H
#define GAIT_BASE_CODE_VIEW_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

enum code_view_mode {
    CODE_VIEW_AUTO,   /* the first of the following that the system allows */
    CODE_VIEW_RWX,    /* writable and executable at once */
    CODE_VIEW_DUAL,   /* two mappings of one memory file. They stay shared with the child after a fork */
    CODE_VIEW_FREEZE, /* private memory that is executable, or thawed: writable instead */
};

struct code_view {
    uint8_t *writable;
    uint8_t *executable; /* the same as writable but in mode DUAL */
    size_t size_bytes;   /* whole pages */
    enum code_view_mode mode;
};

/*
 * Maps size_bytes, rounded up to pages, in the wanted mode; executable within reach of a signed 32-bit displacement
 * from `near` unless that is 0. -EACCES, -EPERM, -ENOSYS: the system does not allow this mode, for AUTO any; -ENOMEM:
 * no memory or no room near; -EINVAL: a size of 0 or too large.
 */
MUST_USE int code_view_map(size_t size_bytes, enum code_view_mode mode, uint64_t near, struct code_view *view_out);

/* Gives the memory back. */
void code_view_unmap(struct code_view *view);

/* Makes the pages of a range writable. In mode FREEZE they are not executable meanwhile; else there is nothing to do.
 */
MUST_USE int code_view_thaw(const struct code_view *view, size_t offset, size_t size_bytes);

/* Makes what was written in a range visible to instruction fetch and, in mode FREEZE, its pages executable again. */
MUST_USE int code_view_freeze(const struct code_view *view, size_t offset, size_t size_bytes);

#endif
