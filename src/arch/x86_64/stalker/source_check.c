/* SPDX-License-Identifier: MIT */
/*
 * Compares the original bytes with those that were translated, in aligned pieces of up to 8 bytes, by sums that jrcxz
 * tests: so flags need not be saved. What differs goes to the engine, which translates anew. Works whoever writes the
 * code, through whatever mapping, and needs no signal.
 */
#include "arch/x86_64/stalker/source_check.h"

#include "arch/x86_64/stalker/translate.h"

/* The largest aligned piece at an address that ends at or before `end`. */
static unsigned piece_size(uint64_t address, uint64_t end)
{
    unsigned size = 8;

    while (address % size != 0 || address + size > end)
        size /= 2;
    return size;
}

static uint64_t bytes_at(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;

    __builtin_memcpy(&value, bytes, size);
    return value;
}

static void load_piece(struct code_writer *hot, uint64_t address, unsigned size)
{
    uint64_t here = code_writer_pc(hot).value;
    struct x86_mem place = x86_mem_address(address);

    if (!address_fits_rel32(here, address) || !address_fits_rel32(here + 16, address)) {
        x86_mov_reg_imm(hot, X86_SIZE_64, TARGET_REGISTER, address);
        place = x86_mem_base(TARGET_REGISTER, 0);
    }
    if (size == 8)
        x86_mov_reg_mem(hot, X86_SIZE_64, TARGET_REGISTER, place);
    else if (size == 4)
        x86_mov_reg_mem(hot, X86_SIZE_32, TARGET_REGISTER, place);
    else
        x86_extend_reg_mem(hot, size == 2 ? X86_MOVZX_16 : X86_MOVZX_8, X86_SIZE_32, TARGET_REGISTER, place);
}

static void put_piece(struct translation *translation, uint64_t address, unsigned size, struct cache_pc changed)
{
    struct code_writer *hot = &translation->hot;
    struct block_draft *draft = translation->draft;
    uint64_t value = bytes_at(draft->source + (address - translation->block->start.value), size);
    struct x86_label same;

    x86_label_init(&same);
    load_piece(hot, address, size);
    x86_mov_reg_imm(hot, X86_SIZE_64, INDEX_REGISTER, -value);
    x86_lea(hot, X86_SIZE_64, TARGET_REGISTER, x86_mem_index(TARGET_REGISTER, INDEX_REGISTER, 1, 0));
    x86_loop_label(hot, X86_JRCXZ, X86_SIZE_64, &same);
    x86_jmp_pc(hot, changed, X86_REACH_NEAR);
    x86_label_bind(&same, hot);
}

/* With rcx and rdi at home: tells the engine which block is out of date. */
static struct cache_pc put_changed_stub(struct translation *translation)
{
    struct code_writer *cold = &translation->cold;
    struct cache_pc stub = code_writer_pc(cold);

    x86_mov_reg_mem(cold, X86_SIZE_64, INDEX_REGISTER, register_home(INDEX_REGISTER));
    x86_mov_reg_mem(cold, X86_SIZE_64, TARGET_REGISTER, register_home(TARGET_REGISTER));
    x86_mov_mem_imm(cold, X86_SIZE_32, thread_field(THREAD_EXIT), (int32_t)block_exit_number(translation->block, 0));
    x86_jmp_mem(cold, thread_field(THREAD_GATE_CHANGED));
    return stub;
}

void x86_put_source_check(struct translation *translation)
{
    struct code_writer *hot = &translation->hot;
    struct block *block = translation->block;
    uint64_t address = block->start.value, end = block_end(block).value;
    struct trail_state saved = {.homes = BRANCH_SET};
    struct cache_pc changed = put_changed_stub(translation);

    block_draft_note(translation, block->start, trail_plain);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(TARGET_REGISTER), TARGET_REGISTER);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(INDEX_REGISTER), INDEX_REGISTER);
    block_draft_note(translation, block->start, saved);
    while (address < end) {
        unsigned size = piece_size(address, end);

        put_piece(translation, address, size, changed);
        address += size;
    }
    x86_mov_reg_mem(hot, X86_SIZE_64, INDEX_REGISTER, register_home(INDEX_REGISTER));
    x86_mov_reg_mem(hot, X86_SIZE_64, TARGET_REGISTER, register_home(TARGET_REGISTER));
    block_draft_note(translation, block->start, trail_plain);
}
