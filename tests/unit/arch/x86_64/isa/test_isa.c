/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include "arch/x86_64/isa/decoder.h"
#include "base/code_writer.h"
#include "base/text_format.h"
#include "support/check.h"

#include <errno.h>

#define FAR_AWAY 0x7f0000000000u

extern const struct arch arch_x86_64;

static struct arch_insn decoded(const char *bytes, size_t size)
{
    struct arch_insn insn = {0};

    CHECK_EQUAL(arch_x86_64.decode((const uint8_t *)bytes, size, app_pc_of(0x1000), X86_DECODE_INTEL, &insn), 0);
    return insn;
}

#define DECODED(bytes) decoded(bytes, sizeof(bytes) - 1)

static void an_instruction_is_told_in_the_contract_s_words(void)
{
    struct arch_insn insn = DECODED("\x48\x8b\x05\x10\x00\x00\x00"); /* mov rax, [rip+0x10] */

    CHECK_EQUAL(insn.memory_address, 0x1017);
    CHECK_EQUAL(insn.target, 0);
    CHECK_EQUAL(insn.properties, ARCH_READS_MEMORY | ARCH_PC_RELATIVE);
    CHECK_EQUAL(insn.registers_written, 1u << X86_RAX);
    CHECK_EQUAL(insn.registers_read, 0);
    CHECK_TEXT(insn.mnemonic, "mov");
    insn = DECODED("\xf0\x48\x01\x0a"); /* lock add [rdx], rcx */
    CHECK_EQUAL(insn.properties, ARCH_READS_MEMORY | ARCH_WRITES_MEMORY | ARCH_ATOMIC);
    CHECK_EQUAL(insn.registers_read, 1u << X86_RDX | 1u << X86_RCX);
    CHECK_EQUAL(insn.flags_written, X86_FLAGS_STATUS);
    insn = DECODED("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"); /* mov rax, fs:[0x28] */
    CHECK(insn.properties & ARCH_THREAD_LOCAL);
}

static void every_kind_of_flow_has_its_word(void)
{
    CHECK_EQUAL(DECODED("\x90").flow, ARCH_FLOW_NEXT);
    CHECK_EQUAL(DECODED("\xeb\x10").flow, ARCH_FLOW_JUMP);
    CHECK_EQUAL(DECODED("\xeb\x10").target, 0x1012);
    CHECK_EQUAL(DECODED("\xff\xe0").flow, ARCH_FLOW_JUMP_INDIRECT);
    CHECK_EQUAL(DECODED("\x74\x10").flow, ARCH_FLOW_BRANCH);
    CHECK_EQUAL(DECODED("\xe2\x10").flow, ARCH_FLOW_BRANCH);
    CHECK_EQUAL(DECODED("\xe8\x00\x00\x00\x00").flow, ARCH_FLOW_CALL);
    CHECK_EQUAL(DECODED("\xff\xd0").flow, ARCH_FLOW_CALL_INDIRECT);
    CHECK_EQUAL(DECODED("\xc3").flow, ARCH_FLOW_RETURN);
    CHECK_EQUAL(DECODED("\x0f\x05").flow, ARCH_FLOW_SYSTEM_CALL);
    CHECK_EQUAL(DECODED("\xcc").flow, ARCH_FLOW_TRAP);
    CHECK_EQUAL(DECODED("\xcb").flow, ARCH_FLOW_OTHER);
}

static void bytes_that_are_no_instruction_are_refused(void)
{
    struct arch_insn insn = {.length = 99};
    struct text_writer text;
    char buffer[64];

    text_init(&text, buffer, sizeof(buffer));
    CHECK_EQUAL(arch_x86_64.decode((const uint8_t *)"\x06\x06", 2, app_pc_of(0), 0, &insn), -EILSEQ);
    CHECK_EQUAL(arch_x86_64.decode((const uint8_t *)"\xe8\x00", 2, app_pc_of(0), 0, &insn), -ENODATA);
    CHECK_EQUAL(arch_x86_64.decode((const uint8_t *)"", 0, app_pc_of(0), 0, &insn), -ENODATA);
    CHECK_EQUAL(insn.length, 99);
    CHECK_EQUAL(arch_x86_64.format((const uint8_t *)"\x06\x06", 2, app_pc_of(0), 0, &text), -EILSEQ);
    CHECK_TEXT(buffer, "");
    CHECK_EQUAL(arch_x86_64.format((const uint8_t *)"\xc3", 1, app_pc_of(0), 0, &text), 0);
    CHECK_TEXT(buffer, "ret");
    CHECK_TEXT(arch_x86_64.register_name(7), "rdi");
}

/* lea rax, [rip+0x100]; ret */
static const uint8_t lea_and_return[] = {0x48, 0x8d, 0x05, 0x00, 0x01, 0x00, 0x00, 0xc3};

static int relocated(size_t room, size_t storage_bytes, uint64_t *storage, struct arch_copy_extent *extent_out)
{
    struct arch_relocation relocation = {
        .bytes = lea_and_return, .size_bytes = sizeof(lea_and_return), .start = app_pc_of(0x1000)};
    static uint8_t code[256];
    struct code_writer writer;

    code_writer_init(&writer, code, room, cache_pc_of(FAR_AWAY));
    return arch_x86_64.relocate(&relocation, &writer, storage, storage_bytes, extent_out);
}

static void a_copy_leads_back_to_its_original(void)
{
    static uint64_t storage[512];
    struct arch_copy_extent extent = {0};
    struct cache_pc copy = cache_pc_of(0);
    struct app_pc original = app_pc_of(0);

    CHECK_EQUAL(relocated(256, sizeof(storage), storage, &extent), 0);
    CHECK(extent.code_bytes > 0 && extent.code_bytes <= extent.total_bytes);
    CHECK_EQUAL(arch_x86_64.find_copy(storage, app_pc_of(0x1007), &copy), 0);
    CHECK_EQUAL(arch_x86_64.find_original(storage, copy, &original), 0);
    CHECK_EQUAL(original.value, 0x1007);
    CHECK_EQUAL(arch_x86_64.find_copy(storage, app_pc_of(0x1001), &copy), -ENOENT);
    CHECK_EQUAL(arch_x86_64.find_copy(storage, app_pc_of(0x2000), &copy), -ENOENT);
}

static void too_little_room_is_told_apart(void)
{
    static uint64_t storage[512];
    struct arch_copy_extent extent = {0};

    CHECK_EQUAL(relocated(4, sizeof(storage), storage, &extent), -ENOSPC);
    CHECK_EQUAL(relocated(256, 8, storage, &extent), -E2BIG);
    CHECK_EQUAL(relocated(256, 0, storage, &extent), -E2BIG);
    CHECK_EQUAL(extent.total_bytes, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(an_instruction_is_told_in_the_contract_s_words),
    CHECK_CASE(every_kind_of_flow_has_its_word),
    CHECK_CASE(bytes_that_are_no_instruction_are_refused),
    CHECK_CASE(a_copy_leads_back_to_its_original),
    CHECK_CASE(too_little_room_is_told_apart),
};

CHECK_MAIN(cases)
