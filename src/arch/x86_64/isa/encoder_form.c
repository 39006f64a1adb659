/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an instruction, composed in a small buffer and then written in one piece, since a displacement relative
 * to rip is known only when the length is. Prefixes come in the order in which assemblers write them: segment, address
 * size, operand size, REX. Invariant: the writer holds whole instructions only. No lock: a writer belongs to
 * one thread. Neighbours: label.c completes displacements to labels, encoder_failure.c reports what cannot be encoded.
 */
#include "arch/x86_64/isa/encoder_form.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/label.h"
#include "base/code_writer.h"

/* Modrm and sib: numbers that mean something else than the register of that number. */
#define RM_SIB         4
#define RM_RIP         5
#define SIB_NO_INDEX   4
#define SIB_NO_BASE    5
#define MOD_REGISTER   3
#define PREFIX_SIZE    0x66
#define PREFIX_ADDRESS 0x67

struct composed {
    uint8_t bytes[24]; /* longer than any sum of the parts */
    size_t length;
    size_t displacement_at; /* of a displacement relative to rip */
};

/* What the parts of modrm, sib and displacement have to say to the prefixes before them. */
struct extension_bits {
    bool w, r, x, b;
    bool needed; /* for the sake of spl, bpl, sil or dil */
};

static void append(struct composed *code, uint8_t byte)
{
    code->bytes[code->length++] = byte;
}

static void append_number(struct composed *code, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        append(code, (uint8_t)(value >> (8 * i)));
}

static bool needs_rex_as_byte(uint8_t reg)
{
    return reg >= X86_RSP && reg <= X86_RDI;
}

static bool is_extended(uint8_t reg)
{
    return reg != X86_GPR_NONE && reg >= X86_R8;
}

static uint8_t modrm(unsigned mod, unsigned reg, unsigned rm)
{
    return (uint8_t)(mod << 6 | (reg & 7) << 3 | (rm & 7));
}

static struct extension_bits bits_of_form(const struct x86_encoder_form *form)
{
    return (struct extension_bits){
        .w = form->size == X86_SIZE_64,
        .r = is_extended(form->reg),
        .needed = form->reg_is_byte && needs_rex_as_byte(form->reg),
    };
}

static struct extension_bits bits_with_register(const struct x86_encoder_form *form, uint8_t rm)
{
    struct extension_bits bits = bits_of_form(form);

    bits.b = is_extended(rm);
    bits.needed |= form->rm_is_byte && needs_rex_as_byte(rm);
    return bits;
}

static struct extension_bits bits_with_memory(const struct x86_encoder_form *form, const struct x86_mem *memory)
{
    struct extension_bits bits = bits_of_form(form);

    bits.x = is_extended(memory->index);
    bits.b = is_extended(memory->base);
    return bits;
}

uint8_t x86_segment_prefix(enum x86_segment segment)
{
    static const uint8_t prefixes[] = {
        [X86_ES] = 0x26, [X86_CS] = 0x2e, [X86_SS] = 0x36, [X86_DS] = 0x3e, [X86_FS] = 0x64, [X86_GS] = 0x65,
    };

    return prefixes[segment];
}

static void append_memory_prefixes(struct composed *code, const struct x86_mem *memory)
{
    if (memory->segment != X86_SEGMENT_NONE)
        append(code, x86_segment_prefix((enum x86_segment)memory->segment));
    if (memory->address_32)
        append(code, PREFIX_ADDRESS);
}

static void append_opcode(struct composed *code, const struct x86_encoder_form *form, struct extension_bits bits)
{
    if (form->size == X86_SIZE_16)
        append(code, PREFIX_SIZE);
    if (bits.needed || bits.w || bits.r || bits.x || bits.b)
        append(code, (uint8_t)(0x40 | bits.w << 3 | bits.r << 2 | bits.x << 1 | bits.b));
    if (form->is_two_bytes)
        append(code, 0x0f);
    append(code, form->opcode);
}

static void append_immediate(struct composed *code, const struct x86_encoder_form *form)
{
    append_number(code, form->immediate, form->immediate_size);
}

static void put(struct code_writer *writer, const struct composed *code)
{
    code_writer_put_bytes(writer, code->bytes, code->length);
}

/* The bytes of the displacement next to a base; modrm's mod is 0, 1 and 2 for 0, 1 and 4. */
static unsigned displacement_mod(const struct x86_mem *memory)
{
    bool base_needs_one = (memory->base & 7) == X86_RBP;

    if (memory->displacement == 0 && !base_needs_one)
        return 0;
    return memory->displacement == (int8_t)memory->displacement ? 1 : 2;
}

static void append_displacement(struct composed *code, int32_t displacement, unsigned mod)
{
    static const uint8_t sizes[] = {0, 1, 4};

    append_number(code, (uint32_t)displacement, sizes[mod]);
}

/* A displacement alone, or next to an index only, always has 32 bits. */
static void append_without_base(struct composed *code, uint8_t reg, const struct x86_mem *memory)
{
    bool has_index = memory->index != X86_GPR_NONE;
    unsigned scale = has_index ? (unsigned)__builtin_ctz(memory->scale) : 0;

    append(code, modrm(0, reg, RM_SIB));
    append(code, modrm(scale, has_index ? memory->index : SIB_NO_INDEX, SIB_NO_BASE));
    append_number(code, (uint32_t)memory->displacement, sizeof(uint32_t));
}

static void append_with_base(struct composed *code, uint8_t reg, const struct x86_mem *memory)
{
    unsigned mod = displacement_mod(memory);

    if (memory->index != X86_GPR_NONE) {
        append(code, modrm(mod, reg, RM_SIB));
        append(code, modrm((unsigned)__builtin_ctz(memory->scale), memory->index, memory->base));
    } else if ((memory->base & 7) == RM_SIB) {
        append(code, modrm(mod, reg, RM_SIB));
        append(code, modrm(0, SIB_NO_INDEX, memory->base));
    } else {
        append(code, modrm(mod, reg, memory->base));
    }
    append_displacement(code, memory->displacement, mod);
}

static void append_memory(struct composed *code, uint8_t reg, const struct x86_mem *memory)
{
    if (memory->kind != X86_MEM_REGISTERS) {
        append(code, modrm(0, reg, RM_RIP));
        code->displacement_at = code->length;
        append_number(code, 0, sizeof(uint32_t));
    } else if (memory->base == X86_GPR_NONE) {
        append_without_base(code, reg, memory);
    } else {
        append_with_base(code, reg, memory);
    }
}

static bool is_register_number(uint8_t reg)
{
    return reg < X86_GPR_COUNT || reg == X86_GPR_NONE;
}

static bool is_memory_valid(const struct x86_mem *memory)
{
    if (memory->segment > X86_GS && memory->segment != X86_SEGMENT_NONE)
        return false;
    if (memory->kind != X86_MEM_REGISTERS)
        return !memory->address_32;
    if (!is_register_number(memory->base) || !is_register_number(memory->index) || memory->index == X86_RSP)
        return false;
    return memory->scale == 1 || memory->scale == 2 || memory->scale == 4 || memory->scale == 8;
}

static void put_with_address(struct code_writer *writer, struct composed *code, uint64_t address)
{
    uint64_t end = code_writer_pc(writer).value + code->length;
    size_t length = code->length;

    if (!address_fits_rel32(end, address)) {
        x86_encoder_fail(writer);
        return;
    }
    code->length = code->displacement_at;
    append_number(code, address - end, sizeof(uint32_t));
    code->length = length;
    put(writer, code);
}

static void put_with_label(struct code_writer *writer, struct composed *code, struct x86_label *label)
{
    size_t field_offset = code_writer_offset(writer) + code->displacement_at;

    put(writer, code);
    if (!code_writer_overflowed(writer))
        x86_label_use_near(label, writer, field_offset, code->length - code->displacement_at - sizeof(uint32_t));
}

void x86_encoder_form_emit_mem(struct code_writer *writer, struct x86_encoder_form form, struct x86_mem memory)
{
    struct composed code = {.length = 0};

    if (!is_memory_valid(&memory)) {
        x86_encoder_refuse(writer, "no such memory operand");
        return;
    }
    append_memory_prefixes(&code, &memory);
    append_opcode(&code, &form, bits_with_memory(&form, &memory));
    append_memory(&code, form.reg | form.extension, &memory);
    append_immediate(&code, &form);
    if (memory.kind == X86_MEM_ADDRESS)
        put_with_address(writer, &code, memory.address);
    else if (memory.kind == X86_MEM_LABEL)
        put_with_label(writer, &code, memory.label);
    else
        put(writer, &code);
}

void x86_encoder_form_emit_reg(struct code_writer *writer, struct x86_encoder_form form, enum x86_gpr rm)
{
    struct composed code = {.length = 0};

    append_opcode(&code, &form, bits_with_register(&form, (uint8_t)rm));
    append(&code, modrm(MOD_REGISTER, form.reg | form.extension, rm));
    append_immediate(&code, &form);
    put(writer, &code);
}

void x86_encoder_form_emit_opcode_reg(struct code_writer *writer, struct x86_encoder_form form, enum x86_gpr reg)
{
    struct composed code = {.length = 0};

    form.opcode |= reg & 7;
    append_opcode(&code, &form, bits_with_register(&form, (uint8_t)reg));
    append_immediate(&code, &form);
    put(writer, &code);
}

void x86_encoder_form_emit_alone(struct code_writer *writer, struct x86_encoder_form form)
{
    struct composed code = {.length = 0};

    append_opcode(&code, &form, bits_of_form(&form));
    append_immediate(&code, &form);
    put(writer, &code);
}

struct x86_encoder_form x86_encoder_form_sized(uint8_t opcode, enum x86_size size, enum x86_gpr reg)
{
    struct x86_encoder_form form = x86_encoder_form_extended(opcode, size, 0);

    form.reg = (uint8_t)reg;
    return form;
}

struct x86_encoder_form x86_encoder_form_extended(uint8_t opcode, enum x86_size size, uint8_t extension)
{
    bool is_byte = size == X86_SIZE_8;

    return (struct x86_encoder_form){
        .opcode = is_byte ? opcode : opcode | 1,
        .size = (uint8_t)size,
        .extension = extension,
        .reg_is_byte = is_byte,
        .rm_is_byte = is_byte,
    };
}

struct x86_encoder_form x86_encoder_form_immediate(struct x86_encoder_form form, uint8_t immediate_size,
                                                   int64_t immediate)
{
    form.immediate_size = immediate_size;
    form.immediate = (uint64_t)immediate;
    return form;
}

int64_t x86_immediate_of_size(struct code_writer *writer, enum x86_size size, int64_t value)
{
    int64_t unused_bits = size == X86_SIZE_64 ? 0 : 64 - 8 * (int64_t)size;
    int64_t extended = (int64_t)((uint64_t)value << unused_bits) >> unused_bits;
    bool fits = size == X86_SIZE_64 ? value == (int32_t)value
                                    : value == extended || (uint64_t)value >> (8 * (unsigned)size) == 0;

    if (!fits)
        x86_encoder_refuse(writer, "the immediate is too large for the operand");
    return extended;
}

uint8_t x86_immediate_size(enum x86_size size)
{
    return size == X86_SIZE_64 ? sizeof(uint32_t) : (uint8_t)size;
}
