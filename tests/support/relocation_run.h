/* SPDX-License-Identifier: MIT */
/* A whole run of instructions relocated, and the way back from its copy, with which tests check the relocator. */
#ifndef GAIT_TESTS_SUPPORT_RELOCATION_RUN_H
#define GAIT_TESTS_SUPPORT_RELOCATION_RUN_H

#include "arch/x86_64/isa/relocator.h"

/*
 * Copies a whole run: decodes the bytes, which stand at run_start, and puts them one by one. Returns what
 * x86_relocator_end() does, or what x86_decode() says of bytes that are no instruction.
 */
__attribute__((warn_unused_result)) int relocation_run(const struct x86_relocator_options *options,
                                                       const struct x86_relocator_storage *storage,
                                                       const uint8_t *bytes, size_t size, struct app_pc run_start);

/* Where saved registers are: the stack needs nothing, slots are found from the segment's base. */
struct relocation_spill_memory {
    bool is_segment;
    uint64_t thread_base;
    int32_t slots[2];
};

/*
 * Turns the registers at a place in the copy into those that the original would have, in gpr, and tells its pc. Reads
 * saved registers from memory of this process. -ENOENT outside of the copy; then nothing is changed.
 */
__attribute__((warn_unused_result)) int relocation_run_recover(const struct x86_relocation_map *map,
                                                               const struct relocation_spill_memory *memory,
                                                               struct cache_pc pc, uint64_t gpr[X86_GPR_COUNT],
                                                               struct app_pc *pc_out);

#endif
