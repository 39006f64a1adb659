/* SPDX-License-Identifier: MIT */
/*
 * x86-64 as the contract of arch/arch.h wants it: each function asks decoder, formatter or relocator and translates the
 * answer. The storage of a copy is a map, its points, and the fixups, which are needed only while it is made.
 * Stateless.
 */
#include "arch/arch.h"

#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/format.h"
#include "arch/x86_64/isa/relocator.h"
#include "arch/x86_64/isa/relocator_parts.h"

#include <asm/errno.h>
#include <linux/elf-em.h>

/* The storage is shared out so that points and fixups run out at about the same time. */
#define POINTS_FOR_FIXUP 2

static uint8_t flow_of(const struct x86_insn *insn)
{
    switch (insn->flow) {
    case X86_FLOW_NEXT:
        return ARCH_FLOW_NEXT;
    case X86_FLOW_JUMP:
        return ARCH_FLOW_JUMP;
    case X86_FLOW_JUMP_INDIRECT:
        return ARCH_FLOW_JUMP_INDIRECT;
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
        return ARCH_FLOW_BRANCH;
    case X86_FLOW_CALL:
        return ARCH_FLOW_CALL;
    case X86_FLOW_CALL_INDIRECT:
        return ARCH_FLOW_CALL_INDIRECT;
    case X86_FLOW_RETURN:
        return ARCH_FLOW_RETURN;
    case X86_FLOW_SYSTEM_CALL:
        return ARCH_FLOW_SYSTEM_CALL;
    case X86_FLOW_TRAP:
        return ARCH_FLOW_TRAP;
    default:
        return ARCH_FLOW_OTHER;
    }
}

static uint32_t properties_of(const struct x86_insn *insn)
{
    static const struct {
        uint32_t ours, theirs;
    } pairs[] = {
        {X86_MEMORY_READ, ARCH_READS_MEMORY}, {X86_MEMORY_WRITE, ARCH_WRITES_MEMORY},
        {X86_PC_RELATIVE, ARCH_PC_RELATIVE},  {X86_LOCKED, ARCH_ATOMIC},
        {X86_REPEATED, ARCH_REPEATED},        {X86_PRIVILEGED, ARCH_PRIVILEGED},
        {X86_SEGMENT_USE, ARCH_THREAD_LOCAL},
    };
    uint32_t properties = 0;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (insn->properties & pairs[i].ours)
            properties |= pairs[i].theirs;
    return properties;
}

static int decode(const uint8_t *bytes, size_t available, struct app_pc pc, unsigned options,
                  struct arch_insn *insn_out)
{
    struct x86_insn insn;
    int result = x86_decode(bytes, available, pc, options, &insn);

    if (result != 0)
        return result;

    bool is_memory = insn.properties & X86_PC_RELATIVE;

    *insn_out = (struct arch_insn){
        .target = is_memory ? 0 : insn.target,
        .memory_address = is_memory ? insn.target : 0,
        .registers_read = insn.gpr_read,
        .registers_written = insn.gpr_written,
        .flags_read = insn.flags.read,
        .flags_written = insn.flags.written,
        .flags_undefined = insn.flags.undefined,
        .mnemonic = x86_mnemonic_name(insn.mnemonic),
        .properties = properties_of(&insn),
        .flow = flow_of(&insn),
        .length = insn.length,
    };
    return 0;
}

static int format(const uint8_t *bytes, size_t available, struct app_pc pc, unsigned options, struct text_writer *text)
{
    struct x86_insn insn;
    int result = x86_decode(bytes, available, pc, options, &insn);

    if (result == 0)
        x86_format(&insn, bytes, text);
    return result;
}

static const char *register_name(unsigned number)
{
    return x86_gpr_name(number, 64);
}

/* Points behind the map, fixups behind the points. */
static int share_out(void *storage, size_t storage_bytes, struct x86_relocator_storage *parts_out)
{
    struct x86_relocation_map *map = storage;
    struct x86_relocation_point *points = (void *)(map + 1);
    size_t share = POINTS_FOR_FIXUP * sizeof(*points) + sizeof(struct x86_relocator_fixup);
    size_t count = storage_bytes < sizeof(*map) ? 0 : (storage_bytes - sizeof(*map)) / share;

    if (count == 0)
        return -E2BIG;
    if (count > UINT32_MAX / POINTS_FOR_FIXUP)
        count = UINT32_MAX / POINTS_FOR_FIXUP;
    x86_relocation_map_init(map, points, (uint32_t)(POINTS_FOR_FIXUP * count));
    parts_out->map = map;
    parts_out->fixups = (void *)(points + POINTS_FOR_FIXUP * count);
    parts_out->fixup_capacity = (uint32_t)count;
    return 0;
}

/* Where the constants begin, or where the copy ends if there are none. */
static size_t code_end(const struct x86_relocator *relocator)
{
    struct code_writer *writer = relocator->storage.writer;
    uint64_t end = code_writer_pc(writer).value;

    for (uint32_t i = 0; i < relocator->fixup_count; i++) {
        const struct x86_relocator_fixup *fixup = &relocator->storage.fixups[i];

        if (fixup->kind == X86_FIXUP_CONSTANT && x86_label_pc(&fixup->label, writer).value < end)
            end = x86_label_pc(&fixup->label, writer).value;
    }
    return end - relocator->storage.map->cache_start.value;
}

static int relocate_all(struct x86_relocator *relocator, const struct arch_relocation *relocation)
{
    struct x86_insn insn;

    for (size_t offset = 0; offset < relocation->size_bytes; offset += insn.length) {
        int result = x86_decode(relocation->bytes + offset, relocation->size_bytes - offset,
                                app_pc_of(relocation->start.value + offset), relocation->decode_options, &insn);

        if (result != 0)
            return result;
        x86_relocator_put(relocator, &insn, relocation->bytes + offset);
        if (relocator->error != 0)
            return relocator->error;
    }
    return x86_relocator_end(relocator);
}

static int relocate(const struct arch_relocation *relocation, struct code_writer *writer, void *storage,
                    size_t storage_bytes, struct arch_copy_extent *extent_out)
{
    struct x86_relocator_options options = {
        .spill = relocation->spill == ARCH_SPILL_SEGMENT ? X86_SPILL_SEGMENT : X86_SPILL_STACK,
        .return_address =
            relocation->return_address == ARCH_RETURN_TO_ORIGINAL ? X86_RETURN_TO_ORIGINAL : X86_RETURN_TO_COPY,
        .segment = X86_GS,
        .slots = {relocation->slots[0], relocation->slots[1]},
        .decode_options = relocation->decode_options,
    };
    struct x86_relocator_storage parts = {.writer = writer};
    struct x86_relocator relocator;
    int result = share_out(storage, storage_bytes, &parts);

    if (result != 0)
        return result;
    x86_relocator_begin(&relocator, &options, &parts, relocation->start, relocation->size_bytes);
    result = relocate_all(&relocator, relocation);
    if (result != 0)
        return result;
    extent_out->code_bytes = code_end(&relocator);
    extent_out->total_bytes = code_writer_pc(writer).value - parts.map->cache_start.value;
    return 0;
}

static int find_original(const void *storage, struct cache_pc pc, struct app_pc *pc_out)
{
    const struct x86_relocation_point *point = x86_relocation_map_find(storage, pc);

    if (point == NULL)
        return -ENOENT;
    *pc_out = point->app_pc;
    return 0;
}

static int find_copy(const void *storage, struct app_pc pc, struct cache_pc *pc_out)
{
    return x86_relocation_map_start(storage, pc, pc_out);
}

extern const struct arch arch_x86_64;
/* The second and third, and the four before the numbered ones, have changed places. */
static const uint8_t frame_numbers[X86_GPR_COUNT] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

const struct arch arch_x86_64 = {
    .name = "x86_64",
    .elf_machine = EM_X86_64,
    .insn_bytes_max = X86_MAX_INSN_BYTES,
    .register_count = X86_GPR_COUNT,
    .frame_registers = {.stack_pointer = 7,
                        .frame_pointer = 6,
                        .return_address = 16,
                        .general = frame_numbers,
                        /* breg7(rsp) 8, breg16(rip) 0, lit15, and, lit11 (or another), ge, lit3, shl, plus. */
                        .stub_expression = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22},
                        .stub_expression_bytes = 11,
                        .stub_pushes_at = 6},
    .decode = decode,
    .format = format,
    .register_name = register_name,
    .relocate = relocate,
    .find_original = find_original,
    .find_copy = find_copy,
};
