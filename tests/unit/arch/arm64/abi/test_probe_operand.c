/* SPDX-License-Identifier: MIT */
#include "arch/arm64/abi/probe_operand.h"

#include "elf/probe_operand_text.h"
#include "support/check.h"

static bool is_read(const char *text, struct probe_operand *operand_out)
{
    *operand_out = (struct probe_operand){.size_bytes = 8};
    return arm64_probe_operand_read((struct operand_text){text, strlen(text)}, operand_out);
}

static void registers_and_numbers_are_told_apart(void)
{
    struct probe_operand operand;

    CHECK(is_read("x0", &operand));
    CHECK(operand.kind == PROBE_OPERAND_REGISTER && operand.base == 0);
    CHECK(is_read("w30", &operand));
    CHECK_EQUAL(operand.base, 30);
    CHECK(is_read("sp", &operand));
    CHECK_EQUAL(operand.base, 31);
    CHECK(is_read("-5", &operand));
    CHECK(operand.kind == PROBE_OPERAND_CONSTANT && operand.offset == -5);
    CHECK(is_read("#0x10", &operand));
    CHECK_EQUAL(operand.offset, 16);
    CHECK(is_read("xzr", &operand));
    CHECK(operand.kind == PROBE_OPERAND_CONSTANT && operand.offset == 0);
    CHECK(!is_read("x31", &operand));
    CHECK(!is_read("d0", &operand));
    CHECK(!is_read("x", &operand));
    CHECK(!is_read("", &operand));
}

static void memory_is_in_brackets(void)
{
    struct probe_operand operand;

    CHECK(is_read("[sp, 16]", &operand));
    CHECK(operand.kind == PROBE_OPERAND_MEMORY && operand.base == 31 && operand.offset == 16);
    CHECK_EQUAL(operand.index, PROBE_NO_REGISTER);
    CHECK(is_read("[x0]", &operand));
    CHECK(operand.base == 0 && operand.offset == 0);
    CHECK(is_read("[x1, #-8]", &operand));
    CHECK(operand.base == 1 && operand.offset == -8);
    CHECK(is_read("[x1,x2]", &operand));
    CHECK(operand.index == 2 && operand.shift == 0);
    CHECK(is_read("[x1, x2, lsl 3]", &operand));
    CHECK(operand.index == 2 && operand.shift == 3);
    CHECK(!is_read("[x1, x2, lsl 9]", &operand));
    CHECK(!is_read("[x1, 8, 8]", &operand));
    CHECK(!is_read("[x1", &operand));
    CHECK(!is_read("[", &operand));
    CHECK(!is_read("[]", &operand));
    CHECK(!is_read("[8]", &operand));
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_and_numbers_are_told_apart),
    CHECK_CASE(memory_is_in_brackets),
};

CHECK_MAIN(cases)
