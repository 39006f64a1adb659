/* SPDX-License-Identifier: MIT */
#include "kernel/program_setup.h"

#include "support/check.h"

#include <errno.h>

static struct source_probe probe;
static struct program_config config;
static struct gait_error err;

static void begin(void)
{
    const struct kernel_field number = {.offset = 16, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED};
    struct kernel_field other = number, text = number;

    other.offset = 24;
    other.type = KERNEL_FIELD_UNSIGNED;
    text.type = KERNEL_FIELD_STRING;
    probe = (struct source_probe){.spec = (char *)(uintptr_t) "tracepoint:a:b", .raw = SOURCE_RAW_BYTES};
    source_probe_add_field(&probe, &number, "a");
    source_probe_add_field(&probe, &other, "b");
    source_probe_add_field(&probe, &text, "word");
}

static int parse(const char *text)
{
    return condition_parse(text, &probe, &config, &err);
}

/* What a program in the kernel would do with it. */
static bool holds(int64_t a, int64_t b)
{
    bool all = true;

    for (unsigned i = 0; i < config.condition_count; i++) {
        const struct program_condition *condition = &config.conditions[i];
        int64_t left = condition->value.offset == 16 ? a : b, right = (int64_t)condition->number;
        const bool results[] = {left == right, left != right, left<right, left <= right, left> right, left >= right,
                                (left & right) != 0};

        all = all && results[condition->comparison];
        if (condition->ends_group) {
            if (all)
                return true;
            all = true;
        }
    }
    return false;
}

static void conditions_mean_what_they_say(void)
{
    static const struct {
        const char *text;
        bool results[3][3]; /* of a and b from 0 to 2 */
    } examples[] = {
        {"a == 1", {{0, 0, 0}, {1, 1, 1}, {0, 0, 0}}},
        {"a != 1 && b > 0", {{0, 1, 1}, {0, 0, 0}, {0, 1, 1}}},
        {"a == 0 || b == 0", {{1, 1, 1}, {1, 0, 0}, {1, 0, 0}}},
        {"a==0||a==1&&b==1", {{1, 1, 1}, {0, 1, 0}, {0, 0, 0}}},
        {"(a == 0 || a == 1) && b == 1", {{0, 1, 0}, {0, 1, 0}, {0, 0, 0}}},
        {"!(a == 0 || b == 0)", {{0, 0, 0}, {0, 1, 1}, {0, 1, 1}}},
        {"!(a == 0 && b == 0)", {{0, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
        {"!(a < 1) && !(b >= 0x2)", {{0, 0, 0}, {1, 1, 0}, {1, 1, 0}}},
        {"!!(a <= 1)", {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}}},
        {"b & 2", {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}}},
        {"a > -1 && (b == 2 || !(a != 2))", {{0, 0, 1}, {0, 0, 1}, {1, 1, 1}}},
    };

    begin();
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        CHECK_EQUAL(parse(examples[i].text), 0);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                CHECK_EQUAL(holds(a, b), examples[i].results[a][b]);
    }
}

static void values_are_also_of_the_process(void)
{
    begin();
    CHECK_EQUAL(parse("pid == 1 && cpu == 0"), 0);
    CHECK_EQUAL(config.conditions[0].value.place, PROGRAM_PID);
    CHECK_EQUAL(config.conditions[1].value.place, PROGRAM_CPU);
}

/* Compared with text, a pointer to some would be a number that nobody means. */
static void text_is_refused_with_what_works(void)
{
    static const char *const texts[] = {"word == 1", "a == \"x\"", "a != \"x\" && b == 1", "b == 1 || a ~ \"x*\""};

    begin();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        CHECK_EQUAL(parse(texts[i]), -EINVAL);
        CHECK(strstr(err.text, "for tracepoints only") != NULL && strstr(err.text, "gait query") != NULL);
    }
}

static void what_cannot_be_read_is_explained(void)
{
    begin();
    CHECK_EQUAL(parse("c == 1"), -ENOENT);
    CHECK(strstr(err.text, "has no field 'c'") != NULL);
    CHECK_EQUAL(parse("a"), -EINVAL);
    CHECK_EQUAL(parse("a == "), -EINVAL);
    CHECK_EQUAL(parse("a == b"), -EINVAL);
    CHECK_EQUAL(parse("a = 1"), -EINVAL);
    CHECK_EQUAL(parse("(a == 1"), -EINVAL);
    CHECK_EQUAL(parse("a == 1)"), -EINVAL);
    CHECK_EQUAL(parse("a == 1 b == 2"), -EINVAL);
    CHECK_EQUAL(parse("word == 1"), -EINVAL);
    CHECK_EQUAL(parse("!(a & 1)"), -EINVAL);
    CHECK_EQUAL(parse(""), -EINVAL);
    CHECK_EQUAL(parse("((((((((((((((((((a == 1))))))))))))))))))"), -E2BIG);
    CHECK_EQUAL(parse("(a==1||a==2||a==3||a==4) && (b==1||b==2||b==3||b==4) && (a==5||a==6)"), -E2BIG);
}

static const struct check_case cases[] = {
    CHECK_CASE(conditions_mean_what_they_say),
    CHECK_CASE(values_are_also_of_the_process),
    CHECK_CASE(text_is_refused_with_what_works),
    CHECK_CASE(what_cannot_be_read_is_explained),
};

CHECK_MAIN(cases)
