/* SPDX-License-Identifier: MIT */
#include "elf/probe_arguments.h"

#include "arch/abi.h"
#include "elf/elf_memory.h"
#include "support/check.h"
#include "support/random.h"

#include <elf.h>

static uint64_t registers[16];
static uint64_t stack[4] = {0x1122334455667788, 0xfffffffffffffffe, 3, 4};

static bool read_memory(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    uint64_t start = (uintptr_t)stack;

    (void)context;
    if (address < start || address - start > sizeof(stack) - size_bytes)
        return false;
    memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

static const struct elf_memory memory = {.read = read_memory};

static struct probe_arguments parse(const char *text)
{
    struct probe_arguments arguments;

    probe_arguments_parse(text, strlen(text), abi_probe_operands(EM_X86_64), &arguments);
    return arguments;
}

/* The value of the only argument; 0xbad: it cannot be had. */
static uint64_t value_of(const char *text)
{
    const struct probe_arguments arguments = parse(text);
    uint64_t value = 0xbad;

    CHECK_EQUAL(arguments.count, 1);
    (void)probe_operand_evaluate(&arguments.operands[0], (struct probe_registers){registers, 16}, &memory, &value);
    return value;
}

static void texts_become_operands(void)
{
    const struct probe_arguments arguments = parse("-4@%eax 8@-16(%rbp)  1@$5 8f@%xmm0");

    CHECK_EQUAL(arguments.count, 4);
    CHECK(!arguments.is_partial);
    CHECK_EQUAL(arguments.operands[0].kind, PROBE_OPERAND_REGISTER);
    CHECK_EQUAL(arguments.operands[0].size_bytes, 4);
    CHECK(arguments.operands[0].is_signed);
    CHECK_EQUAL(arguments.operands[1].kind, PROBE_OPERAND_MEMORY);
    CHECK_EQUAL(arguments.operands[1].offset, -16);
    CHECK_EQUAL(arguments.operands[2].kind, PROBE_OPERAND_CONSTANT);
    CHECK_EQUAL(arguments.operands[3].kind, PROBE_OPERAND_UNKNOWN);
    CHECK_EQUAL(arguments.operands[3].size_bytes, 8);
    CHECK(arguments.operands[3].is_real);
    CHECK_EQUAL(parse("").count, 0);
    CHECK_EQUAL(parse("   ").count, 0);
}

static void values_have_their_sizes_and_signs(void)
{
    registers[0] = 0xffffffff80000001;
    registers[6] = 0x1ff;
    CHECK_EQUAL(value_of("-4@%eax"), (uint64_t)(int32_t)0x80000001);
    CHECK_EQUAL(value_of("4@%eax"), 0x80000001);
    CHECK_EQUAL(value_of("8@%rax"), 0xffffffff80000001);
    CHECK_EQUAL(value_of("-1@%sil"), UINT64_MAX);
    CHECK_EQUAL(value_of("1@%sil"), 0xff);
    CHECK_EQUAL(value_of("2@%si"), 0x1ff);
    CHECK_EQUAL(value_of("-4@$-3"), (uint64_t)-3);
    CHECK_EQUAL(value_of("1@$300"), 44);
    CHECK_EQUAL(value_of("%rax"), 0xffffffff80000001);
}

static void memory_is_read_by_whom_is_asked(void)
{
    registers[5] = (uintptr_t)stack + 16;
    registers[0] = (uintptr_t)stack;
    registers[3] = 1;
    CHECK_EQUAL(value_of("8@-16(%rbp)"), stack[0]);
    CHECK_EQUAL(value_of("4@-16(%rbp)"), 0x55667788);
    CHECK_EQUAL(value_of("-8@-8(%rbp)"), (uint64_t)-2);
    CHECK_EQUAL(value_of("8@(%rax,%rbx,8)"), stack[1]);
    CHECK_EQUAL(value_of("1@1(%rax,%rbx)"), 0x66);
    CHECK_EQUAL(value_of("8@0x1000(%rbp)"), 0xbad);
}

static void symbols_are_found_by_others(void)
{
    struct probe_arguments arguments = parse("8@counter+8(%rip)");
    struct probe_operand *operand = &arguments.operands[0];
    uint64_t value = 0;

    CHECK_EQUAL(operand->kind, PROBE_OPERAND_SYMBOL);
    CHECK(operand->symbol_length == 7 && memcmp(operand->symbol, "counter", 7) == 0);
    CHECK(!probe_operand_evaluate(operand, (struct probe_registers){registers, 16}, &memory, &value));
    probe_operand_resolve(operand, 0x100);
    probe_operand_move(operand, (uintptr_t)stack - 0x100);
    CHECK(probe_operand_evaluate(operand, (struct probe_registers){registers, 16}, &memory, &value));
    CHECK_EQUAL(value, stack[1]);
}

static void registers_that_are_not_there_are_not_read(void)
{
    const struct probe_arguments arguments = parse("8@%r15 8@(%r15) 8@(,%r15,8)");
    uint64_t value;

    for (uint32_t i = 0; i < 3; i++)
        CHECK(
            !probe_operand_evaluate(&arguments.operands[i], (struct probe_registers){registers, 15}, &memory, &value));
}

static void too_many_are_told(void)
{
    const struct probe_arguments arguments =
        parse("1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13");

    CHECK_EQUAL(arguments.count, PROBE_ARGUMENTS_MAX);
    CHECK(arguments.is_partial);
    CHECK_EQUAL(arguments.operands[11].offset, 12);
}

static void other_machines_have_arguments_of_which_nothing_is_known(void)
{
    struct probe_arguments arguments;

    probe_arguments_parse("8@x0 -4@[sp, 16]", 16, abi_probe_operands(EM_AARCH64), &arguments);
    CHECK_EQUAL(arguments.count, 2);
    CHECK_EQUAL(arguments.operands[1].kind, PROBE_OPERAND_MEMORY);
    CHECK_EQUAL(arguments.operands[1].offset, 16);
    probe_arguments_parse("8@r0", 4, abi_probe_operands(EM_S390), &arguments);
    CHECK_EQUAL(arguments.count, 1);
    CHECK_EQUAL(arguments.operands[0].kind, PROBE_OPERAND_UNKNOWN);
}

static void what_is_wrong_is_not_known(void)
{
    static const char *const texts[] = {"3@%eax",
                                        "@%eax",
                                        "-@%eax",
                                        "9999999999999999999999@%rax",
                                        "8@",
                                        "8@%",
                                        "8@%zax",
                                        "8@(",
                                        "8@()",
                                        "8@(%eax)",
                                        "8@)",
                                        "8@a-b(%rip)",
                                        "8@(%rip)",
                                        "8@%fs:8",
                                        "8@(%rax,%rbx,3)"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (value_of(texts[i]) != 0xbad && parse(texts[i]).operands[0].kind != PROBE_OPERAND_UNKNOWN)
            CHECK_TEXT(texts[i], "not understood");
}

/* Whatever it is, nothing outside of it is read; sanitizers see. */
static void any_text_can_be_given(void)
{
    static const char letters[] = "0123456789@%$()[],-+. axbrspilwzf#";
    struct random random;
    struct probe_arguments arguments;
    uint64_t value;

    random_init(&random, 7);
    for (unsigned i = 0; i < 200000; i++) {
        size_t length = random_below(&random, 24);
        char *text = malloc(length + 1);

        for (size_t j = 0; j < length; j++)
            text[j] = letters[random_below(&random, sizeof(letters) - 1)];
        probe_arguments_parse(text, length, abi_probe_operands(i % 2 == 0 ? EM_X86_64 : EM_AARCH64), &arguments);
        CHECK(arguments.count <= PROBE_ARGUMENTS_MAX);
        for (uint32_t j = 0; j < arguments.count; j++)
            (void)probe_operand_evaluate(&arguments.operands[j], (struct probe_registers){registers, 16}, &memory,
                                         &value);
        free(text);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(texts_become_operands),
    CHECK_CASE(values_have_their_sizes_and_signs),
    CHECK_CASE(memory_is_read_by_whom_is_asked),
    CHECK_CASE(symbols_are_found_by_others),
    CHECK_CASE(registers_that_are_not_there_are_not_read),
    CHECK_CASE(too_many_are_told),
    CHECK_CASE(other_machines_have_arguments_of_which_nothing_is_known),
    CHECK_CASE(what_is_wrong_is_not_known),
    CHECK_CASE(any_text_can_be_given),
};

CHECK_MAIN(cases)
