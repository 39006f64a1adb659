/* SPDX-License-Identifier: MIT */
/*
 * Trampolines are what the CPU's relocator makes of the displaced instructions. Where the copies of single instructions
 * begin is asked so seldom, of a thread that stood in between, that they are made again to find out, rather than kept.
 */
#include "hook/trampoline.h"

#include "arch/arch.h"
#include "arch/host_cpu.h"
#include "base/code_writer.h"

#include <asm/errno.h>

/* For the relocator's notes: as much for each byte as half an instruction of two bytes takes, which are the shortest
   that take more than one note. */
#define NOTES_BYTES (4096 + 64 * HOOK_DISPLACED_BYTES_MAX)

struct notes {
    _Alignas(16) uint8_t bytes[NOTES_BYTES];
};

static int relocate(const struct arch *arch, struct code_writer *writer, const struct hook_plan *plan,
                    const uint8_t *displaced, struct notes *notes)
{
    struct arch_relocation relocation = {
        .bytes = displaced,
        .size_bytes = (size_t)(plan->displaced_end - plan->patch_at),
        .start = app_pc_of(plan->patch_at),
        .decode_options = host_cpu_decode_options(),
        .spill = ARCH_SPILL_STACK,
        .return_address = ARCH_RETURN_TO_ORIGINAL,
    };
    struct arch_copy_extent extent;

    if (relocation.size_bytes == 0 || relocation.size_bytes > HOOK_DISPLACED_BYTES_MAX)
        return -E2BIG;
    return arch->relocate(&relocation, writer, notes->bytes, sizeof(notes->bytes), &extent);
}

int trampoline_write(struct code_writer *writer, const struct hook_plan *plan, const uint8_t *displaced,
                     struct trampoline *trampoline_out)
{
    const struct arch *arch = arch_host();
    struct cache_pc start = code_writer_pc(writer);
    struct notes notes;
    int result;

    if (arch == NULL)
        return -EOPNOTSUPP;
    result = relocate(arch, writer, plan, displaced, &notes);
    if (result == 0)
        *trampoline_out = (struct trampoline){start.value, code_writer_pc(writer).value};
    return result;
}

int trampoline_find_copy(uint64_t start, const struct hook_plan *plan, const uint8_t *displaced, uint64_t pc,
                         uint64_t *copy_out)
{
    const struct arch *arch = arch_host();
    uint8_t code[TRAMPOLINE_BYTES_MAX];
    struct code_writer writer;
    struct cache_pc copy;
    struct notes notes;
    int result;

    if (arch == NULL)
        return -EOPNOTSUPP;
    code_writer_init(&writer, code, sizeof(code), cache_pc_of(start));
    result = relocate(arch, &writer, plan, displaced, &notes);
    if (result == 0)
        result = arch->find_copy(notes.bytes, app_pc_of(pc), &copy);
    if (result == 0)
        *copy_out = copy.value;
    return result;
}
