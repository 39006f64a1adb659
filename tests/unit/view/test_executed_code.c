/* SPDX-License-Identifier: MIT */
#include "view/executed_code.h"

#include "support/check.h"
#include "support/coverage_lab.h"

static struct coverage_lab lab;
static struct executed_code code;

static const struct executed *find(enum executed_kind kind, uint64_t address, uint64_t size_bytes)
{
    static const struct executed none = {.count = UINT64_MAX};

    for (size_t i = 0; i < code.count; i++)
        if (code.executed[i].kind == kind && code.executed[i].address == address &&
            code.executed[i].size_bytes == size_bytes)
            return &code.executed[i];
    return &none;
}

static uint64_t address_of(int (*function)(int))
{
    return (uint64_t)(uintptr_t)function;
}

static void read_lab(enum coverage_lab_events events)
{
    coverage_lab_init(&lab, events);
    CHECK_EQUAL(executed_code_read(&code, &lab.trace, NULL, NULL), 0);
}

static void end(void)
{
    executed_code_deinit(&code);
    coverage_lab_deinit(&lab);
}

static void blocks_are_counted(void)
{
    read_lab(COVERAGE_LAB_BLOCKS);
    CHECK_EQUAL(code.count, 2);
    CHECK_EQUAL(find(EXECUTED_BLOCK, address_of(coverage_lab_ran), 8)->count, 3);
    CHECK_EQUAL(find(EXECUTED_BLOCK, address_of(coverage_lab_ran) + 4, 8)->count, 2);
    CHECK(code.executed[0].module == &lab.trace.processes[0].modules.modules[0]);
    CHECK(code.has_blocks && !code.has_insns && !code.has_functions && !code.is_of_hooks);
    end();
}

/* Events of instructions do not tell their length. */
static void instructions_have_the_length_that_blocks_know(void)
{
    read_lab(COVERAGE_LAB_INSNS);
    CHECK_EQUAL(code.count, 6);
    CHECK_EQUAL(find(EXECUTED_INSN, address_of(coverage_lab_ran), 1)->count, 3);
    CHECK_EQUAL(find(EXECUTED_INSN, address_of(coverage_lab_ran) + 1, 2)->count, 3);
    CHECK_EQUAL(find(EXECUTED_INSN, address_of(coverage_lab_ran) + 3, 5)->count, 3);
    CHECK_EQUAL(find(EXECUTED_INSN, address_of(coverage_lab_ran) + 7, 5)->count, 2);
    CHECK(code.has_blocks && code.has_insns);
    end();
}

static void functions_are_counted_by_calls(void)
{
    read_lab(COVERAGE_LAB_CALLS);
    CHECK_EQUAL(code.count, 3);
    CHECK_EQUAL(find(EXECUTED_FUNCTION, address_of(coverage_lab_called), 0)->count, 2);
    CHECK_EQUAL(find(EXECUTED_FUNCTION, address_of(coverage_lab_ran), 0)->count, 2);
    CHECK_EQUAL(find(EXECUTED_FUNCTION, 0x10000, 0)->count, 1);
    CHECK(find(EXECUTED_FUNCTION, 0x10000, 0)->module == NULL);
    CHECK(code.has_functions && !code.has_blocks && !code.is_of_hooks);
    end();
}

static void hooked_functions_are_there_also_if_they_never_ran(void)
{
    read_lab(COVERAGE_LAB_HOOKS);
    CHECK_EQUAL(code.count, 3);
    CHECK_EQUAL(find(EXECUTED_FUNCTION, address_of(coverage_lab_called), 0)->count, 2);
    CHECK_EQUAL(find(EXECUTED_FUNCTION, address_of(coverage_lab_missed), 0)->count, 0);
    CHECK(code.has_functions && code.is_of_hooks);
    end();
}

static void only_what_is_chosen_counts(void)
{
    const size_t threads[] = {0};
    struct executed_choice choice = {threads, 1, 1200, 1350};

    /* The recording begins at 1000: of five blocks, those at 2200 and 2300 are in time. */
    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    CHECK_EQUAL(executed_code_read(&code, &lab.trace, &choice, NULL), 0);
    CHECK_EQUAL(find(EXECUTED_BLOCK, address_of(coverage_lab_ran), 8)->count, 1);
    CHECK_EQUAL(find(EXECUTED_BLOCK, address_of(coverage_lab_ran) + 4, 8)->count, 1);
    executed_code_deinit(&code);
    choice.thread_count = 0;
    CHECK_EQUAL(executed_code_read(&code, &lab.trace, &choice, NULL), 0);
    CHECK_EQUAL(code.count, 0);
    end();
}

static void what_is_cut_off_is_told(void)
{
    struct gait_error err = {.code = 0};
    size_t size_bytes;
    uint8_t *bytes;

    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    bytes = trace_folder_read(&lab.folder, "100/100.1.index.gait", &size_bytes);
    trace_folder_write(&lab.folder, "100/100.1.index.gait", bytes, size_bytes - 8);
    free(bytes);
    CHECK(executed_code_read(&code, &lab.trace, NULL, &err) < 0);
    CHECK(strstr(err.text, "100.1.index.gait") != NULL);
    /* What was before is there. */
    CHECK_EQUAL(code.count, 2);
    executed_code_deinit(&code);
    trace_folder_write(&lab.folder, "100/100.1.index.gait", "?", 1);
    CHECK(executed_code_read(&code, &lab.trace, NULL, &err) < 0);
    CHECK_EQUAL(code.count, 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_are_counted),
    CHECK_CASE(instructions_have_the_length_that_blocks_know),
    CHECK_CASE(functions_are_counted_by_calls),
    CHECK_CASE(hooked_functions_are_there_also_if_they_never_ran),
    CHECK_CASE(only_what_is_chosen_counts),
    CHECK_CASE(what_is_cut_off_is_told),
};

CHECK_MAIN(cases)
