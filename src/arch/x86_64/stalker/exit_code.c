/* SPDX-License-Identifier: MIT */
/*
 * Exits: a branch in hot code that goes to a stub in cold code until it is linked to another block. The stub says which
 * exit it is and leaves through the gate. A branch's displacement, and a placeholder whole, lie in one aligned word of
 * 8 bytes: one store links or unlinks them while other threads run there.
 */
#include "arch/x86_64/stalker/exit_code.h"

#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/translate.h"
#include "base/code_memory.h"
#include "stalker/cold_piece.h"

#include <asm/errno.h>

/* A nop of as many bytes as a jump; the lowest comes first. */
#define PLACEHOLDER 0x0000441f0full

#define STUB_BYTES  20

/* mov dword ptr gs:[THREAD_EXIT], number; jmp qword ptr gs:[THREAD_GATE]. The most frequent code of all: bytes. */
static void write_stub(struct code_writer *cold, uint32_t number)
{
    static const uint8_t mov[] = {0x65, 0xc7, 0x04, 0x25};
    uint8_t *place = code_writer_claim(cold, sizeof(mov) + 2 * sizeof(uint32_t));

    if (place == NULL)
        return;
    __builtin_memcpy(place, mov, sizeof(mov));
    x86_put_number(place + 4, THREAD_EXIT);
    x86_put_number(place + 8, number);
    x86_put_field_jump(cold, THREAD_GATE);
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
        code_writer_put(hot, PLACEHOLDER, JUMP_BYTES);
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

    x86_align_field(&translation->hot, 2, 4);
    x86_put_relative(&translation->hot, (uint16_t)(0x800f | condition << 8), 2, stub);
    x86_note_place(translation, which);
}

/* Changes so many bytes of one aligned word of 8, less than all, into the lowest ones of a number. */
static int patch_word(struct cache_slab *slab, struct cache_pc place, uint64_t bytes, size_t size)
{
    uint64_t word = place.value & ~7ull;
    uint64_t value = *(const volatile uint64_t *)(uintptr_t)word;
    unsigned shift = 8 * (unsigned)(place.value - word);
    uint64_t mask = (1ull << 8 * size) - 1;

    value = (value & ~(mask << shift)) | (bytes & mask) << shift;
    return code_memory_patch(slab->hot, cache_pc_of(word), value, sizeof(value));
}

static int patch_displacement(struct cache_slab *slab, struct cache_pc place, struct cache_pc to)
{
    return patch_word(slab, place, to.value - (place.value + 4), sizeof(int32_t));
}

static int patch_placeholder(struct cache_slab *slab, struct cache_pc place, struct cache_pc to)
{
    uint64_t distance = to.value - (place.value + JUMP_BYTES);

    return patch_word(slab, place, distance == 0 ? PLACEHOLDER : 0xe9 | distance << 8, JUMP_BYTES);
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
    cold_piece_begin(&piece, to, &writer);
    cold_piece_note(&piece, &writer, to->start, state);
    x86_jmp_absolute(&writer, to->entry);
    if (cold_piece_end(&piece, slab, &writer) != 0)
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
