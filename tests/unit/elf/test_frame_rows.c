/* SPDX-License-Identifier: MIT */
#include "elf/frame_rows.h"

#include "support/check.h"
#include "support/frame_sections.h"
#include "support/random.h"

#include <errno.h>

#define ROWS_MAX 16

static struct frame_rows_storage storage;
static struct frame_row rows[ROWS_MAX];
static size_t row_count, stop_after = SIZE_MAX;

static bool take(void *context, const struct frame_row *row)
{
    (void)context;
    if (row_count < ROWS_MAX)
        rows[row_count] = *row;
    return ++row_count == stop_after;
}

/* The rows of code at 0x1000, 64 bytes of it. The frame is sp + 8 at first. */
static int run(const uint8_t *program, size_t program_bytes)
{
    static const uint8_t common[] = {0x0c, 7, 8, 0x80 | 16, 1};
    const struct eh_frame_entry entry = {
        .start = 0x1000,
        .end = 0x1040,
        .common_program = {common, common + sizeof(common)},
        .program = {program, program + program_bytes},
        .code_alignment = 1,
        .data_alignment = -8,
        .return_register = 16,
    };

    row_count = 0;
    return frame_rows_visit(&entry, &storage, take, NULL);
}

#define RUN(...) run((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void check_rule(struct frame_rule rule, enum frame_rule_kind kind, int64_t offset)
{
    CHECK_EQUAL(rule.kind, kind);
    CHECK_EQUAL(rule.offset, offset);
}

static void an_empty_program_gives_one_row(void)
{
    CHECK_EQUAL(run(NULL, 0), 0);
    CHECK_EQUAL(row_count, 1);
    CHECK_EQUAL(rows[0].start, 0x1000);
    CHECK_EQUAL(rows[0].end, 0x1040);
    check_rule(rows[0].frame, FRAME_IN_REGISTER, 8);
    CHECK_EQUAL(rows[0].frame.other_register, 7);
    check_rule(rows[0].registers[16], FRAME_AT_OFFSET, -8);
    check_rule(rows[0].registers[6], FRAME_SAME, 0);
}

static void a_usual_function_has_rows_for_its_beginning_and_end(void)
{
    /* push rbp; mov rbp, rsp; ...; leave */
    CHECK_EQUAL(RUN(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x3b, 0x0c, 7, 8), 0);
    CHECK_EQUAL(row_count, 4);
    CHECK_EQUAL(rows[1].start, 0x1001);
    CHECK_EQUAL(rows[1].end, 0x1004);
    check_rule(rows[1].frame, FRAME_IN_REGISTER, 16);
    check_rule(rows[1].registers[6], FRAME_AT_OFFSET, -16);
    CHECK_EQUAL(rows[2].frame.other_register, 6);
    CHECK_EQUAL(rows[2].end, 0x103f);
    CHECK_EQUAL(rows[3].frame.other_register, 7);
    CHECK_EQUAL(rows[3].end, 0x1040);
}

static void rows_are_remembered_and_recalled(void)
{
    CHECK_EQUAL(RUN(0x0e, 32, 0x41, 0x0a, 0x0e, 8, 0x41, 0x0b, 0x41, 0x0e, 64), 0);
    CHECK_EQUAL(row_count, 4);
    check_rule(rows[0].frame, FRAME_IN_REGISTER, 32);
    check_rule(rows[1].frame, FRAME_IN_REGISTER, 8);
    check_rule(rows[2].frame, FRAME_IN_REGISTER, 32);
    check_rule(rows[3].frame, FRAME_IN_REGISTER, 64);
}

static void registers_have_rules_of_all_kinds(void)
{
    CHECK_EQUAL(RUN(0x07, 1, 0x08, 2, 0x09, 3, 12, 0x05, 4, 3, 0x11, 5, 0x7f, 0x14, 6, 2, 0x15, 8, 0x7e, 0x2f, 9, 2,
                    0x10, 10, 2, 0x77, 8, 0x16, 11, 1, 0x30),
                0);
    check_rule(rows[0].registers[1], FRAME_UNDEFINED, 0);
    check_rule(rows[0].registers[2], FRAME_SAME, 0);
    CHECK_EQUAL(rows[0].registers[3].kind, FRAME_IN_REGISTER);
    CHECK_EQUAL(rows[0].registers[3].other_register, 12);
    check_rule(rows[0].registers[4], FRAME_AT_OFFSET, -24);
    check_rule(rows[0].registers[5], FRAME_AT_OFFSET, 8);
    check_rule(rows[0].registers[6], FRAME_IS_OFFSET, -16);
    check_rule(rows[0].registers[8], FRAME_IS_OFFSET, 16);
    check_rule(rows[0].registers[9], FRAME_AT_OFFSET, 16);
    CHECK_EQUAL(rows[0].registers[10].kind, FRAME_AT_EXPRESSION);
    CHECK_EQUAL(rows[0].registers[10].expression.end - rows[0].registers[10].expression.start, 2);
    CHECK_EQUAL(rows[0].registers[11].kind, FRAME_IS_EXPRESSION);
}

static void registers_are_restored_to_the_common_rule(void)
{
    CHECK_EQUAL(RUN(0x80 | 16, 5, 0x86, 2, 0x41, 0xc0 | 16, 0x06, 6), 0);
    CHECK_EQUAL(row_count, 2);
    check_rule(rows[0].registers[16], FRAME_AT_OFFSET, -40);
    check_rule(rows[1].registers[16], FRAME_AT_OFFSET, -8);
    check_rule(rows[1].registers[6], FRAME_SAME, 0);
}

static void frames_may_be_expressions(void)
{
    CHECK_EQUAL(RUN(0x0f, 2, 0x77, 8, 0x41, 0x12, 6, 0x7e, 0x41, 0x13, 0x7d), 0);
    CHECK_EQUAL(row_count, 3);
    CHECK_EQUAL(rows[0].frame.kind, FRAME_IS_EXPRESSION);
    check_rule(rows[1].frame, FRAME_IN_REGISTER, 16);
    check_rule(rows[2].frame, FRAME_IN_REGISTER, 24);
}

static void steps_may_have_several_sizes(void)
{
    CHECK_EQUAL(RUN(0x03, 2, 0, 0x0e, 16, 0x04, 3, 0, 0, 0, 0x0e, 24), 0);
    CHECK_EQUAL(row_count, 3);
    CHECK_EQUAL(rows[1].start, 0x1002);
    CHECK_EQUAL(rows[2].start, 0x1005);
    /* Behind the end there is nothing. */
    CHECK_EQUAL(RUN(0x02, 200, 0x0e, 16, 0x41), 0);
    CHECK_EQUAL(row_count, 1);
    CHECK_EQUAL(rows[0].end, 0x1040);
}

static void who_has_seen_enough_gets_no_more(void)
{
    stop_after = 2;
    CHECK_EQUAL(RUN(0x41, 0x0e, 16, 0x41, 0x0e, 24, 0x41, 0x0e, 32), 0);
    CHECK_EQUAL(row_count, 2);
    stop_after = SIZE_MAX;
}

static void programs_that_make_no_sense_are_errors(void)
{
    CHECK_EQUAL(RUN(0x0b), -EPROTO);                                                 /* nothing remembered */
    CHECK_EQUAL(RUN(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a), -EPROTO); /* too much */
    CHECK_EQUAL(RUN(0x0e), -EPROTO);                                                 /* cut off */
    CHECK_EQUAL(RUN(0x0e, 0x80), -EPROTO);
    CHECK_EQUAL(RUN(0x3f), -EPROTO);             /* no instruction */
    CHECK_EQUAL(RUN(0x0f, 9, 0x77, 8), -EPROTO); /* an expression too long */
    CHECK_EQUAL(RUN(0x0c, 99, 8), -EPROTO);      /* no register */
    CHECK_EQUAL(RUN(0x09, 3, 0xc9, 0), -EPROTO);
    CHECK_EQUAL(RUN(0x0f, 1, 0x30, 0x0e, 8), -EPROTO); /* the offset of nothing */
    CHECK_EQUAL(RUN(0x41, 0x0e, 16, 0x41, 0x3f), -EPROTO);
    /* What comes before is good. */
    CHECK_EQUAL(row_count, 2);
}

static void registers_that_nobody_asks_for_are_skipped(void)
{
    CHECK_EQUAL(RUN(0x05, 60, 3, 0x80 | 63, 1, 0x10, 61, 1, 0x30, 0x06, 62, 0x2e, 16, 0x2d, 0), 0);
    CHECK_EQUAL(row_count, 1);
}

static bool take_next(void *context, const struct frame_row *row)
{
    uint64_t *reached = context;

    CHECK_EQUAL(row->start, *reached);
    CHECK(row->end > row->start);
    CHECK(row->frame.kind == FRAME_IN_REGISTER || row->frame.kind == FRAME_IS_EXPRESSION);
    *reached = row->end;
    return false;
}

static void rows_of_real_sections_cover_their_entries(void)
{
    static struct loaded_frames frames[LOADED_FRAMES_MAX];
    size_t count = loaded_frames_list(frames);

    for (size_t i = 0; i < count; i++) {
        struct eh_frame_entry entry;
        size_t offset = 0;

        while (eh_frame_next(&frames[i].frame, &offset, &entry) == 1) {
            uint64_t reached = entry.start;

            CHECK_EQUAL(frame_rows_visit(&entry, &storage, take_next, &reached), 0);
            CHECK_EQUAL(reached, entry.end);
        }
    }
}

static void random_programs_do_no_harm(void)
{
    struct random random;
    uint8_t *program = malloc(200);
    unsigned good = 0;

    random_init(&random, 7);
    for (unsigned i = 0; i < 20000; i++) {
        size_t size_bytes = random_below(&random, 200);
        int result;

        random_fill(&random, program, size_bytes);
        /* Mostly instructions that exist. */
        for (size_t j = 0; j < size_bytes; j++)
            program[j] &= random_chance(&random, 3, 4) ? 0x1f : 0xff;
        result = run(program, size_bytes);
        CHECK(result == 0 || result == -EPROTO);
        good += result == 0;
    }
    CHECK(good > 50);
    free(program);
}

static const struct check_case cases[] = {
    CHECK_CASE(an_empty_program_gives_one_row),
    CHECK_CASE(a_usual_function_has_rows_for_its_beginning_and_end),
    CHECK_CASE(rows_are_remembered_and_recalled),
    CHECK_CASE(registers_have_rules_of_all_kinds),
    CHECK_CASE(registers_are_restored_to_the_common_rule),
    CHECK_CASE(frames_may_be_expressions),
    CHECK_CASE(steps_may_have_several_sizes),
    CHECK_CASE(who_has_seen_enough_gets_no_more),
    CHECK_CASE(programs_that_make_no_sense_are_errors),
    CHECK_CASE(registers_that_nobody_asks_for_are_skipped),
    CHECK_CASE(rows_of_real_sections_cover_their_entries),
    CHECK_CASE(random_programs_do_no_harm),
};

CHECK_MAIN(cases)
