/* SPDX-License-Identifier: MIT */
/*
 * Trampolines are what the CPU's relocator makes of the displaced instructions. Of its own notes only where each copy
 * begins is kept: threads are moved from the one place to the other before an instruction, never in the middle of one.
 */
#include "hook/trampoline.h"

#include "arch/arch.h"
#include "arch/host_cpu.h"
#include "base/code_writer.h"
#include "hook/hook_plan.h"

#include <asm/errno.h>

#define RELOCATOR_STORAGE_BYTES 4096

static void note_copies(const struct arch *arch, const void *storage, const struct arch_relocation *relocation,
                        struct trampoline *trampoline)
{
    for (size_t i = 0; i < relocation->size_bytes; i++) {
        struct cache_pc copy;

        if (arch->find_copy(storage, app_pc_of(relocation->start.value + i), &copy) == 0)
            trampoline->copies[i] = (uint16_t)(copy.value - trampoline->start + 1);
    }
}

int trampoline_write(struct code_writer *writer, const struct hook_plan *plan, const uint8_t *displaced,
                     struct trampoline *trampoline_out)
{
    _Alignas(16) uint8_t storage[RELOCATOR_STORAGE_BYTES];
    const struct arch *arch = arch_host();
    struct arch_relocation relocation = {
        .bytes = displaced,
        .size_bytes = (size_t)(plan->displaced_end - plan->patch_at),
        .start = app_pc_of(plan->patch_at),
        .decode_options = host_cpu_decode_options(),
        .spill = ARCH_SPILL_STACK,
        .return_address = ARCH_RETURN_TO_ORIGINAL,
    };
    struct trampoline trampoline = {.start = code_writer_pc(writer).value, .original = plan->patch_at};
    struct arch_copy_extent extent;
    int result;

    if (arch == NULL)
        return -EOPNOTSUPP;
    if (relocation.size_bytes == 0 || relocation.size_bytes > DISPLACED_BYTES_MAX)
        return -E2BIG;
    result = arch->relocate(&relocation, writer, storage, sizeof(storage), &extent);
    if (result != 0)
        return result;
    trampoline.end = trampoline.start + extent.total_bytes;
    note_copies(arch, storage, &relocation, &trampoline);
    *trampoline_out = trampoline;
    return 0;
}

bool trampoline_copy_of(const struct trampoline *trampoline, uint64_t original, uint64_t *copy_out)
{
    uint64_t offset = original - trampoline->original;

    if (original < trampoline->original || offset >= DISPLACED_BYTES_MAX || trampoline->copies[offset] == 0)
        return false;
    *copy_out = trampoline->start + trampoline->copies[offset] - 1;
    return true;
}
