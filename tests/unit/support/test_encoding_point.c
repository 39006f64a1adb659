/* SPDX-License-Identifier: MIT */
#include "support/encoding_point.h"

#include <errno.h>
#include <unistd.h>

#include "support/check.h"

static struct ignored_fields fields;
static unsigned line;

/* Reads the rules in the text. */
static int read_rules(const char *text)
{
    char path[] = "/tmp/gait_encoding_point_XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    CHECK_EQUAL(write(fd, text, strlen(text)), strlen(text));
    close(fd);

    int status = ignored_fields_init(&fields, path, &line);

    unlink(path);
    return status;
}

static bool wants_w(const struct encoding_point *point)
{
    return point->field[ENCODING_W] == 1 && point->field[ENCODING_Z] == 0;
}

static void bytes_are_written_as_the_encoding_lays_them_out(void)
{
    static const uint8_t legacy_expected[] = {0xf0, 0x66, 0xf3, 0x48, 0x0f, 0x38, 0xf6, 0x0c, 0x24, 0xcc};
    static const uint8_t evex_expected[] = {0x62, 0xf1, 0xfd, 0xcb, 0x58, 0xc1, 0xcc};
    struct encoding_point legacy = {ENCODING_LEGACY,
                                    {[ENCODING_LOCK] = 1,
                                     [ENCODING_PREFIX] = 3,
                                     [ENCODING_REX] = 0x48,
                                     [ENCODING_MAP] = 2,
                                     [ENCODING_OPCODE] = 0xf6,
                                     [ENCODING_REG] = 1,
                                     [ENCODING_RM] = 4}};
    struct encoding_point evex = {ENCODING_EVEX,
                                  {[ENCODING_PREFIX] = 1,
                                   [ENCODING_MAP] = 1,
                                   [ENCODING_OPCODE] = 0x58,
                                   [ENCODING_W] = 1,
                                   [ENCODING_LENGTH] = 2,
                                   [ENCODING_FIXED] = 1,
                                   [ENCODING_MASK] = 3,
                                   [ENCODING_Z] = 1,
                                   [ENCODING_MOD] = 3,
                                   [ENCODING_RM] = 1}};
    uint8_t bytes[32];

    CHECK_EQUAL(encoding_point_write(&legacy, bytes), 9);
    CHECK(memcmp(bytes, legacy_expected, sizeof(legacy_expected)) == 0);
    CHECK_EQUAL(encoding_point_write(&evex, bytes), 6);
    CHECK(memcmp(bytes, evex_expected, sizeof(evex_expected)) == 0);
}

static void rules_explain_alone_and_together_where_their_conditions_hold(void)
{
    struct encoding_point point = {ENCODING_VEX, {[ENCODING_OPCODE] = 0x45, [ENCODING_Z] = 1}};

    CHECK_EQUAL(read_rules("# a comment\n\nvex opcode=41|44-47 w=1 first\nvex - z=0 second\n"), 0);
    CHECK_EQUAL(fields.count, 2);
    CHECK_EQUAL(ignored_fields_line(&fields, 1), 4);
    CHECK_EQUAL(ignored_fields_explain(&fields, &point, wants_w), 0);
    point.field[ENCODING_OPCODE] = 0x43;
    CHECK_EQUAL(ignored_fields_explain(&fields, &point, wants_w), -1);
    point.field[ENCODING_W] = 1;
    CHECK_EQUAL(ignored_fields_explain(&fields, &point, wants_w), 1);
    point.kind = ENCODING_XOP;
    CHECK_EQUAL(ignored_fields_explain(&fields, &point, wants_w), -1);
    ignored_fields_deinit(&fields);
}

static void what_is_no_rule_is_refused_with_its_line(void)
{
    CHECK_EQUAL(read_rules("vex - w=1 good\nvex - colour=1 bad\n"), -EINVAL);
    CHECK_EQUAL(line, 2);
    CHECK_EQUAL(read_rules("vex - w=1\n"), -EINVAL); /* no explanation */
    CHECK_EQUAL(read_rules("mvex - w=1 why\n"), -EINVAL);
    CHECK_EQUAL(read_rules("vex opcode=zz w=1 why\n"), -EINVAL);
    CHECK_EQUAL(read_rules("vex opcode=9-2 w=1 why\n"), -EINVAL);
}

static const struct check_case cases[] = {
    CHECK_CASE(bytes_are_written_as_the_encoding_lays_them_out),
    CHECK_CASE(rules_explain_alone_and_together_where_their_conditions_hold),
    CHECK_CASE(what_is_no_rule_is_refused_with_its_line),
};

CHECK_MAIN(cases)
