/* SPDX-License-Identifier: MIT */
#include "arch/perf_registers.h"

#include "support/check.h"

static const char *argument(size_t which)
{
    const struct perf_registers *registers = perf_registers_host();

    return registers->all[registers->arguments[which]].name;
}

static void arguments_are_those_of_the_calling_convention(void)
{
    static const char *const expected[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};

    CHECK_EQUAL(perf_registers_host()->argument_count, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_TEXT(argument(i), expected[i]);
    CHECK_TEXT(perf_registers_host()->all[perf_registers_host()->result].name, "rax");
}

static void numbers_are_their_own(void)
{
    const struct perf_registers *registers = perf_registers_host();
    uint64_t numbers = 0, offsets = 0;

    for (size_t i = 0; i < registers->count; i++) {
        numbers |= 1ull << registers->all[i].perf_number;
        offsets |= 1ull << registers->all[i].saved_offset / 8;
    }
    CHECK_EQUAL(__builtin_popcountll(numbers), registers->count);
    CHECK_EQUAL(__builtin_popcountll(offsets), registers->count);
}

static const struct check_case cases[] = {
    CHECK_CASE(arguments_are_those_of_the_calling_convention),
    CHECK_CASE(numbers_are_their_own),
};

CHECK_MAIN(cases)
