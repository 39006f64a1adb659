/* SPDX-License-Identifier: MIT */
/*
 * Exits: a branch in hot code that goes to a stub in cold code until it is linked to another block. The stub says which
 * exit it is and leaves through the gate. A branch's displacement, and a placeholder whole, lie in one aligned word of
 * 8 bytes: one store links or unlinks them while other threads run there.
 */
#include "arch/x86_64/stalker/exit_code.h"

#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/translate.h"

/* A nop of as many bytes as a jump; the lowest comes first. */
#define PLACEHOLDER 0x0000441f0full

/* mov dword ptr gs:[THREAD_EXIT], number; jmp qword ptr gs:[THREAD_GATE]. The most frequent code of all: bytes. */
void x86_write_stub(struct code_writer *cold, uint32_t number)
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

struct cache_pc x86_put_stub(struct translation *translation, unsigned which, enum block_exit_kind kind,
                             struct app_pc target)
{
    struct cache_pc stub = block_draft_set_exit(translation, which, kind, target);

    x86_write_stub(&translation->cold, block_exit_number(translation->block, which));
    return stub;
}

void x86_note_place(struct translation *translation, unsigned which)
{
    block_exit_set_place(&translation->block->exits[which], cache_pc_of(code_writer_pc(&translation->hot).value - 4));
}

void x86_put_exit(struct translation *translation, unsigned which, unsigned kind, struct app_pc target)
{
    struct code_writer *hot = &translation->hot;
    struct cache_pc stub;

    if (kind == BLOCK_EXIT_ADJACENT) {
        (void)block_draft_set_exit(translation, which, kind, target);
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

bool x86_branch_reaches(const struct block_exit *exit, struct cache_pc to)
{
    uint64_t place = block_exit_place(exit).value;

    return address_fits_rel32(place + 8, to.value) && address_fits_rel32(place, to.value);
}

uint64_t x86_make_branch(const struct block_exit *exit, struct cache_pc to)
{
    uint64_t distance = to.value - block_exit_place(exit).value;

    if (exit->kind != BLOCK_EXIT_ADJACENT)
        return distance - BRANCH_BYTES;
    distance -= JUMP_BYTES;
    return distance == 0 ? PLACEHOLDER : 0xe9 | distance << 8;
}

void x86_put_near_jump(struct code_writer *writer, struct cache_pc to)
{
    x86_jmp_pc(writer, to, X86_REACH_NEAR);
}
