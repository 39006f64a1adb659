/* SPDX-License-Identifier: MIT */
/* What all CPUs share: spans, marks, limits. How x86-64 functions are patched is tested in tests/unit/arch. */
#include "hook/hook_plan.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/planned_code.h"

#include <elf.h>
#include <errno.h>

static struct planned_code code;

/* Two functions of 16 bytes, and eight bytes of padding between them. */
static void begin(void)
{
    planned_code_init(&code);
    PLANNED_ADD(&code, "first", "\x53\x48\x89\xfb\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x5b\xc3");
    planned_code_fill(&code, 0xcc, 8);
    PLANNED_ADD(&code, NULL, "\x53\x48\x89\xfb\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x5b\xc3");
    planned_code_survey(&code);
}

static void modules_that_make_no_sense_are_refused(void)
{
    struct hook_planner planner;
    struct hook_module module;

    begin();
    module = code.module;
    module.machine = EM_AARCH64;
    CHECK_EQUAL(hook_planner_init(&planner, &module, code.memory), -EOPNOTSUPP);
    module = code.module;
    module.span_count = HOOK_SPANS_MAX + 1;
    CHECK_EQUAL(hook_planner_init(&planner, &module, code.memory), -EINVAL);
    module = code.module;
    module.spans[1].address = PLANNED_CODE + 10;
    CHECK_EQUAL(hook_planner_init(&planner, &module, code.memory), -EINVAL);
    module = code.module;
    module.spans[1].address = UINT64_MAX - 3;
    CHECK_EQUAL(hook_planner_init(&planner, &module, code.memory), -EINVAL);
    module = code.module;
    module.spans[1].size_bytes = 0;
    CHECK_EQUAL(hook_planner_init(&planner, &module, code.memory), -EINVAL);
    planned_code_deinit(&code);
}

static void bytes_are_read_from_all_spans(void)
{
    struct hook_code piece;
    uint8_t bytes[4];

    begin();
    CHECK(hook_planner_code(&code.planner, PLANNED_CODE + 3, &piece));
    CHECK_EQUAL(piece.bytes - code.code, 3);
    CHECK_EQUAL(piece.end, PLANNED_CODE + 40);
    CHECK(!hook_planner_code(&code.planner, PLANNED_CODE + 40, &piece));
    CHECK(!hook_planner_code(&code.planner, PLANNED_CODE - 1, &piece));
    CHECK(!hook_planner_code(&code.planner, PLANNED_DATA, &piece));
    CHECK(hook_planner_read(&code.planner, PLANNED_CODE + 36, bytes, 4));
    CHECK_EQUAL(bytes[3], 0xc3);
    CHECK(!hook_planner_read(&code.planner, PLANNED_CODE + 37, bytes, 4));
    CHECK(hook_planner_read(&code.planner, PLANNED_DATA + 8, bytes, 4));
    CHECK(!hook_planner_read(&code.planner, UINT64_MAX, bytes, 4));
    planned_code_deinit(&code);
}

static void functions_end_where_they_say_or_the_next_begins(void)
{
    begin();
    CHECK_EQUAL(hook_planner_next_start(&code.planner, PLANNED_CODE), PLANNED_CODE + 24);
    CHECK_EQUAL(hook_planner_next_start(&code.planner, PLANNED_CODE + 23), PLANNED_CODE + 24);
    CHECK_EQUAL(hook_planner_next_start(&code.planner, PLANNED_CODE + 24), PLANNED_CODE + 40);
    CHECK_EQUAL(hook_planner_function_end(&code.planner, &code.functions[0]), PLANNED_CODE + 16);
    code.functions[0].size_bytes = 0;
    CHECK_EQUAL(hook_planner_function_end(&code.planner, &code.functions[0]), PLANNED_CODE + 24);
    code.functions[1].size_bytes = 1000;
    CHECK_EQUAL(hook_planner_function_end(&code.planner, &code.functions[1]), PLANNED_CODE + 40);
    planned_code_deinit(&code);
}

static void marks_are_kept_byte_by_byte(void)
{
    begin();
    CHECK(!hook_planner_is_taken(&code.planner, PLANNED_CODE, PLANNED_CODE + 24));
    CHECK(hook_planner_is_taken(&code.planner, PLANNED_CODE + 24, PLANNED_CODE + 25));
    CHECK(!hook_planner_is_taken(&code.planner, PLANNED_CODE + 24, PLANNED_CODE + 24));
    /* Beyond the code everything is. */
    CHECK(hook_planner_is_taken(&code.planner, PLANNED_CODE + 39, PLANNED_CODE + 41));
    CHECK(hook_planner_is_taken(&code.planner, PLANNED_DATA, PLANNED_DATA + 1));
    hook_planner_take(&code.planner, PLANNED_CODE + 5, PLANNED_CODE + 8);
    CHECK(!hook_planner_is_taken(&code.planner, PLANNED_CODE, PLANNED_CODE + 5));
    CHECK(hook_planner_is_taken(&code.planner, PLANNED_CODE + 7, PLANNED_CODE + 8));
    CHECK(!hook_planner_is_taken(&code.planner, PLANNED_CODE + 8, PLANNED_CODE + 16));
    hook_planner_give_back(&code.planner, PLANNED_CODE + 5, PLANNED_CODE + 8);
    CHECK(!hook_planner_is_taken(&code.planner, PLANNED_CODE, PLANNED_CODE + 24));
    planned_code_deinit(&code);
}

static void addresses_that_others_have_forbid_a_jump(void)
{
    struct hook_plan plan;

    begin();
    plan = planned_code_plan(&code, &code.functions[0]);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    hook_planner_add_pointer(&code.planner, PLANNED_CODE + 4);
    hook_planner_add_pointer(&code.planner, PLANNED_DATA);
    hook_planner_add_pointer(&code.planner, 0);
    CHECK(hook_planner_is_entered(&code.planner, PLANNED_CODE + 4, PLANNED_CODE + 5));
    CHECK(!hook_planner_is_entered(&code.planner, PLANNED_CODE, PLANNED_CODE + 4));
    plan = planned_code_plan(&code, &code.functions[0]);
    CHECK_EQUAL(plan.method, HOOK_HOP);
    CHECK_EQUAL(plan.obstacle, HOOK_BRANCH_INSIDE);
    planned_code_deinit(&code);
}

static void pointers_in_data_do_so_too(void)
{
    uint64_t pointer = PLANNED_CODE + 26 + 0x1000000;
    struct hook_plan plan;

    begin();
    memcpy(code.data + 16, &pointer, sizeof(pointer));
    /* Not where pointers are. */
    pointer -= 24;
    memcpy(code.data + 36, &pointer, sizeof(pointer));
    code.module.load_bias = 0x1000000;
    hook_planner_add_pointers(&code.planner);
    plan = planned_code_plan(&code, &code.functions[0]);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    plan = planned_code_plan(&code, &code.functions[1]);
    CHECK(plan.method != HOOK_JUMP || plan.displaced_end == PLANNED_CODE + 40);
    CHECK_EQUAL(plan.obstacle, HOOK_BRANCH_INSIDE);
    CHECK(!hook_planner_is_entered(&code.planner, PLANNED_CODE + 25, PLANNED_CODE + 27));
    planned_code_deinit(&code);
}

static void branches_of_others_make_parts_of_what_has_no_name(void)
{
    begin();
    CHECK(!hook_planner_is_part(&code.planner, &code.functions[1]));
    hook_planner_add_entry(&code.planner, PLANNED_CODE, true);
    hook_planner_add_entry(&code.planner, PLANNED_CODE + 24, false);
    CHECK(!hook_planner_is_part(&code.planner, &code.functions[0]));
    CHECK(!hook_planner_is_part(&code.planner, &code.functions[1]));
    hook_planner_add_entry(&code.planner, PLANNED_CODE + 24, true);
    CHECK(hook_planner_is_part(&code.planner, &code.functions[1]));
    CHECK_EQUAL(planned_code_plan(&code, &code.functions[1]).method, HOOK_IMPOSSIBLE);
    CHECK_EQUAL(planned_code_plan(&code, &code.functions[1]).obstacle, HOOK_NOT_A_FUNCTION);
    hook_planner_add_pointer(&code.planner, PLANNED_CODE + 24);
    CHECK(!hook_planner_is_part(&code.planner, &code.functions[1]));
    CHECK_EQUAL(planned_code_plan(&code, &code.functions[1]).method, HOOK_JUMP);
    planned_code_deinit(&code);
}

static void what_is_aligned_behind_padding_is_no_part(void)
{
    for (size_t padding = 0; padding <= 16; padding++) {
        struct elf_function *function;

        planned_code_init(&code);
        planned_code_add(&code, "first", "\x0f\x84\x1a\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90\x90\x90\xc3", 16);
        code.code[2] = (uint8_t)(10 + padding);
        planned_code_fill(&code, 0x90, padding);
        function = planned_code_add(&code, NULL, "\x31\xc0\xc3", 3);
        planned_code_survey(&code);
        CHECK_EQUAL(hook_planner_is_part(&code.planner, function), padding != 16);
        planned_code_deinit(&code);
    }
}

/* Where frames are told of others: who has none, stands close to the one before, and is not called. */
static void names_in_the_middle_of_code_without_frames_are_parts(void)
{
    static const struct eh_frame frame = {(const uint8_t *)"", 0, 0};
    struct elf_function *jumped_to, *called;

    planned_code_init(&code);
    /* call called; jmp jumped_to */
    planned_code_add(&code, "caller", "\xe8\x0e\x00\x00\x00\xe9\x01\x00\x00\x00\xc3", 11);
    jumped_to = planned_code_add(&code, "jumped_to", "\x31\xc0\x31\xc9\x31\xd2\x90\xc3", 8);
    called = planned_code_add(&code, "called", "\x31\xc0\x31\xc9\x31\xd2\x90\xc3", 8);
    planned_code_survey(&code);
    CHECK(!hook_planner_is_part(&code.planner, jumped_to));
    code.module.frame = &frame;
    CHECK(hook_planner_is_part(&code.planner, jumped_to));
    CHECK_EQUAL(planned_code_plan(&code, jumped_to).obstacle, HOOK_NOT_A_FUNCTION);
    CHECK(!hook_planner_is_part(&code.planner, called));
    jumped_to->frame_offset = 1;
    CHECK(!hook_planner_is_part(&code.planner, jumped_to));
    planned_code_deinit(&code);
}

static void functions_that_are_not_listed_are_planned(void)
{
    struct elf_function own = {.start = PLANNED_CODE + 4};

    begin();
    hook_planner_add_pointer(&code.planner, own.start);
    CHECK(!hook_planner_is_part(&code.planner, &own));
    CHECK_EQUAL(planned_code_plan(&code, &own).method, HOOK_JUMP);
    CHECK_EQUAL(planned_code_plan(&code, &own).patch_at, own.start);
    planned_code_deinit(&code);
}

static void known_names_are_for_entries_only(void)
{
    begin();
    CHECK(!planned_code_plan(&code, &code.functions[0]).is_entry_only);
    code.functions[0].name = "vfork";
    CHECK(planned_code_plan(&code, &code.functions[0]).is_entry_only);
    code.functions[0].name = "__restore_rt";
    code.functions[0].name_length = 12;
    CHECK_EQUAL(planned_code_plan(&code, &code.functions[0]).method, HOOK_IMPOSSIBLE);
    CHECK_EQUAL(planned_code_plan(&code, &code.functions[0]).obstacle, HOOK_KNOWN_BY_BYTES);
    planned_code_deinit(&code);
}

static void all_methods_and_obstacles_have_texts(void)
{
    for (unsigned i = 0; i <= HOOK_IMPOSSIBLE; i++)
        CHECK(hook_method_name(i)[0] != '\0');
    CHECK_TEXT(hook_method_name(HOOK_IMPOSSIBLE + 1), "");
    CHECK_TEXT(hook_obstacle_text(HOOK_NO_OBSTACLE), "");
    for (unsigned i = HOOK_NO_OBSTACLE + 1; i <= HOOK_KNOWN_BY_BYTES; i++)
        CHECK(hook_obstacle_text(i)[0] != '\0');
    CHECK_TEXT(hook_obstacle_text(HOOK_KNOWN_BY_BYTES + 1), "");
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_that_make_no_sense_are_refused),
    CHECK_CASE(bytes_are_read_from_all_spans),
    CHECK_CASE(functions_end_where_they_say_or_the_next_begins),
    CHECK_CASE(marks_are_kept_byte_by_byte),
    CHECK_CASE(addresses_that_others_have_forbid_a_jump),
    CHECK_CASE(pointers_in_data_do_so_too),
    CHECK_CASE(branches_of_others_make_parts_of_what_has_no_name),
    CHECK_CASE(what_is_aligned_behind_padding_is_no_part),
    CHECK_CASE(names_in_the_middle_of_code_without_frames_are_parts),
    CHECK_CASE(functions_that_are_not_listed_are_planned),
    CHECK_CASE(known_names_are_for_entries_only),
    CHECK_CASE(all_methods_and_obstacles_have_texts),
};

CHECK_MAIN(cases)
