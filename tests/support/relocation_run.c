/* SPDX-License-Identifier: MIT */
#include "support/relocation_run.h"

#include "arch/x86_64/isa/decoder.h"

#include <asm/errno.h>

int relocation_run(const struct x86_relocator_options *options, const struct x86_relocator_storage *storage,
                   const uint8_t *bytes, size_t size, struct app_pc run_start)
{
    struct x86_relocator relocator;
    struct x86_insn insn;

    x86_relocator_begin(&relocator, options, storage, run_start, size);
    for (size_t offset = 0; offset < size; offset += insn.length) {
        int result = x86_decode(bytes + offset, size - offset, app_pc_of(run_start.value + offset),
                                options->decode_options, &insn);

        if (result != 0)
            return result;
        x86_relocator_put(&relocator, &insn, bytes + offset);
        if (relocator.error != 0)
            return relocator.error;
    }
    return x86_relocator_end(&relocator);
}

static uint64_t read_saved(const struct relocation_spill_memory *memory, uint64_t sp, uint8_t place)
{
    uint64_t address = memory->is_segment ? memory->thread_base + (uint64_t)(int64_t)memory->slots[place] : sp + place;
    uint64_t value;

    /* A program's rsp need not be aligned. */
    __builtin_memcpy(&value, (const void *)address, sizeof(value));
    return value;
}

int relocation_run_recover(const struct x86_relocation_map *map, const struct relocation_spill_memory *memory,
                           struct cache_pc pc, uint64_t gpr[X86_GPR_COUNT], struct app_pc *pc_out)
{
    const struct x86_relocation_point *point = x86_relocation_map_find(map, pc);
    uint64_t sp = gpr[X86_RSP], sp_original;

    if (point == NULL)
        return -ENOENT;
    *pc_out = point->app_pc;
    sp_original = point->undo.sp_from != X86_GPR_NONE ? gpr[point->undo.sp_from] : sp + point->undo.sp_add;
    gpr[X86_RSP] = sp_original;
    if (point->undo.is_rcx_next)
        gpr[X86_RCX] = pc_out->value;
    for (int i = 0; i < 2; i++)
        if (point->undo.saved[i].gpr != X86_GPR_NONE)
            gpr[point->undo.saved[i].gpr] = read_saved(memory, sp, point->undo.saved[i].place);
    return 0;
}
