/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/abi/probe_operand.h"

#include "elf/probe_operand_text.h"
#include "support/check.h"

static bool is_read(const char *text, struct probe_operand *operand_out)
{
    *operand_out = (struct probe_operand){.size_bytes = 8};
    return x86_probe_operand_read((struct operand_text){text, strlen(text)}, operand_out);
}

static void registers_have_names_of_all_sizes(void)
{
    static const struct {
        const char *text;
        unsigned number, shift;
    } known[] = {{"%rax", 0, 0},   {"%eax", 0, 0},  {"%ax", 0, 0},    {"%al", 0, 0},    {"%ah", 0, 8},
                 {"%rcx", 1, 0},   {"%ch", 1, 8},   {"%rdx", 2, 0},   {"%dh", 2, 8},    {"%ebx", 3, 0},
                 {"%bh", 3, 8},    {"%rsp", 4, 0},  {"%spl", 4, 0},   {"%ebp", 5, 0},   {"%si", 6, 0},
                 {"%sil", 6, 0},   {"%rdi", 7, 0},  {"%r8", 8, 0},    {"%r9d", 9, 0},   {"%r10w", 10, 0},
                 {"%r11b", 11, 0}, {"%r12", 12, 0}, {"%r13d", 13, 0}, {"%r14w", 14, 0}, {"%r15b", 15, 0}};
    struct probe_operand operand;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        CHECK(is_read(known[i].text, &operand));
        CHECK_EQUAL(operand.kind, PROBE_OPERAND_REGISTER);
        CHECK_EQUAL(operand.base, known[i].number);
        CHECK_EQUAL(operand.shift, known[i].shift);
    }
    CHECK(!is_read("%r16", &operand));
    CHECK(!is_read("%ra", &operand));
    CHECK(!is_read("%raxx", &operand));
    CHECK(!is_read("%xmm0", &operand));
    CHECK(!is_read("%", &operand));
}

static void addresses_have_up_to_three_parts(void)
{
    struct probe_operand operand;

    CHECK(is_read("-16(%rbp)", &operand));
    CHECK_EQUAL(operand.kind, PROBE_OPERAND_MEMORY);
    CHECK_EQUAL(operand.base, 5);
    CHECK_EQUAL(operand.index, PROBE_NO_REGISTER);
    CHECK_EQUAL(operand.offset, -16);
    CHECK(is_read("0x20(%rax,%rbx,4)", &operand));
    CHECK(operand.base == 0 && operand.index == 3 && operand.shift == 2 && operand.offset == 0x20);
    CHECK(is_read("(,%r12,8)", &operand));
    CHECK(operand.base == PROBE_NO_REGISTER && operand.index == 12 && operand.shift == 3);
    CHECK(is_read("8+4(%rsp)", &operand));
    CHECK_EQUAL(operand.offset, 12);
    CHECK(is_read("4096", &operand));
    CHECK(operand.kind == PROBE_OPERAND_MEMORY && operand.base == PROBE_NO_REGISTER && operand.offset == 4096);
    CHECK(!operand.is_relative);
}

static void symbols_are_kept(void)
{
    struct probe_operand operand;

    CHECK(is_read("NBuffers(%rip)", &operand));
    CHECK_EQUAL(operand.kind, PROBE_OPERAND_SYMBOL);
    CHECK(operand.symbol_length == 8 && operand.is_relative && operand.base == PROBE_NO_REGISTER);
    CHECK(is_read("table+8(%rip)", &operand));
    CHECK(operand.symbol_length == 5 && operand.offset == 8);
    CHECK(is_read("8+table(%rip)", &operand));
    CHECK(operand.symbol_length == 5 && operand.offset == 8);
    CHECK(is_read("table-8(,%rcx,8)", &operand));
    CHECK(operand.kind == PROBE_OPERAND_SYMBOL && operand.index == 1 && operand.offset == -8);
    CHECK(!is_read("a+b(%rip)", &operand));
    CHECK(!is_read("-a(%rip)", &operand));
    CHECK(!is_read("(%rip)", &operand));
    CHECK(!is_read("a(%rip,%rax)", &operand));
}

static void what_is_not_whole_is_not_read(void)
{
    static const char *const texts[] = {
        "",  "(",  "()x", "(%rax", "%rax)", "(%eax)", "(%rax,)", "(%rax,%rbx,)", "(%rax,%rbx,5)", "(%rax,%rip)",
        "$", "$x", "+",   "-",     "1+",    "%fs:8",  "(%rax)8"};
    struct probe_operand operand;
    size_t allowed = 0;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        allowed += is_read(texts[i], &operand);
    /* A comma with nothing behind it means no index, or no scale. */
    CHECK_EQUAL(allowed, 2);
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_have_names_of_all_sizes),
    CHECK_CASE(addresses_have_up_to_three_parts),
    CHECK_CASE(symbols_are_kept),
    CHECK_CASE(what_is_not_whole_is_not_read),
};

CHECK_MAIN(cases)
