/* SPDX-License-Identifier: MIT */
/*
 * A point in the space of instruction encodings, valid or not, as a list of numbered fields, and rules about fields
 * that a CPU ignores although the decoder insists on them. A rule is a line of text:
 *
 *     ENCODING CONDITIONS IGNORED explanation
 *
 * CONDITIONS and IGNORED are field=value pairs with commas between them; a condition may also have alternatives and
 * ranges (opcode=41|44-47) or be "-" for none. A rule says: where the conditions hold, the CPU executes the encoding as
 * if the ignored fields had the given values. Values are hexadecimal.
 */
#ifndef GAIT_TESTS_ENCODING_POINT_H
#define GAIT_TESTS_ENCODING_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum encoding_kind {
    ENCODING_LEGACY,
    ENCODING_VEX,
    ENCODING_XOP,
    ENCODING_EVEX,
    ENCODING_KIND_COUNT,
};

enum encoding_field {
    ENCODING_LOCK,   /* legacy */
    ENCODING_PREFIX, /* legacy: (0 none, 2 f3, 4 f2) + (1 with 66); else pp */
    ENCODING_REX,    /* legacy: the byte, or 0 */
    ENCODING_MAP,    /* legacy: 0 to 3; else the number in the encoding */
    ENCODING_OPCODE,
    ENCODING_W, /* the following up to Z: not legacy; extensions are 1 where they extend */
    ENCODING_R,
    ENCODING_X,
    ENCODING_B,
    ENCODING_R_HIGH,
    ENCODING_V_HIGH,
    ENCODING_VVVV,
    ENCODING_LENGTH,
    ENCODING_BROADCAST,
    ENCODING_FIXED, /* the bit of evex that must be 1 */
    ENCODING_MASK,
    ENCODING_Z,
    ENCODING_MOD,
    ENCODING_REG,
    ENCODING_RM,
    ENCODING_ADDRESS, /* the 67 prefix */
    ENCODING_STRAY,   /* not legacy: a legacy prefix or rex byte in front, or 0 */
    ENCODING_SHORT,   /* vex: the two-byte form, if it can say the same */
    ENCODING_FIELD_COUNT,
};

struct encoding_point {
    enum encoding_kind kind;
    uint8_t field[ENCODING_FIELD_COUNT];
};

/* Writes the point's bytes up to modrm and sib; 0xcc behind them. Returns how many it wrote. */
size_t encoding_point_write(const struct encoding_point *point, uint8_t bytes_out[32]);

struct ignored_fields {
    struct ignored_rule *rules;
    size_t count;
};

/* Reads the rules of a file. -EINVAL, and the line's number in *line_out: no rule. Else what the kernel said. */
int ignored_fields_init(struct ignored_fields *fields, const char *path, unsigned *line_out)
    __attribute__((warn_unused_result));
void ignored_fields_deinit(struct ignored_fields *fields);

/*
 * Sets what the CPU ignores to what the decoder wants, by all combinations of the rules that apply, until `accepts`
 * says yes. Returns the number of a rule that was used, or -1 if none helps.
 */
int ignored_fields_explain(const struct ignored_fields *fields, const struct encoding_point *point,
                           bool (*accepts)(const struct encoding_point *));

/* The line's number of a rule in its file. */
unsigned ignored_fields_line(const struct ignored_fields *fields, unsigned rule);

#endif
