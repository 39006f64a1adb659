/* SPDX-License-Identifier: MIT */
/* Fields are plain numbers in an array, so that rules can be read from text without knowing what the fields mean. */
#include "support/encoding_point.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 32, LINE_BYTES = 512, TERM_LIMIT = 8 };

/* A field whose value is one of a set. */
struct term {
    uint8_t field;
    uint8_t value; /* the first of the set */
    uint8_t set[256 / 8];
};

struct ignored_rule {
    enum encoding_kind kind;
    unsigned line;
    unsigned condition_count, ignored_count;
    struct term conditions[TERM_LIMIT], ignored[TERM_LIMIT];
};

static const char *const kind_names[ENCODING_KIND_COUNT] = {"legacy", "vex", "xop", "evex"};

static const char *const field_names[ENCODING_FIELD_COUNT] = {
    [ENCODING_LOCK] = "lock",
    [ENCODING_PREFIX] = "prefix",
    [ENCODING_REX] = "rex",
    [ENCODING_MAP] = "map",
    [ENCODING_OPCODE] = "opcode",
    [ENCODING_W] = "w",
    [ENCODING_R] = "r",
    [ENCODING_X] = "x",
    [ENCODING_B] = "b",
    [ENCODING_R_HIGH] = "r_high",
    [ENCODING_V_HIGH] = "v_high",
    [ENCODING_VVVV] = "vvvv",
    [ENCODING_LENGTH] = "length",
    [ENCODING_BROADCAST] = "broadcast",
    [ENCODING_FIXED] = "fixed",
    [ENCODING_MASK] = "mask",
    [ENCODING_Z] = "z",
    [ENCODING_MOD] = "mod",
    [ENCODING_REG] = "reg",
    [ENCODING_RM] = "rm",
    [ENCODING_ADDRESS] = "address",
    [ENCODING_STRAY] = "stray",
    [ENCODING_SHORT] = "short",
};

/* ---- bytes ---------------------------------------------------------------------------------------------------------
 */

static size_t write_legacy(const uint8_t *field, uint8_t *bytes)
{
    unsigned prefix = field[ENCODING_PREFIX];
    size_t used = 0;

    if (field[ENCODING_LOCK])
        bytes[used++] = 0xf0;
    if (prefix & 1)
        bytes[used++] = 0x66;
    if (prefix >= 2)
        bytes[used++] = prefix >= 4 ? 0xf2 : 0xf3;
    if (field[ENCODING_REX] != 0)
        bytes[used++] = field[ENCODING_REX];
    if (field[ENCODING_MAP] >= 1)
        bytes[used++] = 0x0f;
    if (field[ENCODING_MAP] >= 2)
        bytes[used++] = field[ENCODING_MAP] == 2 ? 0x38 : 0x3a;
    bytes[used++] = field[ENCODING_OPCODE];
    return used;
}

static uint8_t extension_byte(const uint8_t *field, unsigned rest)
{
    return (uint8_t)(!field[ENCODING_R] << 7 | !field[ENCODING_X] << 6 | !field[ENCODING_B] << 5 | rest);
}

static bool can_be_short(const struct encoding_point *point)
{
    const uint8_t *field = point->field;

    return point->kind == ENCODING_VEX && field[ENCODING_MAP] == 1 && !field[ENCODING_W] && !field[ENCODING_X] &&
           !field[ENCODING_B];
}

static size_t write_vex(const struct encoding_point *point, uint8_t *bytes)
{
    const uint8_t *field = point->field;

    if (field[ENCODING_SHORT] && can_be_short(point)) {
        bytes[0] = 0xc5;
        bytes[1] = (uint8_t)(!field[ENCODING_R] << 7 | (~field[ENCODING_VVVV] & 15) << 3 |
                             (field[ENCODING_LENGTH] & 1) << 2 | field[ENCODING_PREFIX]);
        bytes[2] = field[ENCODING_OPCODE];
        return 3;
    }
    bytes[0] = point->kind == ENCODING_XOP ? 0x8f : 0xc4;
    bytes[1] = extension_byte(field, field[ENCODING_MAP] & 31);
    bytes[2] = (uint8_t)(field[ENCODING_W] << 7 | (~field[ENCODING_VVVV] & 15) << 3 |
                         (field[ENCODING_LENGTH] & 1) << 2 | field[ENCODING_PREFIX]);
    bytes[3] = field[ENCODING_OPCODE];
    return 4;
}

static size_t write_evex(const uint8_t *field, uint8_t *bytes)
{
    bytes[0] = 0x62;
    bytes[1] = extension_byte(field, (unsigned)(!field[ENCODING_R_HIGH] << 4 | (field[ENCODING_MAP] & 15)));
    bytes[2] = (uint8_t)(field[ENCODING_W] << 7 | (~field[ENCODING_VVVV] & 15) << 3 | field[ENCODING_FIXED] << 2 |
                         field[ENCODING_PREFIX]);
    bytes[3] = (uint8_t)(field[ENCODING_Z] << 7 | field[ENCODING_LENGTH] << 5 | field[ENCODING_BROADCAST] << 4 |
                         !field[ENCODING_V_HIGH] << 3 | field[ENCODING_MASK]);
    bytes[4] = field[ENCODING_OPCODE];
    return 5;
}

size_t encoding_point_write(const struct encoding_point *point, uint8_t bytes_out[32])
{
    const uint8_t *field = point->field;
    size_t used = 0;

    memset(bytes_out, 0xcc, BUFFER_BYTES);
    if (field[ENCODING_ADDRESS])
        bytes_out[used++] = 0x67;
    if (field[ENCODING_STRAY] && point->kind != ENCODING_LEGACY)
        bytes_out[used++] = field[ENCODING_STRAY];
    if (point->kind == ENCODING_LEGACY)
        used += write_legacy(field, bytes_out + used);
    else if (point->kind == ENCODING_EVEX)
        used += write_evex(field, bytes_out + used);
    else
        used += write_vex(point, bytes_out + used);
    bytes_out[used++] = (uint8_t)(field[ENCODING_MOD] << 6 | field[ENCODING_REG] << 3 | field[ENCODING_RM]);
    /* rsp without an index. */
    if (field[ENCODING_MOD] != 3 && field[ENCODING_RM] == 4)
        bytes_out[used++] = 0x24;
    return used;
}

/* ---- rules ---------------------------------------------------------------------------------------------------------
 */

static int find_name(const char *const *names, unsigned count, const char *text, size_t text_bytes)
{
    for (unsigned i = 0; i < count; i++)
        if (strlen(names[i]) == text_bytes && memcmp(names[i], text, text_bytes) == 0)
            return (int)i;
    return -1;
}

/* "41|44-47" */
static bool read_set(const char *text, struct term *term)
{
    bool is_first = true;

    for (;; text++) {
        char *end;
        unsigned long low = strtoul(text, &end, 16), high = low;

        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            high = strtoul(text, &end, 16);
        }
        if (low > high || high > 255)
            return false;
        for (unsigned long value = low; value <= high; value++)
            term->set[value / 8] |= (uint8_t)(1u << value % 8);
        if (is_first)
            term->value = (uint8_t)low;
        is_first = false;
        if (*end != '|')
            return *end == 0;
        text = end;
    }
}

/* "map=1,opcode=41" or "-". */
static bool read_terms(char *text, struct term *terms, unsigned *count_out)
{
    unsigned count = 0;
    char *rest = NULL;

    *count_out = 0;
    if (strcmp(text, "-") == 0)
        return true;
    for (char *pair = strtok_r(text, ",", &rest); pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
        const char *equals = strchr(pair, '=');
        int field = equals == NULL ? -1 : find_name(field_names, ENCODING_FIELD_COUNT, pair, (size_t)(equals - pair));

        if (field < 0 || count == TERM_LIMIT)
            return false;
        terms[count] = (struct term){.field = (uint8_t)field};
        if (!read_set(equals + 1, &terms[count++]))
            return false;
    }
    *count_out = count;
    return count > 0;
}

static bool read_rule(char *line, struct ignored_rule *rule)
{
    char *rest = NULL;
    char *kind = strtok_r(line, " \t\n", &rest), *conditions = strtok_r(NULL, " \t\n", &rest);
    char *ignored = strtok_r(NULL, " \t\n", &rest), *explanation = strtok_r(NULL, "\n", &rest);

    if (explanation == NULL)
        return false;

    int number = find_name(kind_names, ENCODING_KIND_COUNT, kind, strlen(kind));

    if (number < 0)
        return false;
    rule->kind = (enum encoding_kind)number;
    return read_terms(conditions, rule->conditions, &rule->condition_count) &&
           read_terms(ignored, rule->ignored, &rule->ignored_count) && rule->ignored_count > 0;
}

static int add_line(struct ignored_fields *fields, char *line, unsigned number)
{
    struct ignored_rule *rules;
    struct ignored_rule rule = {.line = number};

    if (line[strspn(line, " \t\n")] == 0 || line[0] == '#')
        return 0;
    if (!read_rule(line, &rule))
        return -EINVAL;
    rules = realloc(fields->rules, (fields->count + 1) * sizeof(*rules));
    if (rules == NULL)
        return -ENOMEM;
    fields->rules = rules;
    rules[fields->count++] = rule;
    return 0;
}

int ignored_fields_init(struct ignored_fields *fields, const char *path, unsigned *line_out)
{
    FILE *file = fopen(path, "r");
    char line[LINE_BYTES];
    int status = 0;

    *fields = (struct ignored_fields){NULL, 0};
    *line_out = 0;
    if (file == NULL)
        return -errno;
    while (status == 0 && fgets(line, sizeof(line), file) != NULL)
        status = add_line(fields, line, ++*line_out);
    fclose(file);
    if (status != 0)
        ignored_fields_deinit(fields);
    return status;
}

void ignored_fields_deinit(struct ignored_fields *fields)
{
    free(fields->rules);
    *fields = (struct ignored_fields){NULL, 0};
}

static bool applies(const struct ignored_rule *rule, const struct encoding_point *point)
{
    if (rule->kind != point->kind)
        return false;
    for (unsigned i = 0; i < rule->condition_count; i++) {
        const struct term *term = &rule->conditions[i];
        uint8_t value = point->field[term->field];

        if (!(term->set[value / 8] >> value % 8 & 1))
            return false;
    }
    return true;
}

static void ignore(const struct ignored_rule *rule, struct encoding_point *point)
{
    for (unsigned i = 0; i < rule->ignored_count; i++)
        point->field[rule->ignored[i].field] = rule->ignored[i].value;
}

int ignored_fields_explain(const struct ignored_fields *fields, const struct encoding_point *point,
                           bool (*accepts)(const struct encoding_point *))
{
    unsigned applicable[TERM_LIMIT], count = 0;

    for (unsigned i = 0; i < fields->count && count < TERM_LIMIT; i++)
        if (applies(&fields->rules[i], point))
            applicable[count++] = i;
    for (unsigned subset = 1; subset < 1u << count; subset++) {
        struct encoding_point changed = *point;

        for (unsigned i = 0; i < count; i++)
            if (subset >> i & 1)
                ignore(&fields->rules[applicable[i]], &changed);
        if (accepts(&changed))
            return (int)applicable[__builtin_ctz(subset)];
    }
    return -1;
}

unsigned ignored_fields_line(const struct ignored_fields *fields, unsigned rule)
{
    return fields->rules[rule].line;
}
