/* SPDX-License-Identifier: MIT */
/*
 * Labels. The uses that wait form two lists, threaded through the fields they will complete. A near field holds the
 * previous near use, packed as offset and trailing bytes; a short field holds the distance back to the previous short
 * use, which always fits: two uses further apart could not both reach the label. Offset 0 ends a list, since an opcode
 * comes before any displacement. Invariant: a bound label has empty lists. No lock: a label belongs to one writer.
 */
#include "arch/x86_64/isa/label.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "base/code_writer.h"

#define TRAILING_BITS 3

static uint32_t pack(size_t field_offset, size_t trailing)
{
    return (uint32_t)(field_offset << TRAILING_BITS | trailing);
}

static size_t packed_offset(uint32_t use)
{
    return use >> TRAILING_BITS;
}

static size_t packed_end(uint32_t use)
{
    return packed_offset(use) + sizeof(uint32_t) + (use & ((1u << TRAILING_BITS) - 1));
}

static uint32_t previous_near(const struct code_writer *writer, uint32_t use)
{
    uint32_t previous;

    __builtin_memcpy(&previous, writer->start + packed_offset(use), sizeof(previous));
    return previous;
}

static void complete_near(const struct x86_label *label, struct code_writer *writer, uint32_t use)
{
    uint64_t from = packed_end(use);

    if (!address_fits_rel32(from, label->offset)) {
        x86_encoder_fail(writer);
        return;
    }
    code_writer_amend_u32(writer, packed_offset(use), (uint32_t)(label->offset - from));
}

static void complete_short(const struct x86_label *label, struct code_writer *writer, size_t field_offset)
{
    uint64_t from = field_offset + 1;

    if (!address_fits_rel8(from, label->offset)) {
        x86_encoder_fail(writer);
        return;
    }
    code_writer_amend_u8(writer, field_offset, (uint8_t)(label->offset - from));
}

void x86_label_init(struct x86_label *label)
{
    *label = (struct x86_label){0};
}

void x86_label_bind(struct x86_label *label, struct code_writer *writer)
{
    if (label->bound) {
        x86_encoder_refuse(writer, "a label was bound twice");
        return;
    }
    label->bound = true;
    label->offset = code_writer_offset(writer);
    while (label->near_pending != 0) {
        uint32_t use = label->near_pending;

        label->near_pending = previous_near(writer, use);
        complete_near(label, writer, use);
    }
    while (label->short_pending != 0) {
        size_t use = label->short_pending;
        size_t distance = writer->start[use];

        label->short_pending = distance == 0 ? 0 : use - distance;
        complete_short(label, writer, use);
    }
}

bool x86_label_check(const struct x86_label *label)
{
    return label->near_pending == 0 && label->short_pending == 0;
}

struct cache_pc x86_label_pc(const struct x86_label *label, const struct code_writer *writer)
{
    return cache_pc_of(writer->base_pc.value + label->offset);
}

void x86_label_use_near(struct x86_label *label, struct code_writer *writer, size_t field_offset, size_t trailing)
{
    uint32_t use = pack(field_offset, trailing);

    if (packed_offset(use) != field_offset) {
        x86_encoder_fail(writer);
    } else if (label->bound) {
        complete_near(label, writer, use);
    } else {
        code_writer_amend_u32(writer, field_offset, label->near_pending);
        label->near_pending = use;
    }
}

void x86_label_use_short(struct x86_label *label, struct code_writer *writer, size_t field_offset)
{
    if (label->bound) {
        complete_short(label, writer, field_offset);
        return;
    }
    size_t distance = label->short_pending == 0 ? 0 : field_offset - label->short_pending;

    if (distance > INT8_MAX) {
        x86_encoder_fail(writer);
        return;
    }
    code_writer_amend_u8(writer, field_offset, (uint8_t)distance);
    label->short_pending = field_offset;
}
