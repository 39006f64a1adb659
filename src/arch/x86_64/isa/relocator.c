/* SPDX-License-Identifier: MIT */
/*
 * The run: copies what can stay as it is, hands on what cannot (relocator_memory.c, relocator_flow.c), and writes at
 * the end the far jumps and constants that the copy refers to. Invariant: every instruction written is noted in the map
 * before it is written. No lock: a relocator belongs to one thread.
 */
#include "arch/x86_64/isa/relocator.h"

#include "arch/x86_64/isa/relocator_parts.h"

#include <asm/errno.h>

#define NO_INTERNAL UINT64_MAX

void x86_relocator_fail(struct x86_relocator *relocator, int error)
{
    if (relocator->error == 0)
        relocator->error = error;
}

static inline void add_point(struct x86_relocator *relocator, struct app_pc app_pc, struct x86_undo undo)
{
    struct x86_relocation_map *map = relocator->storage.map;

    if (__builtin_expect(map->count == map->capacity, 0)) {
        x86_relocator_fail(relocator, -E2BIG);
        return;
    }
    map->points[map->count++] = (struct x86_relocation_point){
        .app_pc = app_pc,
        .cache_offset = (uint32_t)(code_writer_offset(relocator->storage.writer) - relocator->start_offset),
        .undo = undo,
    };
}

void x86_relocator_note(struct x86_relocator *relocator, struct app_pc app_pc, struct x86_undo undo)
{
    add_point(relocator, app_pc, undo);
}

struct x86_label *x86_relocator_later(struct x86_relocator *relocator, enum x86_fixup_kind kind, uint64_t value)
{
    struct x86_relocator_fixup *fixups = relocator->storage.fixups;

    for (uint32_t i = 0; i < relocator->fixup_count; i++)
        if (fixups[i].kind == kind && fixups[i].value == value)
            return &fixups[i].label;
    if (relocator->fixup_count == relocator->storage.fixup_capacity) {
        x86_relocator_fail(relocator, -E2BIG);
        /* Nobody will run this code; the label only keeps the emitters going. */
        relocator->storage.writer->overflowed = true;
        return &relocator->nowhere;
    }

    struct x86_relocator_fixup *fixup = &fixups[relocator->fixup_count++];

    fixup->kind = (uint8_t)kind;
    fixup->value = value;
    x86_label_init(&fixup->label);
    if (kind == X86_FIXUP_INTERNAL && value < relocator->next_internal)
        relocator->next_internal = value;
    return &fixup->label;
}

enum x86_gpr x86_relocator_scratch(x86_gpr_set used)
{
    static const uint8_t candidates[] = {X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSI, X86_RDI};

    for (unsigned i = 0; i < sizeof(candidates); i++)
        if (!(used & X86_GPR_BIT(candidates[i])))
            return candidates[i];
    return X86_GPR_NONE;
}

struct x86_mem x86_relocator_slot(const struct x86_relocator *relocator, unsigned slot)
{
    return x86_mem_segment(relocator->options.segment, x86_mem_absolute(relocator->options.slots[slot]));
}

/* Copies 1 to 15 bytes by two moves that may overlap. */
static inline void copy_short(uint8_t *place, const uint8_t *bytes, unsigned length)
{
    if (length >= 8) {
        __builtin_memcpy(place, bytes, 8);
        __builtin_memcpy(place + length - 8, bytes + length - 8, 8);
    } else if (length >= 4) {
        __builtin_memcpy(place, bytes, 4);
        __builtin_memcpy(place + length - 4, bytes + length - 4, 4);
    } else {
        place[0] = bytes[0];
        place[length - 1] = bytes[length - 1];
        place[length / 2] = bytes[length / 2];
    }
}

static inline void put_bytes(struct x86_relocator *relocator, const uint8_t *bytes, unsigned length)
{
    uint8_t *place = code_writer_claim(relocator->storage.writer, length);

    if (place == NULL)
        return;
    copy_short(place, bytes, length);
}

bool x86_relocator_put_near(struct code_writer *writer, const struct x86_insn *insn, const uint8_t *bytes)
{
    uint64_t end = code_writer_pc(writer).value + insn->length;
    uint8_t *place;

    /* An address of 32 bits is computed modulo 4 GiB: everything is in reach. */
    if (insn->address_bits == 64 && !address_fits_rel32(end, insn->target))
        return false;
    place = code_writer_claim(writer, insn->length);
    if (place != NULL) {
        uint32_t displacement = (uint32_t)(insn->target - end);

        __builtin_memcpy(place, bytes, insn->length);
        __builtin_memcpy(place + insn->displacement_offset, &displacement, sizeof(displacement));
    }
    return true;
}

/* Gives the labels that wait for this offset their place, and finds the next offset that is waited for. */
static void bind_internal(struct x86_relocator *relocator, uint64_t offset)
{
    uint64_t next = NO_INTERNAL;

    for (uint32_t i = 0; i < relocator->fixup_count; i++) {
        struct x86_relocator_fixup *fixup = &relocator->storage.fixups[i];

        if (fixup->kind != X86_FIXUP_INTERNAL)
            continue;
        if (fixup->value == offset)
            x86_label_bind(&fixup->label, relocator->storage.writer);
        else if (fixup->value > offset && fixup->value < next)
            next = fixup->value;
    }
    relocator->next_internal = next;
}

void x86_relocator_begin(struct x86_relocator *relocator, const struct x86_relocator_options *options,
                         const struct x86_relocator_storage *storage, struct app_pc run_start, uint64_t run_size)
{
    *relocator = (struct x86_relocator){
        .options = *options,
        .storage = *storage,
        .run_start = run_start,
        .run_size = run_size,
        .next_internal = NO_INTERNAL,
        .start_offset = code_writer_offset(storage->writer),
        .falls_through = true,
    };
    storage->map->count = 0;
    storage->map->cache_start = code_writer_pc(storage->writer);
    storage->map->cache_size = 0;
}

static bool goes_on(const struct x86_insn *insn)
{
    switch (insn->flow) {
    case X86_FLOW_JUMP:
    case X86_FLOW_JUMP_INDIRECT:
    case X86_FLOW_JUMP_FAR:
    case X86_FLOW_RETURN:
    case X86_FLOW_RETURN_FAR:
        return false;
    default:
        return true;
    }
}

void x86_relocator_put(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    uint64_t offset = insn->pc.value - relocator->run_start.value;

    if (__builtin_expect(offset >= relocator->next_internal, 0))
        bind_internal(relocator, offset);
    add_point(relocator, insn->pc, x86_undo_start);
    relocator->falls_through = true;
    if (insn->flow != X86_FLOW_NEXT) {
        relocator->falls_through = goes_on(insn);
        x86_relocator_put_flow(relocator, insn, bytes);
    } else if (!(insn->properties & X86_PC_RELATIVE)) {
        put_bytes(relocator, bytes, insn->length);
    } else if (!x86_relocator_put_near(relocator->storage.writer, insn, bytes)) {
        x86_relocator_put_far(relocator, insn, bytes);
    }
}

/* Writes what was promised: jumps first, since they need constants of their own. */
static void put_fixups(struct x86_relocator *relocator)
{
    struct code_writer *writer = relocator->storage.writer;

    for (uint32_t i = 0; i < relocator->fixup_count; i++) {
        struct x86_relocator_fixup *fixup = &relocator->storage.fixups[i];
        uint64_t target = fixup->value;

        if (fixup->kind == X86_FIXUP_CONSTANT || x86_label_check(&fixup->label))
            continue;
        /* An offset that no instruction began at: somebody jumps into the middle of one, in the original then. */
        if (fixup->kind == X86_FIXUP_INTERNAL)
            target += relocator->run_start.value;
        x86_label_bind(&fixup->label, writer);
        add_point(relocator, app_pc_of(target), x86_undo_nothing);
        if (address_fits_rel32(code_writer_pc(writer).value + 5, target))
            x86_jmp_pc(writer, cache_pc_of(target), X86_REACH_NEAR);
        else
            x86_jmp_mem(writer, x86_mem_label(x86_relocator_later(relocator, X86_FIXUP_CONSTANT, target)));
    }
    for (uint32_t i = 0; i < relocator->fixup_count; i++) {
        struct x86_relocator_fixup *fixup = &relocator->storage.fixups[i];

        if (fixup->kind != X86_FIXUP_CONSTANT)
            continue;
        x86_label_bind(&fixup->label, writer);
        code_writer_put_u64(writer, fixup->value);
    }
}

int x86_relocator_end(struct x86_relocator *relocator)
{
    if (relocator->falls_through) {
        struct app_pc behind = app_pc_of(relocator->run_start.value + relocator->run_size);

        add_point(relocator, behind, x86_undo_nothing);
        x86_relocator_jump(relocator, behind.value);
    }
    put_fixups(relocator);
    if (relocator->error == 0 && code_writer_overflowed(relocator->storage.writer))
        relocator->error = -ENOSPC;
    if (relocator->error == 0)
        relocator->storage.map->cache_size = code_writer_offset(relocator->storage.writer) - relocator->start_offset;
    return relocator->error;
}
