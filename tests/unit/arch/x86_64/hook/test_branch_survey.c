/* SPDX-License-Identifier: MIT */
#include "arch/engine.h"
#include "arch/x86_64/hook/branch_survey.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/planned_code.h"

#define FUNCTION_BYTES 64

static struct planned_code code;

/* A function of no-operations and, at its start, some bytes. */
static struct elf_function *add_long(const char *name, const void *bytes, size_t size_bytes)
{
    struct elf_function *function = planned_code_add(&code, name, bytes, size_bytes);

    planned_code_fill(&code, 0x90, FUNCTION_BYTES - size_bytes);
    function->size_bytes = FUNCTION_BYTES;
    return function;
}

static bool is_taken(uint64_t address)
{
    return hook_planner_is_taken(&code.planner, address, address + 1);
}

/* Only those of [0, FUNCTION_BYTES) are taken, which end with a number that is too large. */
static void check_taken(const struct elf_function *function, const unsigned *offsets)
{
    for (unsigned i = 1; i < FUNCTION_BYTES; i++) {
        bool is_expected = i == *offsets;

        offsets += is_expected;
        if (is_taken(function->start + i) != is_expected)
            printf("byte %u is %staken\n", i, is_expected ? "not " : "");
        CHECK_EQUAL(is_taken(function->start + i), is_expected);
    }
}

static void direct_branches_lead_somewhere(void)
{
    /* je +0; jmp; call; loop; jrcxz; xbegin; a long je */
    static const char bytes[] = "\x74\x20\xeb\x20\xe8\x20\x00\x00\x00\xe2\x1a\xe3\x19\xc7\xf8\x19\x00\x00\x00"
                                "\x0f\x84\x18\x00\x00\x00";
    static const unsigned offsets[] = {0x22, 0x24, 0x25, 0x26, 0x29, 0x2c, 0x31, 99};
    const struct elf_function *function;

    planned_code_init(&code);
    function = add_long("branches", bytes, sizeof(bytes) - 1);
    planned_code_survey(&code);
    check_taken(function, offsets);
    planned_code_deinit(&code);
}

static void addresses_that_are_computed_count(void)
{
    /* lea rax, [rip + 16]; mov ecx, address of code; mov rax, [rip + 9] */
    static const char bytes[] = "\x48\x8d\x05\x10\x00\x00\x00\xb9\x30\x10\x40\x00\x48\x8b\x05\x09\x00\x00\x00";
    static const unsigned offsets[] = {0x17, 0x1c, 0x30, 99};
    const struct elf_function *function;

    planned_code_init(&code);
    function = add_long("pointers", bytes, sizeof(bytes) - 1);
    planned_code_survey(&code);
    check_taken(function, offsets);
    planned_code_deinit(&code);
}

static void put_distance(size_t which, uint64_t target)
{
    int32_t distance = (int32_t)(target - PLANNED_DATA);

    memcpy(code.data + which * sizeof(distance), &distance, sizeof(distance));
}

static void put_pointer(size_t which, uint64_t target)
{
    memcpy(code.data + which * sizeof(target), &target, sizeof(target));
}

static void tables_of_distances_are_read(void)
{
    /* cmp edi, 3; ja; lea rdx, [rip + table]; movsxd rax, [rdx + rdi * 4]; add rax, rdx; jmp rax */
    static const char bytes[] = "\x83\xff\x03\x77\x30\x48\x8d\x15\xf4\xef\x0f\x00\x48\x63\x04\xba\x48\x01\xd0\xff\xe0";
    static const unsigned offsets[] = {0x20, 0x28, 0x30, 0x35, 99};
    const struct elf_function *function, *part, *other;

    planned_code_init(&code);
    function = add_long("switch", bytes, sizeof(bytes) - 1);
    part = add_long(NULL, "", 0);
    other = add_long("other", "", 0);
    put_distance(0, function->start + 0x20);
    put_distance(1, function->start + 0x28);
    /* A part without a name, believed in as far as the number of cases goes. */
    put_distance(2, part->start);
    put_distance(3, function->start + 0x30);
    put_distance(4, part->start + 8);
    put_distance(5, function->start + 0x38);
    planned_code_survey(&code);
    check_taken(function, offsets);
    CHECK(hook_planner_is_part(&code.planner, part));
    CHECK(!hook_planner_is_part(&code.planner, other));
    CHECK(!is_taken(part->start + 8));
    planned_code_deinit(&code);
}

static void tables_of_pointers_are_read(void)
{
    /* jmp [rdi * 8 + table], which a program has that stays at its address */
    static const char fixed[] = "\xff\x24\xfd\x00\x00\x50\x00";
    /* lea rdx, [rip + table]; jmp [rdx + rdi * 8], of labels whose addresses are taken */
    static const char moving[] = "\x48\x8d\x15\xf9\xef\x0f\x00\xff\x24\xfa";
    static const unsigned offsets[] = {0x20, 0x28, 99};

    for (unsigned is_moving = 0; is_moving < 2; is_moving++) {
        uint64_t bias = is_moving ? 0x7f0000000000 : 0;
        const struct elf_function *function;

        planned_code_init(&code);
        function =
            is_moving ? add_long("moving", moving, sizeof(moving) - 1) : add_long("fixed", fixed, sizeof(fixed) - 1);
        add_long("other", "", 0);
        put_pointer(0, bias + function->start + 0x20);
        put_pointer(1, bias + function->start + 0x28);
        put_pointer(2, bias + function->start + FUNCTION_BYTES);
        put_pointer(3, bias + function->start + 0x30);
        code.module.load_bias = bias;
        planned_code_survey(&code);
        check_taken(function, offsets);
        planned_code_deinit(&code);
    }
}

static void tables_are_read_only_so_far(void)
{
    /* A hundred times the address of a table that is as large as the data. */
    static const char bytes[] = "\x48\x8d\x15\xf9\xef\x0f\x00";
    const struct elf_function *function;

    planned_code_init(&code);
    function = add_long("switch", bytes, sizeof(bytes) - 1);
    for (unsigned i = 0; i < sizeof(code.data) / 4; i++)
        put_distance(i, function->start + 0x20);
    planned_code_survey(&code);
    CHECK_EQUAL(code.planner.table_budget, 16 * code.code_bytes - sizeof(code.data) / 4);
    code.planner.table_budget = 3;
    code.planner.machine->survey(&code.planner,
                                 &(struct hook_code){code.code, PLANNED_CODE, PLANNED_CODE + 64, PLANNED_CODE + 64});
    CHECK_EQUAL(code.planner.table_budget, 0);
    planned_code_deinit(&code);
}

/* A nameless piece and what others do with it: `bytes` are those of a function with a name, in front of it. */
static bool is_part(const void *bytes, size_t size_bytes)
{
    const struct elf_function *piece;
    bool result;

    planned_code_init(&code);
    add_long("function", bytes, size_bytes);
    piece = add_long(NULL, "\x31\xc0\xc3", 3);
    planned_code_survey(&code);
    result = hook_planner_is_part(&code.planner, piece);
    planned_code_deinit(&code);
    return result;
}

static void pieces_that_are_branched_to_are_parts(void)
{
    CHECK(is_part("\x0f\x84\x3a\x00\x00\x00\xc3", 7));                               /* je */
    CHECK(!is_part("\x0f\x84\x39\x00\x00\x00\xc3", 7));                              /* je, to the byte before it */
    CHECK(!is_part("\xe9\x3b\x00\x00\x00", 5));                                      /* jmp: a call at the end */
    CHECK(!is_part("\xe8\x3b\x00\x00\x00\xc3", 6));                                  /* call */
    CHECK(!is_part("\x0f\x84\x3a\x00\x00\x00\xe8\x35\x00\x00\x00\xc3", 12));         /* je and call */
    CHECK(!is_part("\x0f\x84\x3a\x00\x00\x00\x48\x8d\x05\x33\x00\x00\x00\xc3", 14)); /* je, and lea of its address */
}

static void instructions_may_reach_over_a_label(void)
{
    struct elf_function *label;

    planned_code_init(&code);
    /* A long je that has a label in its middle. */
    PLANNED_ADD(&code, "second", "\x90\x0f");
    label = PLANNED_ADD(&code, "label", "\x84\x20\x00\x00\x00\xc3");
    planned_code_fill(&code, 0x90, 64);
    label->size_bytes = 0;
    label->is_label = true;
    planned_code_survey(&code);
    CHECK(is_taken(label->start + 5 + 0x20));
    planned_code_deinit(&code);
}

static void data_in_code_puts_nobody_out_of_step(void)
{
    const struct elf_function *function;

    planned_code_init(&code);
    PLANNED_ADD(&code, "first", "\xc3");
    /* The beginning of a long instruction, of which the next function's bytes would be the rest. */
    PLANNED_PUT(&code, "\x06\x06\x48\xb8");
    function = add_long("second", "\xeb\x10", 2);
    planned_code_survey(&code);
    CHECK(is_taken(function->start));
    CHECK(is_taken(function->start + 0x12));
    planned_code_deinit(&code);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(direct_branches_lead_somewhere),      CHECK_CASE(addresses_that_are_computed_count),
        CHECK_CASE(tables_of_distances_are_read),        CHECK_CASE(tables_of_pointers_are_read),
        CHECK_CASE(tables_are_read_only_so_far),         CHECK_CASE(pieces_that_are_branched_to_are_parts),
        CHECK_CASE(instructions_may_reach_over_a_label), CHECK_CASE(data_in_code_puts_nobody_out_of_step),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
