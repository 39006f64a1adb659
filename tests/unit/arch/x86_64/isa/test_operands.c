/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/operands.h"

#include "support/check.h"
#include "support/guarded_bytes.h"

#define PC         0x10000u
#define TEXT_BYTES 512

static struct guarded_bytes guarded;

static const char *const class_names[] = {
    [X86_REGISTER_NONE] = "none",  [X86_REGISTER_GPR8] = "byte",   [X86_REGISTER_GPR8_HIGH] = "high",
    [X86_REGISTER_GPR16] = "word", [X86_REGISTER_GPR32] = "dword", [X86_REGISTER_GPR64] = "qword",
    [X86_REGISTER_X87] = "st",     [X86_REGISTER_MMX] = "mm",      [X86_REGISTER_XMM] = "xmm",
    [X86_REGISTER_YMM] = "ymm",    [X86_REGISTER_ZMM] = "zmm",     [X86_REGISTER_MASK] = "k",
    [X86_REGISTER_TILE] = "tile",  [X86_REGISTER_BOUND] = "bnd",   [X86_REGISTER_SEGMENT] = "seg",
    [X86_REGISTER_CONTROL] = "cr", [X86_REGISTER_DEBUG] = "dr",    [X86_REGISTER_FLAGS] = "flags",
    [X86_REGISTER_PC] = "pc",      [X86_REGISTER_OTHER] = "other",
};

static size_t print_memory(char *text, size_t size, const struct x86_operand *operand)
{
    size_t used = (size_t)snprintf(text, size, "mem%u[", operand->size_bits);

    if (operand->segment != X86_SEGMENT_NONE)
        used += (size_t)snprintf(text + used, size - used, "%s:", operand->segment == X86_FS ? "fs" : "gs");
    if (operand->is_pc_relative)
        used += (size_t)snprintf(text + used, size - used, "pc=0x%" PRIx64, operand->value);
    if (operand->base != X86_GPR_NONE)
        used += (size_t)snprintf(text + used, size - used, "%u", operand->base);
    if (operand->index != X86_GPR_NONE)
        used += (size_t)snprintf(text + used, size - used, "+%s%u*%u",
                                 operand->memory_kind == X86_MEMORY_VECTOR ? class_names[operand->register_class] : "",
                                 operand->index, operand->scale);
    if (operand->displacement != 0 && !operand->is_pc_relative)
        used += (size_t)snprintf(text + used, size - used, "%+" PRId64, operand->displacement);
    return used + (size_t)snprintf(text + used, size - used, "]");
}

/* "rw dword0" is a register, "r mem32[3+1*4+16]" memory, "r imm8=0x1", "r to=0x1000"; a hidden operand has a ~. */
static size_t print_operand(char *text, size_t size, const struct x86_operand *operand)
{
    size_t used = (size_t)snprintf(text, size, "%s%s%s%s%s%s ", operand->visibility == X86_HIDDEN ? "~" : "",
                                   operand->access == 0 ? "-" : "", operand->access & X86_READ ? "r" : "",
                                   operand->access & X86_MAY_READ ? "r?" : "", operand->access & X86_WRITE ? "w" : "",
                                   operand->access & X86_MAY_WRITE ? "w?" : "");

    switch (operand->kind) {
    case X86_OPERAND_REGISTER:
        return used + (size_t)snprintf(text + used, size - used, "%s%u", class_names[operand->register_class],
                                       operand->register_class >= X86_REGISTER_FLAGS ? 0 : operand->number);
    case X86_OPERAND_MEMORY:
        return used + print_memory(text + used, size - used, operand);
    case X86_OPERAND_IMMEDIATE:
        return used +
               (size_t)snprintf(text + used, size - used, "imm%u=0x%" PRIx64, operand->size_bits, operand->value);
    default:
        return used + (size_t)snprintf(text + used, size - used, "to%u=0x%" PRIx64, operand->size_bits, operand->value);
    }
}

/* All operands of the instruction, in order. */
static const char *operands_as(unsigned options, const char *hex)
{
    static char text[TEXT_BYTES];
    struct x86_insn insn;
    size_t size_bytes, used = 0;
    const uint8_t *bytes = guarded_bytes_put_hex(&guarded, hex, &size_bytes);

    if (x86_decode(bytes, size_bytes, app_pc_of(PC), options, &insn) != 0 || insn.length != size_bytes)
        return "refused";
    text[0] = 0;
    for (unsigned i = 0; i < x86_insn_operand_count(&insn); i++) {
        struct x86_operand operand;

        x86_insn_operand(&insn, i, &operand);
        if (i > 0)
            used += (size_t)snprintf(text + used, sizeof(text) - used, ", ");
        used += print_operand(text + used, sizeof(text) - used, &operand);
    }
    return text;
}

#define CHECK_OPERANDS(hex, expected) CHECK_TEXT(operands_as(X86_DECODE_INTEL, hex), expected)

static void operands_follow_the_operand_size(void)
{
    CHECK_OPERANDS("01 cb", "rw dword3, r dword1, ~w flags0");
    CHECK_OPERANDS("66 01 cb", "rw word3, r word1, ~w flags0");
    CHECK_OPERANDS("49 01 cb", "rw qword11, r qword1, ~w flags0");
    CHECK_OPERANDS("00 cb", "rw byte3, r byte1, ~w flags0");
    CHECK_OPERANDS("8b 44 8b 10", "w dword0, r mem32[3+1*4+16]");
    CHECK_OPERANDS("48 0f b6 03", "w qword0, r mem8[3]");
}

static void high_bytes_are_a_class_of_their_own(void)
{
    CHECK_OPERANDS("88 e1", "w byte1, r high0");
    CHECK_OPERANDS("40 88 e1", "w byte1, r byte4");
    CHECK_OPERANDS("41 88 e1", "w byte9, r byte4");
    CHECK_OPERANDS("b7 05", "w high3, r imm8=0x5");
    CHECK_OPERANDS("d2 e0", "rw byte0, r byte1, ~w? flags0");
}

static void memory_tells_its_address(void)
{
    CHECK_OPERANDS("8b 05 10 00 00 00", "w dword0, r mem32[pc=0x10016]");
    CHECK_OPERANDS("64 8b 04 25 28 00 00 00", "w dword0, r mem32[fs:+40]");
    CHECK_OPERANDS("48 a1 88 77 66 55 44 33 22 11", "w qword0, r mem64[+1234605616436508552]");
    CHECK_OPERANDS("62 f1 74 48 58 40 01", "w zmm0, r k0, r zmm1, r mem512[0+64]");
    CHECK_OPERANDS("62 f1 74 58 58 40 01", "w zmm0, r k0, r zmm1, r mem32[0+4]");
    CHECK_OPERANDS("48 8d 44 8b f0", "w qword0, - mem64[3+1*4-16]");
}

static void hidden_operands_are_told(void)
{
    CHECK_OPERANDS("50", "r qword0, ~rw qword4, ~w mem64[4]");
    CHECK_OPERANDS("64 a4", "~w mem8[7], ~r mem8[fs:6], ~rw qword7, ~rw qword6, ~r flags0");
    CHECK_OPERANDS("f7 e1", "r dword1, ~rw dword0, ~w dword2, ~w flags0");
    CHECK_OPERANDS("d7", "~r mem8[3], ~rw byte0");
    /* It stores at the address in the register that modrm.reg names. */
    CHECK_OPERANDS("66 44 0f 38 f8 08", "r qword9, r mem512[0], ~w mem512[9]");
}

static void immediates_and_targets_have_values(void)
{
    CHECK_OPERANDS("83 c0 ff", "rw dword0, r imm8=0xffffffffffffffff, ~w flags0");
    CHECK_OPERANDS("c8 34 12 05", "r imm16=0x1234, r imm8=0x5, ~rw qword5, ~rw qword4, ~w mem64[4]");
    CHECK_OPERANDS("d1 e0", "rw dword0, r imm8=0x1, ~w flags0");
    CHECK_OPERANDS("eb 10", "r to8=0x10012, ~rw pc0");
    CHECK_TEXT(operands_as(X86_DECODE_AMD, "66 e9 10 00"), "r to16=0x14, ~rw pc0");
    CHECK_OPERANDS("66 e9 10 00 00 00", "r to32=0x10016, ~rw pc0");
    CHECK_OPERANDS("c4 e3 69 4a cb 4f", "w xmm1, r xmm2, r xmm3, r xmm4");
}

static void masks_merge_or_clear(void)
{
    CHECK_OPERANDS("62 f1 74 48 58 c2", "w zmm0, r k0, r zmm1, r zmm2");
    CHECK_OPERANDS("62 f1 74 49 58 c2", "rw? zmm0, r k1, r zmm1, r zmm2");
    CHECK_OPERANDS("62 f1 74 c9 58 c2", "w zmm0, r k1, r zmm1, r zmm2");
    CHECK_OPERANDS("62 f1 7c 49 29 00", "w? mem512[0], r k1, r zmm0");
}

static void other_registers_have_classes_and_numbers(void)
{
    CHECK_OPERANDS("62 f2 7d 49 92 04 08", "rw? zmm0, rw k1, r mem32[0+zmm1*1]");
    CHECK_OPERANDS("45 0f 6f f9", "w mm7, r mm1");
    CHECK_OPERANDS("d8 c3", "rw st0, r st3, ~w other0");
    CHECK_OPERANDS("8e d8", "w seg3, r word0");
    CHECK_OPERANDS("44 0f 20 c0", "w qword0, r cr8");
    CHECK_OPERANDS("c5 f8 92 c8", "w k1, r dword0");
}

static const struct check_case cases[] = {
    CHECK_CASE(operands_follow_the_operand_size),
    CHECK_CASE(high_bytes_are_a_class_of_their_own),
    CHECK_CASE(memory_tells_its_address),
    CHECK_CASE(hidden_operands_are_told),
    CHECK_CASE(immediates_and_targets_have_values),
    CHECK_CASE(masks_merge_or_clear),
    CHECK_CASE(other_registers_have_classes_and_numbers),
};

int main(void)
{
    guarded_bytes_init(&guarded);

    int status = check_run(cases, sizeof(cases) / sizeof(cases[0]));

    guarded_bytes_deinit(&guarded);
    return status;
}
