/* SPDX-License-Identifier: MIT */
/*
 * Prefixes that mean something, the mnemonic, the operands that assembly text shows, and their EVEX decorations. All
 * that it knows comes from the decoder and from operands.h, except how names are spelled. Stateless.
 */
#include "arch/x86_64/isa/format.h"

#include "arch/x86_64/isa/operands.h"

#include <stdbool.h>

/* By width: 8, 16, 32, 64 bits. Arrays rather than pointers, so that there is nothing to relocate. */
static const char gpr_names[4][X86_GPR_COUNT][5] = {
    {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"},
    {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"},
    {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d",
     "r15d"},
    {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
};
static const char high_names[4][3] = {"ah", "ch", "dh", "bh"};
static const char segment_names[8][3] = {"es", "cs", "ss", "ds", "fs", "gs", "s6", "s7"};

/* How the numbered registers of a class are called, in front of the number. */
static const char numbered_names[][4] = {
    [X86_REGISTER_X87] = "st",   [X86_REGISTER_MMX] = "mm",    [X86_REGISTER_XMM] = "xmm",
    [X86_REGISTER_YMM] = "ymm",  [X86_REGISTER_ZMM] = "zmm",   [X86_REGISTER_MASK] = "k",
    [X86_REGISTER_TILE] = "tmm", [X86_REGISTER_BOUND] = "bnd", [X86_REGISTER_CONTROL] = "cr",
    [X86_REGISTER_DEBUG] = "dr",
};

static const char rounding_names[4][3] = {"rn", "rd", "ru", "rz"};

static const char suppressed_names[][12] = {
#define SUPPRESSED(name) name,
#include "arch/x86_64/isa/format_suppressed.def"
#undef SUPPRESSED
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *x86_gpr_name(unsigned number, unsigned bits)
{
    unsigned row = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;

    return gpr_names[row][number & 15];
}

static bool begins_with(const char *name, const char *beginning)
{
    while (*beginning != '\0' && *name == *beginning) {
        name++;
        beginning++;
    }
    return *beginning == '\0';
}

static void put_number(struct text_writer *text, uint64_t value)
{
    text_put_string(text, "0x");
    text_put_hex(text, value, 1);
}

/* ---- registers ------------------------------------------------------------------------------------------------- */
static void put_register(struct text_writer *text, unsigned register_class, unsigned number)
{
    switch (register_class) {
    case X86_REGISTER_GPR8:
        text_put_string(text, x86_gpr_name(number, 8));
        break;
    case X86_REGISTER_GPR8_HIGH:
        text_put_string(text, high_names[number & 3]);
        break;
    case X86_REGISTER_GPR16:
        text_put_string(text, x86_gpr_name(number, 16));
        break;
    case X86_REGISTER_GPR32:
        text_put_string(text, x86_gpr_name(number, 32));
        break;
    case X86_REGISTER_GPR64:
        text_put_string(text, x86_gpr_name(number, 64));
        break;
    case X86_REGISTER_SEGMENT:
        text_put_string(text, segment_names[number & 7]);
        break;
    default:
        if (register_class >= COUNT(numbered_names) || numbered_names[register_class][0] == '\0') {
            text_put_string(text, "(register)");
            break;
        }
        text_put_string(text, numbered_names[register_class]);
        text_put_unsigned(text, number);
        break;
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */
static const char *size_name(unsigned size_bits)
{
    switch (size_bits) {
    case 8:
        return "byte ptr ";
    case 16:
        return "word ptr ";
    case 32:
        return "dword ptr ";
    case 48:
        return "fword ptr ";
    case 64:
        return "qword ptr ";
    case 80:
        return "tbyte ptr ";
    case 128:
        return "xmmword ptr ";
    case 256:
        return "ymmword ptr ";
    case 512:
        return "zmmword ptr ";
    default:
        return "";
    }
}

static void put_displacement(struct text_writer *text, int64_t displacement)
{
    text_put_char(text, displacement < 0 ? '-' : '+');
    put_number(text, displacement < 0 ? -(uint64_t)displacement : (uint64_t)displacement);
}

/* An address without registers. Behind a segment's base it is a distance, which may be negative. */
static void put_address(struct text_writer *text, const struct x86_insn *insn, const struct x86_operand *operand)
{
    bool is_distance = operand->segment != X86_SEGMENT_NONE && insn->displacement_size == 4 && insn->address_bits == 64;

    if (operand->is_pc_relative)
        put_number(text, operand->value);
    else if (is_distance && operand->displacement < 0)
        put_displacement(text, operand->displacement);
    else if (insn->address_bits == 32)
        put_number(text, (uint32_t)operand->displacement);
    else
        put_number(text, (uint64_t)operand->displacement);
}

static void put_registers_of_address(struct text_writer *text, const struct x86_insn *insn,
                                     const struct x86_operand *operand)
{
    bool has_base = operand->base != X86_GPR_NONE;

    if (has_base)
        text_put_string(text, x86_gpr_name(operand->base, insn->address_bits));
    if (operand->index == X86_GPR_NONE)
        return;
    if (has_base)
        text_put_char(text, '+');
    if (x86_traits_of(insn->form)->properties & X86_FORM_VECTOR_INDEX)
        put_register(text, operand->register_class, operand->index);
    else
        text_put_string(text, x86_gpr_name(operand->index, insn->address_bits));
    if (operand->memory_kind != X86_MEMORY_BOUND && (operand->scale != 1 || !has_base)) {
        text_put_char(text, '*');
        text_put_unsigned(text, operand->scale);
    }
}

/* Where only an address is computed there is no size, but what names memory without using it has one. */
static bool has_size(const struct x86_insn *insn, const struct x86_operand *operand)
{
    const char *name = x86_mnemonic_name(insn->mnemonic);

    if (operand->memory_kind == X86_MEMORY_ADDRESS)
        return begins_with(name, "nop") || begins_with(name, "prefetch") || begins_with(name, "cldemote");
    return operand->memory_kind != X86_MEMORY_BOUND;
}

static void put_memory(struct text_writer *text, const struct x86_insn *insn, const struct x86_operand *operand)
{
    if (has_size(insn, operand))
        text_put_string(text, size_name(operand->size_bits));
    if (operand->segment != X86_SEGMENT_NONE) {
        text_put_string(text, segment_names[operand->segment & 7]);
        text_put_char(text, ':');
    }
    text_put_char(text, '[');
    if (operand->base == X86_GPR_NONE && operand->index == X86_GPR_NONE) {
        put_address(text, insn, operand);
    } else {
        put_registers_of_address(text, insn, operand);
        if (operand->displacement != 0)
            put_displacement(text, operand->displacement);
    }
    text_put_char(text, ']');
}

/* ---- immediates ------------------------------------------------------------------------------------------------ */
/* Sign-extended immediates are shown as wide as what they are combined with. */
static uint64_t immediate_value(const struct x86_insn *insn, const struct x86_operand *operand)
{
    struct x86_operand first;

    x86_insn_operand(insn, 0, &first);
    if (first.kind != X86_OPERAND_REGISTER && first.kind != X86_OPERAND_MEMORY)
        return insn->size_index == 0 ? (uint16_t)operand->value : operand->value;
    if (first.size_bits >= 64 || first.size_bits == 0)
        return operand->value;
    return operand->value & ((1ull << first.size_bits) - 1);
}

/* ---- decorations ----------------------------------------------------------------------------------------------- */
/* Whether an operand is written in the text; the mask is, but as a decoration of the first. */
static bool is_shown(const struct x86_insn *insn, unsigned which)
{
    const struct x86_operand_form *form = &x86_operand_forms[insn->form->operands + which];
    bool is_mask = insn->encoding == X86_ENCODING_EVEX && form->source == X86_SOURCE_MASK;

    return form->visibility != X86_HIDDEN && !is_mask;
}

/* The number of the last operand that rounding belongs to: the last one that is no immediate. */
static unsigned last_register(const struct x86_insn *insn)
{
    unsigned last = 0;

    for (unsigned i = 0; i < x86_insn_operand_count(insn); i++)
        if (is_shown(insn, i) && x86_operand_forms[insn->form->operands + i].kind == X86_OPERAND_REGISTER)
            last = i;
    return last;
}

/* How often the memory operand is repeated: how much the same instruction without evex.b reads of memory tells. */
static unsigned broadcast_count(const struct x86_insn *insn, const uint8_t *bytes, unsigned element_bits)
{
    uint8_t whole[X86_MAX_INSN_BYTES] = {0};
    unsigned total_bits = 128u << insn->size_index;
    struct x86_insn without;
    struct x86_operand operand;

    for (unsigned i = 0; i < insn->length; i++)
        whole[i] = bytes[i];
    whole[insn->opcode_offset - 1] &= (uint8_t)~0x10u;
    if (x86_decode(whole, insn->length, insn->pc, X86_DECODE_INTEL, &without) == 0) {
        for (unsigned i = 0; i < x86_insn_operand_count(&without); i++) {
            x86_insn_operand(&without, i, &operand);
            if (operand.kind == X86_OPERAND_MEMORY)
                total_bits = operand.size_bits;
        }
    }
    return element_bits == 0 ? 0 : total_bits / element_bits;
}

/* Every 32-bit integer is a double: evex.b is allowed there, and there is nothing to round. */
static bool is_exact(const struct x86_insn *insn, const char *name)
{
    if (begins_with(name, "vcvtdq2pd") || begins_with(name, "vcvtudq2pd"))
        return true;
    if (begins_with(name, "vcvtsi2sd") || begins_with(name, "vcvtusi2sd")) {
        struct x86_operand source;

        x86_insn_operand(insn, last_register(insn), &source);
        return source.register_class == X86_REGISTER_GPR32;
    }
    return false;
}

/* Whether a name begins like an entry of the list, and ends there if that entry ends with a dot. */
static bool is_named(const char *name, const char *entry)
{
    while (*entry != '\0' && *name == *entry) {
        name++;
        entry++;
    }
    return *entry == '\0' || (*entry == '.' && *name == '\0');
}

static void put_rounding(struct text_writer *text, const struct x86_insn *insn)
{
    const char *name = x86_mnemonic_name(insn->mnemonic);

    if (is_exact(insn, name))
        return;
    for (unsigned i = 0; i < COUNT(suppressed_names); i++) {
        if (is_named(name, suppressed_names[i])) {
            text_put_string(text, " {sae}");
            return;
        }
    }
    text_format(text, " {%s-sae}", rounding_names[insn->rounding & 3]);
}

static void put_mask(struct text_writer *text, const struct x86_insn *insn)
{
    if (insn->mask != 0)
        text_format(text, " {k%u}", insn->mask);
    if (insn->zeroing)
        text_put_string(text, " {z}");
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */
static bool is_compare_string(const char *name)
{
    return begins_with(name, "cmps") || begins_with(name, "scas");
}

/* Stores that lock elision may end, and exchanges, which are locked without saying so. */
static bool may_elide(const struct x86_insn *insn)
{
    bool is_exchange = insn->map == X86_MAP_PRIMARY && (insn->opcode & 0xfe) == 0x86;
    bool is_store = insn->map == X86_MAP_PRIMARY && ((insn->opcode & 0xfe) == 0x88 || (insn->opcode & 0xfe) == 0xc6);

    if (insn->encoding != X86_ENCODING_LEGACY || !insn->is_memory)
        return false;
    return insn->properties & X86_LOCKED || is_exchange || (is_store && insn->prefixes & X86_PREFIX_F3);
}

static void put_prefixes(struct text_writer *text, const struct x86_insn *insn, const char *name)
{
    bool is_indirect = insn->flow == X86_FLOW_JUMP_INDIRECT || insn->flow == X86_FLOW_CALL_INDIRECT;
    bool ignores_bounds =
        insn->flow == X86_FLOW_BRANCH_COUNT || (insn->flow == X86_FLOW_JUMP && insn->immediate_size == 1);

    if (insn->prefixes & (X86_PREFIX_F2 | X86_PREFIX_F3) && may_elide(insn))
        text_put_string(text, insn->prefixes & X86_PREFIX_F2 ? "xacquire " : "xrelease ");
    if (insn->properties & X86_LOCKED)
        text_put_string(text, "lock ");
    if (insn->prefixes & X86_PREFIX_F3 && insn->map == X86_MAP_0F && (insn->opcode & 0xfe) == 0xa6)
        text_put_string(text, "rep "); /* the ciphers and hashes of VIA's CPUs */
    if (insn->properties & X86_REPEATED) {
        bool is_compare = is_compare_string(name);

        text_put_string(text, insn->prefixes & X86_PREFIX_F2 ? "repne " : is_compare ? "repe " : "rep ");
    }
    if (!(insn->properties & X86_BRANCH_HINTED))
        return;
    if (insn->prefixes & X86_PREFIX_F2 && !ignores_bounds)
        text_put_string(text, "bnd ");
    if (insn->prefixes & X86_PREFIX_3E && is_indirect)
        text_put_string(text, "notrack ");
}

static void put_mnemonic(struct text_writer *text, const struct x86_insn *insn)
{
    const char *name = x86_mnemonic_name(insn->mnemonic);
    bool is_far_return = insn->flow == X86_FLOW_RETURN_FAR && begins_with(name, "ret");

    put_prefixes(text, insn, name);
    text_put_string(text, name);
    if (insn->flow == X86_FLOW_JUMP_FAR || insn->flow == X86_FLOW_CALL_FAR || is_far_return)
        text_put_string(text, " far");
}

static void put_operand(struct text_writer *text, const struct x86_insn *insn, const uint8_t *bytes,
                        const struct x86_operand *operand)
{
    switch (operand->kind) {
    case X86_OPERAND_REGISTER:
        put_register(text, operand->register_class, operand->number);
        break;
    case X86_OPERAND_MEMORY:
        put_memory(text, insn, operand);
        if (insn->broadcast)
            text_format(text, " {1to%u}", broadcast_count(insn, bytes, operand->size_bits));
        break;
    case X86_OPERAND_TARGET:
        put_number(text, operand->value);
        break;
    default:
        put_number(text, immediate_value(insn, operand));
        break;
    }
}

void x86_format(const struct x86_insn *insn, const uint8_t *bytes, struct text_writer *text)
{
    bool rounds = insn->broadcast && !insn->is_memory;
    unsigned rounded = rounds ? last_register(insn) : 0;
    const char *separator = " ";

    put_mnemonic(text, insn);
    for (unsigned i = 0; i < x86_insn_operand_count(insn); i++) {
        struct x86_operand operand;

        if (!is_shown(insn, i))
            continue;
        x86_insn_operand(insn, i, &operand);
        text_put_string(text, separator);
        separator = ", ";
        put_operand(text, insn, bytes, &operand);
        if (i == 0)
            put_mask(text, insn);
        if (rounds && i == rounded)
            put_rounding(text, insn);
    }
}
