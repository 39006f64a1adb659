/* SPDX-License-Identifier: MIT */
/*
 * Exits: a branch in hot code that goes to a stub in cold code until it is linked to another block. The stub says which
 * exit it is and leaves through the gate. A branch's displacement, and a placeholder whole, lie in one aligned word of
 * 8 bytes: one store links or unlinks them while other threads run there.
 */
#include "arch/x86_64/stalker/exit_code.h"

#include "arch/x86_64/stalker/cold_piece.h"
#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/translate.h"
#include "base/code_memory.h"

#include <asm/errno.h>

static const uint8_t placeholder[JUMP_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

#define STUB_BYTES 20

/* mov dword ptr gs:[THREAD_EXIT], number; jmp qword ptr gs:[THREAD_GATE]. The most frequent code of all: bytes. */
static void write_stub(struct code_writer *cold, uint32_t number)
{
    static const uint32_t exit_field = THREAD_EXIT, gate_field = THREAD_GATE;
    uint8_t bytes[STUB_BYTES] = {0x65, 0xc7, 0x04, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0x65, 0xff, 0x24, 0x25};

    __builtin_memcpy(bytes + 4, &exit_field, sizeof(exit_field));
    __builtin_memcpy(bytes + 8, &number, sizeof(number));
    __builtin_memcpy(bytes + 16, &gate_field, sizeof(gate_field));
    code_writer_put_bytes(cold, bytes, sizeof(bytes));
}

static void describe_exit(struct translation *translation, unsigned which, enum block_exit_kind kind,
                          struct app_pc target)
{
    struct block_exit *exit = &translation->block->exits[which];

    exit->kind = (uint8_t)kind;
    block_exit_set_target(exit, target);
    /* For when the unit is linked. */
    code_cache_prefetch(translation->cache, target);
}

struct cache_pc x86_put_stub(struct translation *translation, unsigned which, enum block_exit_kind kind,
                             struct app_pc target)
{
    struct cache_pc stub = code_writer_pc(&translation->cold);

    describe_exit(translation, which, kind, target);
    block_exit_set_stub(&translation->block->exits[which], stub);
    write_stub(&translation->cold, block_exit_number(translation->block, which));
    return stub;
}

/* The stub of an exit that was put without one, for which room was kept. */
static int put_late_stub(struct cache_slab *slab, struct block_exit *exit)
{
    struct code_writer writer;
    int result = code_memory_reserve(slab->cold, STUB_BYTES, &writer);

    if (result != 0)
        return result;
    write_stub(&writer, block_exit_number(block_of_exit(exit), exit->which));
    result = code_memory_commit(slab->cold, &writer);
    if (result == 0) {
        block_exit_set_stub(exit, writer.base_pc);
        slab->stubs_owed--;
    }
    return result;
}

void x86_note_place(struct translation *translation, unsigned which)
{
    block_exit_set_place(&translation->block->exits[which], cache_pc_of(code_writer_pc(&translation->hot).value - 4));
}

void x86_put_exit(struct translation *translation, unsigned which, enum block_exit_kind kind, struct app_pc target)
{
    struct code_writer *hot = &translation->hot;
    struct cache_pc stub;

    if (kind == BLOCK_EXIT_ADJACENT) {
        /* Few of them are ever unlinked. */
        describe_exit(translation, which, kind, target);
        translation->slab->stubs_owed++;
        x86_align_field(hot, 0, JUMP_BYTES);
        block_exit_set_place(&translation->block->exits[which], code_writer_pc(hot));
        code_writer_put_bytes(hot, placeholder, sizeof(placeholder));
        return;
    }
    stub = x86_put_stub(translation, which, kind, target);
    x86_align_field(hot, 1, 4);
    x86_put_jump(hot, stub);
    x86_note_place(translation, which);
}

void x86_put_exit_if(struct translation *translation, unsigned which, enum x86_condition condition,
                     struct app_pc target)
{
    struct cache_pc stub = x86_put_stub(translation, which, BLOCK_EXIT_JUMP, target);
    const uint8_t jcc[] = {0x0f, (uint8_t)(0x80 | condition)};

    x86_align_field(&translation->hot, 2, 4);
    x86_put_relative(&translation->hot, jcc, sizeof(jcc), stub);
    x86_note_place(translation, which);
}

/* Changes some bytes of one aligned word of 8. */
static int patch_word(struct cache_slab *slab, struct cache_pc place, const uint8_t *bytes, size_t size)
{
    uint64_t word = place.value & ~7ull;
    uint64_t value = *(const volatile uint64_t *)(uintptr_t)word;

    __builtin_memcpy((uint8_t *)&value + (place.value - word), bytes, size);
    return code_memory_patch(slab->hot, cache_pc_of(word), value, sizeof(value));
}

static int patch_displacement(struct cache_slab *slab, struct cache_pc place, struct cache_pc to)
{
    int32_t displacement = (int32_t)(to.value - (place.value + 4));

    return patch_word(slab, place, (const uint8_t *)&displacement, sizeof(displacement));
}

static int patch_placeholder(struct cache_slab *slab, struct cache_pc place, struct cache_pc to)
{
    int32_t displacement = (int32_t)(to.value - (place.value + JUMP_BYTES));
    uint8_t jump[JUMP_BYTES] = {0xe9};

    __builtin_memcpy(jump + 1, &displacement, sizeof(displacement));
    if (to.value - place.value == JUMP_BYTES)
        return patch_word(slab, place, placeholder, sizeof(placeholder));
    return patch_word(slab, place, jump, sizeof(jump));
}

/* A jump in cold memory that reaches any address. */
static int put_far_jump(const struct code_cache *cache, struct cache_slab *slab, const struct block *to,
                        struct cache_pc *jump_out)
{
    struct trail_state state = {.homes = x86_cache_has_events(cache) ? X86_GPR_BIT(POSITION_REGISTER) : 0};
    struct cold_piece piece;
    struct code_writer writer;
    int result = code_cache_reserve_cold(slab, 16, &writer);

    if (result != 0)
        return result;
    *jump_out = writer.base_pc;
    x86_cold_piece_begin(&piece, to, &writer);
    x86_cold_piece_note(&piece, &writer, to->start, state);
    x86_jmp_absolute(&writer, to->entry);
    if (x86_cold_piece_end(&piece, slab, &writer) != 0)
        writer.overflowed = true;
    return code_memory_commit(slab->cold, &writer);
}

int x86_link(const struct code_cache *cache, struct block_exit *exit, const struct block *to)
{
    struct cache_slab *slab = code_cache_slab_of(cache, block_of_exit(exit));
    struct cache_pc place = block_exit_place(exit), destination;
    int result = 0;

    if (to == NULL && !block_exit_has_stub(exit))
        result = put_late_stub(slab, exit);
    if (result != 0)
        return result;
    destination = to == NULL ? block_exit_stub(exit) : to->entry;
    /* A placeholder is part of the slab that its stub is near to, so the stub stands for all of it. */
    if (to != NULL && (!address_fits_rel32(place.value + 8, destination.value) ||
                       !address_fits_rel32(place.value, destination.value)))
        result = put_far_jump(cache, slab, to, &destination);
    if (result != 0)
        return result;
    return exit->kind == BLOCK_EXIT_ADJACENT ? patch_placeholder(slab, place, destination)
                                             : patch_displacement(slab, place, destination);
}
