/* SPDX-License-Identifier: MIT */
/*
 * The forms of branches. A relative one is described by its two openings, all the bytes before an 8-bit and before a
 * 32-bit displacement; either may be missing. Invariant: a branch is written whole or not at all. No lock: a writer
 * belongs to one thread. Its neighbour label.c completes displacements to labels.
 */
#include "arch/x86_64/isa/encoder_branch.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"
#include "arch/x86_64/isa/label.h"
#include "base/code_writer.h"

struct opening {
    uint8_t bytes[2];
    uint8_t length; /* 0: there is no such form */
};

struct branch {
    struct opening short_form;
    struct opening near_form;
};

static struct branch jmp_branch(void)
{
    return (struct branch){{{0xeb}, 1}, {{0xe9}, 1}};
}

static struct branch jcc_branch(enum x86_condition condition)
{
    return (struct branch){{{(uint8_t)(0x70 | condition)}, 1}, {{0x0f, (uint8_t)(0x80 | condition)}, 2}};
}

static struct branch call_branch(void)
{
    return (struct branch){.near_form = {{0xe8}, 1}};
}

static struct branch xbegin_branch(void)
{
    return (struct branch){.near_form = {{0xc7, 0xf8}, 2}};
}

static struct branch loop_branch(enum x86_loop loop, enum x86_size counter)
{
    uint8_t opcode = (uint8_t)(0xe0 | loop);

    if (counter == X86_SIZE_32)
        return (struct branch){.short_form = {{0x67, opcode}, 2}};
    return (struct branch){.short_form = {{opcode}, 1}};
}

static void put_displaced(struct code_writer *writer, const struct opening *opening, uint64_t displacement, size_t size)
{
    uint8_t bytes[8];
    size_t length = opening->length;

    __builtin_memcpy(bytes, opening->bytes, sizeof(opening->bytes));
    for (size_t i = 0; i < size; i++)
        bytes[length++] = (uint8_t)(displacement >> (8 * i));
    code_writer_put_bytes(writer, bytes, length);
}

static uint64_t short_end(const struct code_writer *writer, const struct branch *branch)
{
    return code_writer_pc(writer).value + branch->short_form.length + sizeof(uint8_t);
}

static uint64_t near_end(const struct code_writer *writer, const struct branch *branch)
{
    return code_writer_pc(writer).value + branch->near_form.length + sizeof(uint32_t);
}

static bool reaches_short(const struct code_writer *writer, const struct branch *branch, struct cache_pc target)
{
    return branch->short_form.length != 0 && address_fits_rel8(short_end(writer, branch), target.value);
}

static bool reaches_near(const struct code_writer *writer, const struct branch *branch, struct cache_pc target)
{
    return branch->near_form.length != 0 && address_fits_rel32(near_end(writer, branch), target.value);
}

static void short_to_pc(struct code_writer *writer, const struct branch *branch, struct cache_pc target)
{
    if (reaches_short(writer, branch, target))
        put_displaced(writer, &branch->short_form, target.value - short_end(writer, branch), sizeof(uint8_t));
    else
        x86_encoder_fail(writer);
}

static void near_to_pc(struct code_writer *writer, const struct branch *branch, struct cache_pc target)
{
    if (reaches_near(writer, branch, target))
        put_displaced(writer, &branch->near_form, target.value - near_end(writer, branch), sizeof(uint32_t));
    else
        x86_encoder_fail(writer);
}

static void branch_to_pc(struct code_writer *writer, struct branch branch, struct cache_pc target, enum x86_reach reach)
{
    if (reach == X86_REACH_SHORT || (reach == X86_REACH_AUTO && reaches_short(writer, &branch, target)))
        short_to_pc(writer, &branch, target);
    else
        near_to_pc(writer, &branch, target);
}

static void short_to_pending(struct code_writer *writer, const struct branch *branch, struct x86_label *target)
{
    size_t field_offset = code_writer_offset(writer) + branch->short_form.length;

    put_displaced(writer, &branch->short_form, 0, sizeof(uint8_t));
    if (!code_writer_overflowed(writer))
        x86_label_use_short(target, writer, field_offset);
}

static void near_to_pending(struct code_writer *writer, const struct branch *branch, struct x86_label *target)
{
    size_t field_offset = code_writer_offset(writer) + branch->near_form.length;

    put_displaced(writer, &branch->near_form, 0, sizeof(uint32_t));
    if (!code_writer_overflowed(writer))
        x86_label_use_near(target, writer, field_offset, 0);
}

static void branch_to_label(struct code_writer *writer, struct branch branch, struct x86_label *target,
                            enum x86_reach reach)
{
    if (target->bound)
        branch_to_pc(writer, branch, x86_label_pc(target, writer), reach);
    else if (reach == X86_REACH_SHORT)
        short_to_pending(writer, &branch, target);
    else
        near_to_pending(writer, &branch, target);
}

void x86_jmp_label(struct code_writer *writer, struct x86_label *target, enum x86_reach reach)
{
    branch_to_label(writer, jmp_branch(), target, reach);
}

void x86_jmp_pc(struct code_writer *writer, struct cache_pc target, enum x86_reach reach)
{
    branch_to_pc(writer, jmp_branch(), target, reach);
}

void x86_jcc_label(struct code_writer *writer, enum x86_condition condition, struct x86_label *target,
                   enum x86_reach reach)
{
    branch_to_label(writer, jcc_branch(condition), target, reach);
}

void x86_jcc_pc(struct code_writer *writer, enum x86_condition condition, struct cache_pc target, enum x86_reach reach)
{
    branch_to_pc(writer, jcc_branch(condition), target, reach);
}

void x86_call_label(struct code_writer *writer, struct x86_label *target)
{
    branch_to_label(writer, call_branch(), target, X86_REACH_NEAR);
}

void x86_call_pc(struct code_writer *writer, struct cache_pc target)
{
    branch_to_pc(writer, call_branch(), target, X86_REACH_NEAR);
}

void x86_loop_label(struct code_writer *writer, enum x86_loop loop, enum x86_size counter, struct x86_label *target)
{
    branch_to_label(writer, loop_branch(loop, counter), target, X86_REACH_SHORT);
}

void x86_xbegin_label(struct code_writer *writer, struct x86_label *target)
{
    branch_to_label(writer, xbegin_branch(), target, X86_REACH_NEAR);
}

void x86_xbegin_pc(struct code_writer *writer, struct cache_pc target)
{
    branch_to_pc(writer, xbegin_branch(), target, X86_REACH_NEAR);
}

/* Group 5 of the opcodes: 2 calls and 4 jumps. */
static struct x86_encoder_form indirect_form(uint8_t extension)
{
    return (struct x86_encoder_form){.opcode = 0xff, .extension = extension};
}

void x86_jmp_reg(struct code_writer *writer, enum x86_gpr target)
{
    x86_encoder_form_emit_reg(writer, indirect_form(4), target);
}

void x86_jmp_mem(struct code_writer *writer, struct x86_mem pointer)
{
    x86_encoder_form_emit_mem(writer, indirect_form(4), pointer);
}

void x86_call_mem(struct code_writer *writer, struct x86_mem pointer)
{
    x86_encoder_form_emit_mem(writer, indirect_form(2), pointer);
}

static void put_with_pointer(struct code_writer *writer, const uint8_t *code, size_t length, struct cache_pc target)
{
    uint8_t *place = code_writer_claim(writer, length + sizeof(target.value));

    if (place == NULL)
        return;
    __builtin_memcpy(place, code, length);
    for (size_t i = 0; i < sizeof(target.value); i++)
        place[length + i] = (uint8_t)(target.value >> (8 * i));
}

void x86_jmp_absolute(struct code_writer *writer, struct cache_pc target)
{
    static const uint8_t jmp_through_next[] = {0xff, 0x25, 0, 0, 0, 0};

    put_with_pointer(writer, jmp_through_next, sizeof(jmp_through_next), target);
}

static void call_absolute(struct code_writer *writer, struct cache_pc target)
{
    static const uint8_t call_through_pointer_and_skip_it[] = {0xff, 0x15, 2, 0, 0, 0, 0xeb, 8};

    put_with_pointer(writer, call_through_pointer_and_skip_it, sizeof(call_through_pointer_and_skip_it), target);
}

void x86_call_anywhere(struct code_writer *writer, struct cache_pc target)
{
    struct branch call = call_branch();

    if (reaches_near(writer, &call, target))
        near_to_pc(writer, &call, target);
    else
        call_absolute(writer, target);
}

void x86_ret(struct code_writer *writer, uint16_t drop_bytes)
{
    struct x86_encoder_form drop_form = {.opcode = 0xc2};

    if (drop_bytes == 0)
        code_writer_put_u8(writer, 0xc3);
    else
        x86_encoder_form_emit_alone(writer, x86_encoder_form_immediate(drop_form, sizeof(drop_bytes), drop_bytes));
}
