/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/decoder.h"

#include <errno.h>

#include "support/check.h"
#include "support/decoder_fuzz.h"
#include "support/guarded_bytes.h"
#include "support/random.h"

#define PC 0x555500001000u

static struct guarded_bytes guarded;
static struct x86_insn insn;

static int decode_as(unsigned options, const char *hex)
{
    size_t size_bytes;
    const uint8_t *bytes = guarded_bytes_put_hex(&guarded, hex, &size_bytes);

    memset(&insn, 0, sizeof(insn));
    return x86_decode(bytes, size_bytes, app_pc_of(PC), options, &insn);
}

static int decode(const char *hex)
{
    return decode_as(X86_DECODE_INTEL, hex);
}

/* The bytes are one whole instruction with this name. */
#define CHECK_IS(hex, name)                                                                                            \
    do {                                                                                                               \
        CHECK_EQUAL(decode(hex), 0);                                                                                   \
        CHECK_TEXT(x86_mnemonic_name(insn.mnemonic), name);                                                            \
        CHECK_EQUAL(insn.length, (strlen(hex) + 1) / 3);                                                               \
    } while (0)

#define CHECK_REFUSED(hex) CHECK_EQUAL(decode(hex), -EILSEQ)

#define SET(gpr)           X86_GPR_BIT(X86_##gpr)

static void prefixes_count_in_any_order(void)
{
    static const char *const orders[] = {"66 f3 0f b8 c1", "f3 66 0f b8 c1", "f3 2e 66 0f b8 c1",
                                         "67 66 3e f3 0f b8 c1"};

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        CHECK_IS(orders[i], "popcnt");
        CHECK_EQUAL(insn.size_index, 0);
        CHECK_EQUAL(insn.gpr_kept, SET(RAX));
    }
}

static void last_repeat_prefix_counts(void)
{
    CHECK_IS("f2 f3 0f 10 c1", "movss");
    CHECK_EQUAL(insn.prefixes, X86_PREFIX_F3);
    CHECK_IS("f3 f2 0f 10 c1", "movsd");
    CHECK_EQUAL(insn.prefixes, X86_PREFIX_F2);
}

static void rex_counts_only_right_before_the_opcode(void)
{
    CHECK_IS("48 89 c8", "mov");
    CHECK_EQUAL(insn.rex, 0x48);
    CHECK_EQUAL(insn.size_index, 2);
    CHECK_IS("48 66 89 c8", "mov");
    CHECK_EQUAL(insn.rex, 0);
    CHECK_EQUAL(insn.size_index, 0);
    CHECK_IS("4f 40 89 c8", "mov");
    CHECK_EQUAL(insn.rex, 0x40);
    CHECK_EQUAL(insn.size_index, 1);
    CHECK_EQUAL(insn.gpr_written, SET(RAX));
    CHECK_IS("48 f3 0f b8 c1", "popcnt");
    CHECK_EQUAL(insn.size_index, 1);
    CHECK_IS("f3 48 0f b8 c1", "popcnt");
    CHECK_EQUAL(insn.size_index, 2);
}

static void rex_w_beats_the_operand_size_prefix(void)
{
    CHECK_IS("66 48 05 44 33 22 91", "add");
    CHECK_EQUAL(insn.size_index, 2);
    CHECK_EQUAL(insn.immediate, 0xffffffff91223344);
    CHECK_IS("66 05 44 93", "add");
    CHECK_EQUAL(insn.immediate_size, 2);
}

static void mandatory_prefix_selects_the_instruction(void)
{
    CHECK_IS("0f 58 c1", "addps");
    CHECK_IS("66 0f 58 c1", "addpd");
    CHECK_IS("f3 0f 58 c1", "addss");
    CHECK_IS("f2 0f 58 c1", "addsd");
    CHECK_IS("90", "nop");
    CHECK_IS("f3 90", "pause");
    CHECK_IS("41 90", "xchg");
    CHECK_IS("f3 0f 1e fa", "endbr64");
    CHECK_REFUSED("f3 0f 54 c1");
}

static void rex_extends_registers(void)
{
    CHECK_IS("4d 8b 7c 24 08", "mov");
    CHECK_EQUAL(insn.reg, X86_R15);
    CHECK_EQUAL(insn.base, X86_R12);
    CHECK_EQUAL(insn.index, X86_GPR_NONE);
    CHECK_EQUAL(insn.displacement, 8);
    CHECK_EQUAL(insn.gpr_read, SET(R12));
    CHECK_EQUAL(insn.gpr_written, SET(R15));
    CHECK_IS("41 57", "push");
    CHECK_EQUAL(insn.gpr_read, SET(R15) | SET(RSP));
    CHECK_IS("49 bf 88 77 66 55 44 33 22 11", "mov");
    CHECK_EQUAL(insn.gpr_written, SET(R15));
    CHECK_EQUAL(insn.immediate, 0x1122334455667788);
    CHECK_EQUAL(insn.immediate_offset, 2);
    CHECK_EQUAL(insn.immediate_size, 8);
}

static void memory_operands_have_base_index_and_displacement(void)
{
    CHECK_IS("8b 44 8b f0", "mov");
    CHECK_EQUAL(insn.is_memory, 1);
    CHECK_EQUAL(insn.base, X86_RBX);
    CHECK_EQUAL(insn.index, X86_RCX);
    CHECK_EQUAL(insn.scale, 4);
    CHECK_EQUAL(insn.displacement, -16);
    CHECK_EQUAL(insn.displacement_offset, 3);
    CHECK_EQUAL(insn.displacement_size, 1);
    CHECK_EQUAL(insn.modrm_offset, 1);
    CHECK_EQUAL(insn.gpr_read, SET(RBX) | SET(RCX));
    CHECK_IS("8b 84 24 00 01 00 00", "mov");
    CHECK_EQUAL(insn.base, X86_RSP);
    CHECK_EQUAL(insn.index, X86_GPR_NONE);
    CHECK_EQUAL(insn.displacement, 256);
    CHECK_IS("42 8b 04 20", "mov");
    CHECK_EQUAL(insn.index, X86_R12);
    CHECK_IS("8b 04 8d 10 00 00 00", "mov");
    CHECK_EQUAL(insn.base, X86_GPR_NONE);
    CHECK_EQUAL(insn.index, X86_RCX);
    CHECK_EQUAL(insn.displacement_size, 4);
    CHECK_IS("41 8b 45 00", "mov");
    CHECK_EQUAL(insn.base, X86_R13);
    CHECK_IS("41 8b 04 25 10 00 00 00", "mov");
    CHECK_EQUAL(insn.base, X86_GPR_NONE);
    CHECK_EQUAL(insn.gpr_read, 0);
    CHECK_EQUAL(insn.properties & X86_PC_RELATIVE, 0);
    CHECK_IS("67 8b 03", "mov");
    CHECK_EQUAL(insn.address_bits, 32);
    CHECK_IS("8b c3", "mov");
    CHECK_EQUAL(insn.is_memory, 0);
    CHECK_EQUAL(insn.rm, X86_RBX);
    CHECK_EQUAL(insn.address_bits, 64);
}

static void pc_relative_operands_have_a_target(void)
{
    CHECK_IS("48 8b 05 10 00 00 00", "mov");
    CHECK(insn.properties & X86_PC_RELATIVE);
    CHECK_EQUAL(insn.target, PC + 7 + 0x10);
    CHECK_EQUAL(insn.base, X86_GPR_NONE);
    CHECK_IS("c7 05 f0 ff ff ff 01 00 00 00", "mov");
    CHECK_EQUAL(insn.target, PC + 10 - 0x10);
    CHECK_EQUAL(insn.immediate, 1);
    CHECK_IS("4d 8d 3d 00 00 00 80", "lea");
    CHECK_EQUAL(insn.target, PC + 7 - 0x80000000u);
    CHECK_IS("67 8b 05 00 10 00 00", "mov");
    CHECK_EQUAL(insn.target, (uint32_t)(PC + 7 + 0x1000));
    CHECK_IS("ff 25 10 00 00 00", "jmp");
    CHECK_EQUAL(insn.flow, X86_FLOW_JUMP_INDIRECT);
    CHECK_EQUAL(insn.target, PC + 6 + 0x10);
    CHECK_IS("62 f1 7c 48 28 05 10 00 00 00", "vmovaps");
    CHECK_EQUAL(insn.target, PC + 10 + 0x10);
    CHECK_IS("c4 e3 f9 16 05 10 00 00 00 01", "vpextrq");
    CHECK_EQUAL(insn.target, PC + 10 + 0x10);
}

static void branches_have_a_flow_and_a_target(void)
{
    static const struct {
        const char *hex;
        unsigned flow;
        uint64_t target;
    } branches[] = {
        {"eb fe", X86_FLOW_JUMP, PC},
        {"e9 00 01 00 00", X86_FLOW_JUMP, PC + 5 + 0x100},
        {"e8 00 ff ff ff", X86_FLOW_CALL, PC + 5 - 0x100},
        {"74 10", X86_FLOW_BRANCH, PC + 2 + 0x10},
        {"0f 8f 00 00 01 00", X86_FLOW_BRANCH, PC + 6 + 0x10000},
        {"e2 f0", X86_FLOW_BRANCH_COUNT, PC + 2 - 0x10},
        {"e0 00", X86_FLOW_BRANCH_COUNT, PC + 2},
        {"e3 00", X86_FLOW_BRANCH_COUNT, PC + 2},
        {"67 e3 00", X86_FLOW_BRANCH_COUNT, PC + 3},
        {"c7 f8 00 01 00 00", X86_FLOW_TRANSACTION, PC + 6 + 0x100},
        {"ff e0", X86_FLOW_JUMP_INDIRECT, 0},
        {"ff d0", X86_FLOW_CALL_INDIRECT, 0},
        {"ff 10", X86_FLOW_CALL_INDIRECT, 0},
        {"ff 18", X86_FLOW_CALL_FAR, 0},
        {"ff 28", X86_FLOW_JUMP_FAR, 0},
        {"c3", X86_FLOW_RETURN, 0},
        {"c2 08 00", X86_FLOW_RETURN, 0},
        {"f3 c3", X86_FLOW_RETURN, 0},
        {"cb", X86_FLOW_RETURN_FAR, 0},
        {"48 cf", X86_FLOW_RETURN_FAR, 0},
        {"0f 05", X86_FLOW_SYSTEM_CALL, 0},
        {"0f 34", X86_FLOW_SYSTEM_CALL, 0},
        {"cd 80", X86_FLOW_SYSTEM_CALL, 0},
        {"cc", X86_FLOW_TRAP, 0},
        {"f1", X86_FLOW_TRAP, 0},
        {"0f 0b", X86_FLOW_TRAP, 0},
        {"0f b9 c0", X86_FLOW_TRAP, 0},
        {"90", X86_FLOW_NEXT, 0},
    };

    for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
        CHECK_EQUAL(decode(branches[i].hex), 0);
        CHECK_EQUAL(insn.flow, branches[i].flow);
        CHECK_EQUAL(insn.target, branches[i].target);
        CHECK_EQUAL(insn.length, (strlen(branches[i].hex) + 1) / 3);
        CHECK_EQUAL(x86_insn_next(&insn).value, PC + insn.length);
    }
}

static void branches_may_be_hinted(void)
{
    CHECK_IS("3e ff e0", "jmp");
    CHECK(insn.properties & X86_BRANCH_HINTED);
    CHECK_IS("f2 e8 00 00 00 00", "call");
    CHECK(insn.properties & X86_BRANCH_HINTED);
    CHECK_IS("2e 74 00", "jz");
    CHECK(insn.properties & X86_BRANCH_HINTED);
    CHECK_IS("74 00", "jz");
    CHECK(!(insn.properties & X86_BRANCH_HINTED));
    CHECK_IS("3e 89 c8", "mov");
    CHECK(!(insn.properties & X86_BRANCH_HINTED));
}

static void vendors_differ_about_near_branches_under_66(void)
{
    CHECK_EQUAL(decode_as(X86_DECODE_INTEL, "66 e9 01 02 03 04"), 0);
    CHECK_EQUAL(insn.length, 6);
    CHECK_EQUAL(insn.target, PC + 6 + 0x04030201);
    CHECK(insn.properties & X86_OPERAND_SIZE_BY_VENDOR);
    CHECK_EQUAL(decode_as(X86_DECODE_AMD, "66 e9 01 02 03 04"), 0);
    CHECK_EQUAL(insn.length, 4);
    CHECK_EQUAL(insn.immediate_size, 2);
    CHECK_EQUAL(insn.target, (uint16_t)(PC + 4 + 0x0201));
    CHECK(insn.properties & X86_OPERAND_SIZE_BY_VENDOR);
    CHECK_EQUAL(decode_as(X86_DECODE_AMD, "66 0f 84 f0 ff"), 0);
    CHECK_EQUAL(insn.length, 5);
    CHECK_EQUAL(insn.target, (uint16_t)(PC + 5 - 0x10));
    CHECK_EQUAL(decode_as(X86_DECODE_AMD, "66 eb 10"), 0);
    CHECK_EQUAL(insn.length, 3);
    CHECK_EQUAL(insn.target, (uint16_t)(PC + 3 + 0x10));
    CHECK_EQUAL(decode_as(X86_DECODE_AMD, "66 48 e9 01 02 03 04"), 0);
    CHECK_EQUAL(insn.target, PC + 7 + 0x04030201);
    CHECK(!(insn.properties & X86_OPERAND_SIZE_BY_VENDOR));
    CHECK_EQUAL(decode_as(X86_DECODE_AMD, "e9 01 02 03 04"), 0);
    CHECK_EQUAL(insn.target, PC + 5 + 0x04030201);
    CHECK_EQUAL(decode_as(X86_DECODE_INTEL, "66 c3"), 0);
    CHECK(insn.properties & X86_OPERAND_SIZE_BY_VENDOR);
    CHECK_EQUAL(decode_as(X86_DECODE_AMD, "66 b8 01 02"), 0);
    CHECK_EQUAL(insn.immediate, 0x0201);
}

static void vex_fields_are_read(void)
{
    CHECK_IS("c5 f8 77", "vzeroupper");
    CHECK_IS("c5 fc 77", "vzeroall");
    CHECK_IS("c5 70 58 c2", "vaddps");
    CHECK_EQUAL(insn.encoding, X86_ENCODING_VEX);
    CHECK_EQUAL(insn.map, X86_MAP_VEX1);
    CHECK_EQUAL(insn.reg, 8);
    CHECK_EQUAL(insn.vvvv, 1);
    CHECK_EQUAL(insn.rm, 2);
    CHECK_EQUAL(insn.size_index, 0);
    CHECK_IS("c4 01 3c 58 04 f8", "vaddps");
    CHECK_EQUAL(insn.size_index, 1);
    CHECK_EQUAL(insn.reg, 8);
    CHECK_EQUAL(insn.vvvv, 8);
    CHECK_EQUAL(insn.base, X86_R8);
    CHECK_EQUAL(insn.index, X86_R15);
    CHECK_EQUAL(insn.scale, 8);
    CHECK_IS("c4 e2 f0 f2 c2", "andn");
    CHECK_EQUAL(insn.gpr_written, SET(RAX));
    CHECK_EQUAL(insn.gpr_read, SET(RCX) | SET(RDX));
    CHECK_EQUAL(insn.insn_class, X86_CLASS_GENERAL);
    CHECK_IS("c4 e3 69 4a cb 40", "vblendvps");
    CHECK_EQUAL(insn.immediate, 0x40);
}

static void vex_fields_can_be_wrong(void)
{
    CHECK_REFUSED("c5 f1 6f c2");    /* vmovdqa has two operands: vvvv must be unused */
    CHECK_REFUSED("c5 f4 16 c2");    /* vmovlhps knows 128 bits only */
    CHECK_REFUSED("c4 e0 78 58 c1"); /* maps that do not exist */
    CHECK_REFUSED("c4 e4 78 58 c1");
    CHECK_REFUSED("c4 e6 78 58 c1");
    CHECK_REFUSED("c4 ff 78 58 c1");
    CHECK_REFUSED("66 c5 f8 58 c1"); /* nothing but 67 and segments may stand before */
    CHECK_REFUSED("f2 c5 f8 58 c1");
    CHECK_REFUSED("f3 c5 f8 58 c1");
    CHECK_REFUSED("f0 c5 f8 58 01");
    CHECK_REFUSED("48 c5 f8 58 c1");
    CHECK_IS("67 64 c5 f8 58 01", "vaddps");
    CHECK_IS("48 64 c5 f8 58 01", "vaddps"); /* that rex does not count */
    CHECK_REFUSED("c4 e2 79 90 04 08");      /* a gather into its own mask */
    CHECK_IS("c4 e2 71 90 04 10", "vpgatherdd");
}

static void evex_fields_are_read(void)
{
    CHECK_IS("62 f1 74 c9 58 c2", "vaddps");
    CHECK_EQUAL(insn.encoding, X86_ENCODING_EVEX);
    CHECK_EQUAL(insn.mask, 1);
    CHECK_EQUAL(insn.zeroing, 1);
    CHECK_EQUAL(insn.size_index, 2);
    CHECK_EQUAL(insn.vvvv, 1);
    CHECK_IS("62 f1 74 28 58 c2", "vaddps");
    CHECK_EQUAL(insn.mask, 0);
    CHECK_EQUAL(insn.size_index, 1);
    CHECK_IS("62 01 04 40 58 ff", "vaddps");
    CHECK_EQUAL(insn.reg, 31);
    CHECK_EQUAL(insn.vvvv, 31);
    CHECK_EQUAL(insn.rm, 31);
    CHECK_IS("62 f1 74 58 58 00", "vaddps");
    CHECK_EQUAL(insn.broadcast, 1);
    CHECK_IS("62 f1 74 78 58 c2", "vaddps");
    CHECK_EQUAL(insn.rounding, 3);
    CHECK_EQUAL(insn.size_index, 2);
    CHECK_IS("62 f2 7d 41 92 04 10", "vgatherdps");
    CHECK_EQUAL(insn.index, 18);
    CHECK(insn.properties & X86_MEMORY_SCATTERED);
    CHECK_EQUAL(insn.gpr_read, SET(RAX));
}

static void evex_fields_can_be_wrong(void)
{
    CHECK_REFUSED("62 f1 74 c8 58 c2"); /* zeroing without a mask */
    CHECK_REFUSED("62 f1 74 68 58 c2"); /* a vector length that does not exist */
    CHECK_REFUSED("62 f1 70 48 58 c2"); /* the fixed bit */
    CHECK_REFUSED("62 f0 74 48 58 c2"); /* maps that do not exist */
    CHECK_REFUSED("62 f4 74 48 58 c2");
    CHECK_REFUSED("62 f7 74 48 58 c2");
    CHECK_REFUSED("62 f9 74 48 58 c2");
    CHECK_REFUSED("48 62 f1 74 48 58 c2");
    CHECK_REFUSED("66 62 f1 74 48 58 c2");
    CHECK_REFUSED("62 f2 7d 48 92 04 10"); /* a gather needs a mask */
    CHECK_REFUSED("62 f1 7c c9 29 00");    /* a store cannot zero */
}

static void short_evex_displacements_count_in_operands(void)
{
    CHECK_IS("62 f1 74 48 58 40 01", "vaddps");
    CHECK_EQUAL(insn.displacement, 64);
    CHECK_EQUAL(insn.displacement_size, 1);
    CHECK_IS("62 f1 74 28 58 40 ff", "vaddps");
    CHECK_EQUAL(insn.displacement, -32);
    CHECK_IS("62 f1 74 08 58 40 80", "vaddps");
    CHECK_EQUAL(insn.displacement, -2048);
    CHECK_IS("62 f1 74 58 58 40 01", "vaddps");
    CHECK_EQUAL(insn.displacement, 4);
    CHECK_IS("62 f1 74 48 58 80 01 00 00 00", "vaddps");
    CHECK_EQUAL(insn.displacement, 1);
    CHECK_IS("62 f1 ff 08 11 40 01", "vmovsd");
    CHECK_EQUAL(insn.displacement, 8);
}

static void other_escapes_are_read(void)
{
    CHECK_IS("0f 0f c1 9e", "pfadd");
    CHECK_EQUAL(insn.encoding, X86_ENCODING_3DNOW);
    CHECK_EQUAL(insn.opcode, 0x9e);
    CHECK_IS("0f 0f 40 10 9e", "pfadd");
    CHECK_EQUAL(insn.displacement, 0x10);
    CHECK_REFUSED("0f 0f c1 00");
    CHECK_IS("0f 38 00 c1", "pshufb");
    CHECK_EQUAL(insn.map, X86_MAP_0F38);
    CHECK_IS("66 0f 3a 0f c1 08", "palignr");
    CHECK_EQUAL(insn.map, X86_MAP_0F3A);
    CHECK_IS("8f c0", "pop");
    CHECK_IS("8f e9 78 81 c1", "vfrczpd");
    CHECK_EQUAL(insn.encoding, X86_ENCODING_XOP);
    CHECK_EQUAL(insn.map, X86_MAP_XOP9);
    CHECK_REFUSED("8f eb 78 80 c1");
    CHECK_REFUSED("66 8f e9 78 81 c1");
}

static void absolute_addresses_have_the_width_of_the_address(void)
{
    CHECK_IS("48 a1 88 77 66 55 44 33 22 91", "mov");
    CHECK_EQUAL(insn.displacement, (int64_t)0x9122334455667788);
    CHECK_EQUAL(insn.displacement_size, 8);
    CHECK_EQUAL(insn.displacement_offset, 2);
    CHECK_EQUAL(insn.immediate_size, 0);
    CHECK(insn.properties & X86_MEMORY_READ);
    CHECK_IS("67 a2 44 33 22 91", "mov");
    CHECK_EQUAL(insn.displacement, 0x91223344);
    CHECK_EQUAL(insn.displacement_size, 4);
    CHECK(insn.properties & X86_MEMORY_WRITE);
}

static void immediates_are_extended_as_the_instruction_says(void)
{
    CHECK_IS("6a ff", "push");
    CHECK_EQUAL(insn.immediate, UINT64_MAX);
    CHECK_IS("83 c0 80", "add");
    CHECK_EQUAL(insn.immediate, (uint64_t)-128);
    CHECK_IS("cd 80", "int");
    CHECK_EQUAL(insn.immediate, 0x80);
    CHECK_IS("c2 f0 ff", "ret");
    CHECK_EQUAL(insn.immediate, 0xfff0);
    CHECK_IS("48 c7 c0 00 00 00 80", "mov");
    CHECK_EQUAL(insn.immediate, 0xffffffff80000000);
}

static void second_immediates_follow_the_first(void)
{
    CHECK_IS("c8 34 12 05", "enter");
    CHECK_EQUAL(insn.immediate, 0x051234);
    CHECK_EQUAL(insn.immediate_size, 2);
    CHECK_IS("f2 0f 78 c1 08 04", "insertq");
    CHECK_EQUAL(insn.immediate, 0x0408);
    CHECK_EQUAL(insn.immediate_size, 1);
}

static void high_bytes_exist_without_rex(void)
{
    CHECK_IS("88 e1", "mov");
    CHECK_EQUAL(insn.gpr_read, SET(RAX));
    CHECK_EQUAL(insn.gpr_written, SET(RCX));
    CHECK_EQUAL(insn.gpr_kept, SET(RCX));
    CHECK_IS("40 88 e1", "mov");
    CHECK_EQUAL(insn.gpr_read, SET(RSP));
    CHECK_IS("b7 01", "mov");
    CHECK_EQUAL(insn.gpr_written, SET(RBX));
    CHECK_IS("40 b7 01", "mov");
    CHECK_EQUAL(insn.gpr_written, SET(RDI));
}

static void kept_says_whose_old_value_may_survive(void)
{
    static const struct {
        const char *hex;
        x86_gpr_set written, kept;
    } writes[] = {
        {"89 c8", SET(RAX), 0}, /* 32 bits clear the upper half */
        {"48 89 c8", SET(RAX), 0},
        {"66 89 c8", SET(RAX), SET(RAX)},
        {"88 c8", SET(RAX), SET(RAX)},
        {"66 b9 01 00", SET(RCX), SET(RCX)},
        {"0f b6 c1", SET(RAX), 0},
        {"0f 94 c0", SET(RAX), SET(RAX)},
        {"0f 44 c1", SET(RAX), SET(RAX)}, /* cmov may do nothing */
        {"0f bc c1", SET(RAX), SET(RAX)}, /* so may bsf */
        {"f3 0f bc c1", SET(RAX), 0},     /* but not tzcnt */
        {"f7 e1", SET(RAX) | SET(RDX), 0},
        {"66 f7 e1", SET(RAX) | SET(RDX), SET(RAX) | SET(RDX)},
        {"f6 e1", SET(RAX), SET(RAX)},
        {"0f a2", SET(RAX) | SET(RBX) | SET(RCX) | SET(RDX), 0},
        {"58", SET(RAX) | SET(RSP), 0},
        {"66 58", SET(RAX) | SET(RSP), SET(RAX)},
    };

    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        CHECK_EQUAL(decode(writes[i].hex), 0);
        CHECK_EQUAL(insn.gpr_written, writes[i].written);
        CHECK_EQUAL(insn.gpr_kept, writes[i].kept);
    }
}

static void shifts_by_zero_keep_the_flags(void)
{
    CHECK_IS("c1 e0 00", "shl");
    CHECK(insn.flags.written != 0);
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
    CHECK_IS("c1 e0 20", "shl");
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
    CHECK_IS("48 c1 e0 20", "shl");
    CHECK_EQUAL(insn.flags.kept, 0);
    CHECK_IS("48 c1 e0 40", "shl");
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
    CHECK_IS("c0 c0 01", "rol");
    CHECK_EQUAL(insn.flags.kept, 0);
    CHECK_IS("d1 e0", "shl");
    CHECK_EQUAL(insn.flags.kept, 0);
    CHECK_IS("d3 e0", "shl");
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
    CHECK_EQUAL(insn.gpr_read & SET(RCX), SET(RCX));
    CHECK_IS("0f a4 c8 00", "shld");
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
}

static void flags_are_told_apart(void)
{
    CHECK_IS("01 c8", "add");
    CHECK_EQUAL(insn.flags.written, X86_FLAGS_STATUS);
    CHECK_EQUAL(insn.flags.read, 0);
    CHECK_IS("11 c8", "adc");
    CHECK_EQUAL(insn.flags.read, X86_FLAG_CF);
    CHECK_IS("ff c0", "inc");
    CHECK_EQUAL(insn.flags.written, X86_FLAGS_STATUS & ~(unsigned)X86_FLAG_CF);
    CHECK_IS("21 c8", "and");
    CHECK_EQUAL(insn.flags.undefined, X86_FLAG_AF);
    CHECK_IS("7f 00", "jnle");
    CHECK_EQUAL(insn.flags.read, X86_FLAG_ZF | X86_FLAG_SF | X86_FLAG_OF);
    CHECK_IS("89 c8", "mov");
    CHECK_EQUAL(insn.flags.written, 0);
    CHECK_IS("fc", "cld");
    CHECK_EQUAL(insn.flags.written, X86_FLAG_DF);
}

static void strings_are_repeated(void)
{
    CHECK_IS("a4", "movsb");
    CHECK(!(insn.properties & X86_REPEATED));
    CHECK_EQUAL(insn.gpr_read & (SET(RSI) | SET(RDI)), SET(RSI) | SET(RDI));
    CHECK_EQUAL(insn.flags.read, X86_FLAG_DF);
    CHECK_IS("f3 a4", "movsb");
    CHECK(insn.properties & X86_REPEATED);
    CHECK_EQUAL(insn.gpr_read, SET(RSI) | SET(RDI) | SET(RCX));
    CHECK_EQUAL(insn.gpr_written, SET(RSI) | SET(RDI) | SET(RCX));
    CHECK_IS("f2 a4", "movsb");
    CHECK(insn.properties & X86_REPEATED);
    CHECK_IS("a6", "cmpsb");
    CHECK_EQUAL(insn.flags.kept, 0);
    CHECK_IS("f3 a6", "cmpsb");
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
    CHECK_IS("f2 ae", "scasb");
    CHECK_EQUAL(insn.flags.kept, insn.flags.written);
    CHECK_IS("f3 89 c8", "mov");
    CHECK(!(insn.properties & X86_REPEATED));
}

static void segments_are_used_where_they_apply(void)
{
    CHECK_IS("64 48 8b 04 25 28 00 00 00", "mov");
    CHECK(insn.properties & X86_SEGMENT_USE);
    CHECK_EQUAL(insn.segment, X86_FS);
    CHECK_IS("64 65 8b 00", "mov");
    CHECK_EQUAL(insn.segment, X86_GS);
    CHECK_IS("64 89 c8", "mov");
    CHECK(!(insn.properties & X86_SEGMENT_USE));
    CHECK_IS("3e 8b 00", "mov");
    CHECK_EQUAL(insn.segment, X86_SEGMENT_NONE);
    CHECK_IS("64 a4", "movsb");
    CHECK(insn.properties & X86_SEGMENT_USE);
    CHECK_IS("64 aa", "stosb");
    CHECK(!(insn.properties & X86_SEGMENT_USE));
    CHECK_IS("64 50", "push");
    CHECK(!(insn.properties & X86_SEGMENT_USE));
    CHECK_IS("65 c5 f8 10 00", "vmovups");
    CHECK(insn.properties & X86_SEGMENT_USE);
    CHECK_IS("8e d8", "mov");
    CHECK(insn.properties & X86_SEGMENT_CHANGE);
    CHECK_IS("8c d8", "mov");
    CHECK(insn.properties & X86_SEGMENT_STORE);
}

static void lock_is_allowed_at_few_memory_destinations(void)
{
    CHECK_IS("f0 01 08", "add");
    CHECK(insn.properties & X86_LOCKED);
    CHECK_IS("f0 48 0f c7 0f", "cmpxchg16b");
    CHECK_IS("f0 0f b1 0e", "cmpxchg");
    CHECK_IS("f0 87 08", "xchg");
    CHECK_IS("f0 0f ab 08", "bts");
    CHECK_REFUSED("f0 01 c8");
    CHECK_REFUSED("f0 03 08");
    CHECK_REFUSED("f0 89 08");
    CHECK_REFUSED("f0 39 08");
    CHECK_REFUSED("f0 90");
    CHECK_REFUSED("f0 a4");
    CHECK_REFUSED("f0 0f a3 08");
}

static void fifteen_bytes_are_the_limit(void)
{
    CHECK_IS("66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", "nop");
    CHECK_REFUSED("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90");
    CHECK_REFUSED("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66");
    CHECK_REFUSED("48 48 48 48 48 48 48 48 48 48 48 48 48 48 48");
    CHECK_EQUAL(decode("66 66 66 66 66 66 66 66 66 66 66 66 66 66"), -ENODATA);
    CHECK_IS("2e 2e 2e 48 c7 84 88 01 00 00 00 02 00 00 00", "mov");
    CHECK_REFUSED("2e 2e 2e 2e 48 c7 84 88 01 00 00 00 02 00 00 00");
    CHECK_IS("48 48 48 48 48 48 b8 01 02 03 04 05 06 07 08", "mov");
    CHECK_REFUSED("48 48 48 48 48 48 48 b8 01 02 03 04 05 06 07 08");
    CHECK_REFUSED("48 48 48 48 48 48 48 48 48 48 81 c0 01 02 03 04");
    /* The last byte that fits is the opcode, and more would have to follow. */
    CHECK_REFUSED("66 66 66 66 66 66 66 66 66 66 66 66 66 66 89");
    CHECK_REFUSED("66 66 66 66 66 66 66 66 66 66 66 66 66 0f 38");
    CHECK_REFUSED("66 66 66 66 66 66 66 66 66 66 66 66 66 66 c4");
}

static void opcodes_that_left_with_32_bits_are_refused(void)
{
    static const char *const opcodes[] = {"06",    "07",    "0e",       "16",       "17",
                                          "1e",    "1f",    "27",       "2f",       "37",
                                          "3f",    "60",    "61",       "82 c0 01", "9a 00 00 00 00 00 00",
                                          "ce",    "d4 0a", "d5 0a",    "d6",       "ea 00 00 00 00 00 00",
                                          "0f 04", "0f 0a", "0f 24 c0", "0f 39 c0"};

    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
        CHECK_REFUSED(opcodes[i]);
}

static void privileged_and_unusual_instructions_are_marked(void)
{
    CHECK_IS("f4", "hlt");
    CHECK(insn.properties & X86_PRIVILEGED);
    CHECK_IS("0f 31", "rdtsc");
    CHECK(insn.properties & X86_UNPREDICTABLE);
    CHECK_IS("d9 30", "fnstenv");
    CHECK(insn.properties & X86_STORES_FPU_PC);
    CHECK_EQUAL(insn.insn_class, X86_CLASS_X87);
    CHECK_IS("89 c8", "mov");
    CHECK_EQUAL(insn.properties, 0);
    CHECK_IS("0f 1f 40 00", "nop");
    CHECK_EQUAL(insn.properties & (X86_MEMORY_READ | X86_MEMORY_WRITE), 0);
    CHECK_IS("48 8d 00", "lea");
    CHECK_EQUAL(insn.properties & (X86_MEMORY_READ | X86_MEMORY_WRITE), 0);
    CHECK_IS("01 08", "add");
    CHECK_EQUAL(insn.properties & (X86_MEMORY_READ | X86_MEMORY_WRITE), X86_MEMORY_READ | X86_MEMORY_WRITE);
}

static void younger_instructions_are_known(void)
{
    CHECK_IS("c4 e2 79 e4 10", "cmpexadd");
    CHECK_IS("0f 38 fc 08", "aadd");
    CHECK_IS("62 f3 77 48 c2 c2 01", "vcmpbf16");
    CHECK_IS("62 f3 77 48 c2 40 01 05", "vcmpbf16");
    CHECK_EQUAL(insn.immediate, 5);
    CHECK_EQUAL(insn.displacement, 64);
    CHECK_IS("f2 48 0f 38 f8 c1", "urdmsr");
}

/* Any shorter piece is too short, wherever it is cut; and nothing behind it is looked at. */
static void check_all_cuts(const uint8_t *bytes, size_t length)
{
    struct x86_insn cut;

    for (size_t available = 0; available < length; available++) {
        const uint8_t *placed = guarded_bytes_put(&guarded, bytes, available);

        CHECK_EQUAL(x86_decode(placed, available, app_pc_of(PC), X86_DECODE_INTEL, &cut), -ENODATA);
    }
}

static void cut_off_instructions_are_told_and_never_overread(void)
{
    struct random random;
    size_t valid = 0;

    random_init(&random, 7);
    for (int i = 0; i < 60000; i++) {
        uint8_t bytes[DECODER_FUZZ_BYTES];
        struct x86_insn whole, exact;

        decoder_fuzz_fill(&random, NULL, bytes);
        memset(&whole, 0, sizeof(whole));
        if (x86_decode(bytes, sizeof(bytes), app_pc_of(PC), X86_DECODE_INTEL, &whole) != 0)
            continue;
        valid++;
        check_all_cuts(bytes, whole.length);
        /* With the last byte it is there, and the same as with more behind it. */
        memset(&exact, 0, sizeof(exact));
        CHECK_EQUAL(x86_decode(guarded_bytes_put(&guarded, bytes, whole.length), whole.length, app_pc_of(PC),
                               X86_DECODE_INTEL, &exact),
                    0);
        CHECK(memcmp(&whole, &exact, sizeof(whole)) == 0);
    }
    CHECK(valid > 10000);
}

/* The longest encodings behind every number of prefixes, with every number of bytes behind them. */
static void nothing_behind_the_readable_bytes_is_read(void)
{
    static const char *const longest[] = {
        "62 f3 7d 48 1f 84 88 01 02 03 04 05",
        "c4 e3 7d 4a 84 88 01 02 03 04 05",
        "8f e8 78 c0 84 88 01 02 03 04 05",
        "8f ea 78 12 84 88 01 02 03 04 05 06 07 08",
        "0f 3a 0f 84 88 01 02 03 04 05",
        "0f 0f 84 88 01 02 03 04 9e",
        "48 b8 01 02 03 04 05 06 07 08",
        "48 a1 01 02 03 04 05 06 07 08",
        "c7 84 88 01 02 03 04 05 06 07 08",
        "69 84 88 01 02 03 04 05 06 07 08",
        "c8 01 02 03",
    };

    for (size_t i = 0; i < sizeof(longest) / sizeof(longest[0]); i++) {
        for (size_t prefixes = 0; prefixes <= 16; prefixes++) {
            uint8_t bytes[64];
            size_t length;
            const uint8_t *body = guarded_bytes_put_hex(&guarded, longest[i], &length);

            memset(bytes, 0x01, sizeof(bytes));
            memset(bytes, 0x2e, prefixes);
            memcpy(bytes + prefixes, body, length);
            for (size_t available = 0; available <= sizeof(bytes); available++) {
                const uint8_t *placed = guarded_bytes_put(&guarded, bytes, available);
                int result = x86_decode(placed, available, app_pc_of(PC), X86_DECODE_INTEL, &insn);

                CHECK(result == 0 ? insn.length <= available : result == -EILSEQ || available < X86_MAX_INSN_BYTES);
            }
        }
    }
}

/* What is refused with more bytes at hand is refused, or not yet known to be, with fewer. */
static void refusal_does_not_depend_on_what_follows(void)
{
    struct random random;

    random_init(&random, 8);
    for (int i = 0; i < 60000; i++) {
        uint8_t bytes[DECODER_FUZZ_BYTES];

        decoder_fuzz_fill(&random, NULL, bytes);
        if (x86_decode(bytes, sizeof(bytes), app_pc_of(PC), X86_DECODE_AMD, &insn) == 0)
            continue;
        for (size_t available = 0; available < sizeof(bytes); available++) {
            const uint8_t *placed = guarded_bytes_put(&guarded, bytes, available);
            int result = x86_decode(placed, available, app_pc_of(PC), X86_DECODE_AMD, &insn);

            CHECK(result == -EILSEQ || (result == -ENODATA && available < X86_MAX_INSN_BYTES));
        }
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(prefixes_count_in_any_order),
    CHECK_CASE(last_repeat_prefix_counts),
    CHECK_CASE(rex_counts_only_right_before_the_opcode),
    CHECK_CASE(rex_w_beats_the_operand_size_prefix),
    CHECK_CASE(mandatory_prefix_selects_the_instruction),
    CHECK_CASE(rex_extends_registers),
    CHECK_CASE(memory_operands_have_base_index_and_displacement),
    CHECK_CASE(pc_relative_operands_have_a_target),
    CHECK_CASE(branches_have_a_flow_and_a_target),
    CHECK_CASE(branches_may_be_hinted),
    CHECK_CASE(vendors_differ_about_near_branches_under_66),
    CHECK_CASE(vex_fields_are_read),
    CHECK_CASE(vex_fields_can_be_wrong),
    CHECK_CASE(evex_fields_are_read),
    CHECK_CASE(evex_fields_can_be_wrong),
    CHECK_CASE(short_evex_displacements_count_in_operands),
    CHECK_CASE(other_escapes_are_read),
    CHECK_CASE(absolute_addresses_have_the_width_of_the_address),
    CHECK_CASE(immediates_are_extended_as_the_instruction_says),
    CHECK_CASE(second_immediates_follow_the_first),
    CHECK_CASE(high_bytes_exist_without_rex),
    CHECK_CASE(kept_says_whose_old_value_may_survive),
    CHECK_CASE(shifts_by_zero_keep_the_flags),
    CHECK_CASE(flags_are_told_apart),
    CHECK_CASE(strings_are_repeated),
    CHECK_CASE(segments_are_used_where_they_apply),
    CHECK_CASE(lock_is_allowed_at_few_memory_destinations),
    CHECK_CASE(fifteen_bytes_are_the_limit),
    CHECK_CASE(opcodes_that_left_with_32_bits_are_refused),
    CHECK_CASE(privileged_and_unusual_instructions_are_marked),
    CHECK_CASE(younger_instructions_are_known),
    CHECK_CASE(cut_off_instructions_are_told_and_never_overread),
    CHECK_CASE(nothing_behind_the_readable_bytes_is_read),
    CHECK_CASE(refusal_does_not_depend_on_what_follows),
};

int main(void)
{
    guarded_bytes_init(&guarded);

    int status = check_run(cases, sizeof(cases) / sizeof(cases[0]));

    guarded_bytes_deinit(&guarded);
    return status;
}
