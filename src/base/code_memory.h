/* SPDX-License-Identifier: MIT */
/*
 * Executable memory. Together with base/code_writer.h the only way to touch it: code is written through a reservation
 * that is committed or aborted, and live code is changed by patches. That writing and executing may need two views of
 * the memory, or changes of protection, is known here and nowhere else.
 *
 * At most one reservation of a code memory is open at a time, since code is committed one piece behind the other and
 * sizes are known only afterwards; who writes two pieces at once has two code memories. One thread at a time: the
 * caller has the lock. Committed code may be run by any thread meanwhile. Misuse (a second open reservation, a commit
 * or abort of a writer that is not the open one, bytes written outside of it, a patch that is not naturally aligned or
 * outside of committed code) is our own bug: asserted in debug builds, refused in all. Raw system calls, no libc;
 * usable inside the target.
 *
 * In mode FREEZE each commit ends its pages, so that reserving never takes the execute permission from code that runs;
 * but a patch does so for its page, so other threads must be kept out of that code meanwhile: see
 * code_memory_patches_are_live. In mode DUAL the memory stays shared with a child after fork: the child may run what is
 * there, but has to make a code memory of its own before it writes.
 */
#ifndef GAIT_BASE_CODE_MEMORY_H
#define GAIT_BASE_CODE_MEMORY_H

#include "base/attributes.h"
#include "base/code_view.h"
#include "base/code_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each piece of code begins at a multiple of this. */
#define CODE_MEMORY_ALIGNMENT 16

struct code_memory;

struct code_memory_options {
    size_t size_bytes;        /* rounded up to pages */
    enum code_view_mode mode; /* CODE_VIEW_AUTO: what the system allows */
    uint64_t near;            /* within reach of a signed 32-bit displacement from here; 0: anywhere */
};

/* Errors as code_view_map. The caller owns what it gets. */
MUST_USE int code_memory_create(const struct code_memory_options *options, struct code_memory **memory_out);

/* Gives the memory back. Nobody may run or patch code in it, or write through a reservation, any more. NULL is fine. */
void code_memory_destroy(struct code_memory *memory);

/*
 * Opens a reservation: capacity bytes behind what is committed, to be written through *writer_out, whose addresses are
 * those where the code will run. -ENOSPC: that much is not left; -EBUSY: one is open already; -EINVAL: a capacity of 0;
 * in mode FREEZE also what mprotect gives.
 */
MUST_USE int code_memory_reserve(struct code_memory *memory, size_t capacity, struct code_writer *writer_out);

/*
 * Keeps what was written, makes it executable and gives the rest of the reservation back. The writer takes no more
 * bytes but still tells where the code is (base_pc) and how long (code_writer_offset). -ENOSPC: the writer overflowed;
 * -EINVAL: not the open reservation, or written outside of it; in mode FREEZE also what mprotect gives. But for a
 * writer that is not the open one, the reservation is aborted on failure.
 */
MUST_USE int code_memory_commit(struct code_memory *memory, struct code_writer *writer);

/* Gives the whole reservation back. A writer that is not the open one is asserted and ignored. */
void code_memory_abort(struct code_memory *memory, struct code_writer *writer);

/*
 * Changes committed code by one atomic store of the low size_bytes (1, 2, 4 or 8) of value, little-endian: a thread
 * that runs there meanwhile fetches the old or the new bytes. Whether it may meet either is the caller's business.
 * -EINVAL: another size or not aligned to it; -ERANGE: not in committed code; in mode FREEZE also what mprotect gives.
 */
MUST_USE int code_memory_patch(struct code_memory *memory, struct cache_pc place, uint64_t value, size_t size_bytes);

/* Whether code may run while it is patched: not in mode FREEZE. */
bool code_memory_patches_are_live(const struct code_memory *memory);

enum code_view_mode code_memory_mode(const struct code_memory *memory);

/* Where the memory runs, how large it is, how much of it is committed, how much can be reserved. */
struct cache_pc code_memory_start(const struct code_memory *memory);
size_t code_memory_size(const struct code_memory *memory);
size_t code_memory_committed(const struct code_memory *memory);
size_t code_memory_room(const struct code_memory *memory);

/* Whether the figures agree. */
bool code_memory_check(const struct code_memory *memory);

#endif
