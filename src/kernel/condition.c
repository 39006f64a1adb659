/* SPDX-License-Identifier: MIT */
/*
 * A small parser by descent. What it makes is a list of groups, each of comparisons that have to hold together: "or"
 * puts lists behind each other, "and" joins each group of one with each of the other, "not" turns them around.
 */
#include "kernel/program_setup.h"

#include "base/text_parse.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX PROGRAM_CONDITIONS_MAX
#define DEPTH_MAX  16

struct group {
    struct program_condition conditions[PROGRAM_CONDITIONS_MAX];
    unsigned count;
};

struct groups {
    struct group groups[GROUPS_MAX];
    unsigned count;
};

struct condition_parser {
    const char *text;
    const char *at;
    const struct source_probe *probe;
    struct gait_error *err;
    unsigned depth;         /* of parentheses */
    struct groups *seconds; /* what stands behind && and behind ||, for each depth: too large for the stack */
};

static int read_any(struct condition_parser *parser, bool is_negated, struct groups *groups_out);

static void pass_spaces(struct condition_parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t')
        parser->at++;
}

static bool take(struct condition_parser *parser, const char *word)
{
    size_t length = strlen(word);

    pass_spaces(parser);
    if (strncmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static int fail(struct condition_parser *parser, const char *wanted)
{
    return error_set(parser->err, EINVAL, "cannot read the condition '%s': at '%.20s' there should be %s", parser->text,
                     parser->at, wanted);
}

static int too_large(struct condition_parser *parser)
{
    return error_set(parser->err, E2BIG, "cannot use the condition '%s': it takes more than %d comparisons",
                     parser->text, PROGRAM_CONDITIONS_MAX);
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum program_comparison comparison;
    enum program_comparison opposite;
} comparisons[] = {
    {"==", PROGRAM_EQUAL, PROGRAM_UNEQUAL},    {"!=", PROGRAM_UNEQUAL, PROGRAM_EQUAL},
    {"<=", PROGRAM_AT_MOST, PROGRAM_MORE},     {">=", PROGRAM_AT_LEAST, PROGRAM_LESS},
    {"<", PROGRAM_LESS, PROGRAM_AT_LEAST},     {">", PROGRAM_MORE, PROGRAM_AT_MOST},
    {"&", PROGRAM_HAS_BITS, PROGRAM_HAS_BITS},
};

static int read_number(struct condition_parser *parser, unsigned long long *number_out)
{
    bool is_negative;
    uint64_t number;
    size_t length;

    is_negative = take(parser, "-");
    pass_spaces(parser);
    length = strspn(parser->at, "0123456789abcdefABCDEFxX");
    if (text_parse_number(parser->at, length, &number) != 0)
        return fail(parser, "a number");
    parser->at += length;
    *number_out = is_negative ? -number : number;
    return 0;
}

/* Whether what follows a field compares it with text, as the kernel's filters can. */
static bool is_of_text(const char *at)
{
    if (*at == '~')
        return true;
    at += strspn(at, "=!<>& ");
    return *at == '"';
}

static int read_value(struct condition_parser *parser, struct program_value *value_out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char name[KERNEL_FIELD_NAME_SIZE];
    size_t length;

    pass_spaces(parser);
    length = strspn(parser->at, letters);
    if (length == 0 || length >= sizeof(name))
        return fail(parser, "the name of a field");
    memcpy(name, parser->at, length);
    name[length] = '\0';
    if (probe_value_find(parser->probe, name, value_out) != 0)
        return error_set(parser->err, ENOENT,
                         "cannot use the condition '%s': %s has no field '%s'; gait probe -l '%s' shows which it has",
                         parser->text, parser->probe->spec, name, parser->probe->spec);
    parser->at += length;
    pass_spaces(parser);
    if (value_out->type == PROGRAM_CHARACTERS || is_of_text(parser->at))
        return error_set(parser->err, EINVAL,
                         "cannot use the condition '%s': text, as '%s' is here, can be compared for tracepoints only; "
                         "elsewhere record it with -o, and choose with gait query",
                         parser->text, name);
    return 0;
}

static int read_comparison(struct condition_parser *parser, bool is_negated, struct groups *groups_out)
{
    struct program_condition condition = {.comparison = PROGRAM_HAS_BITS};
    int result = read_value(parser, &condition.value);
    size_t which = 0, count = sizeof(comparisons) / sizeof(comparisons[0]);

    if (result != 0)
        return result;
    pass_spaces(parser);
    while (which < count && !(strncmp(parser->at, "&&", 2) != 0 && take(parser, comparisons[which].word)))
        which++;
    if (which == count)
        return fail(parser, "one of ==, !=, <, <=, >, >= and &");
    result = read_number(parser, &condition.number);
    if (result != 0)
        return result;
    if (is_negated && comparisons[which].comparison == PROGRAM_HAS_BITS)
        return error_set(parser->err, EINVAL, "cannot use the condition '%s': there is no ! in front of &",
                         parser->text);
    condition.comparison = is_negated ? comparisons[which].opposite : comparisons[which].comparison;
    groups_out->count = 1;
    groups_out->groups[0].count = 1;
    groups_out->groups[0].conditions[0] = condition;
    return 0;
}

/* ---- and, or, not ------------------------------------------------------------------------------------------------ */

static int join(struct condition_parser *parser, struct groups *left, const struct groups *right)
{
    static struct groups joined;

    joined.count = 0;
    for (unsigned i = 0; i < left->count; i++)
        for (unsigned j = 0; j < right->count; j++) {
            struct group *group = &joined.groups[joined.count];

            if (joined.count == GROUPS_MAX || left->groups[i].count + right->groups[j].count > PROGRAM_CONDITIONS_MAX)
                return too_large(parser);
            *group = left->groups[i];
            for (unsigned k = 0; k < right->groups[j].count; k++)
                group->conditions[group->count++] = right->groups[j].conditions[k];
            joined.count++;
        }
    *left = joined;
    return 0;
}

static int append(struct condition_parser *parser, struct groups *left, const struct groups *right)
{
    if (left->count + right->count > GROUPS_MAX)
        return too_large(parser);
    for (unsigned i = 0; i < right->count; i++)
        left->groups[left->count++] = right->groups[i];
    return 0;
}

static int read_one(struct condition_parser *parser, bool is_negated, struct groups *groups_out)
{
    int result;

    if (parser->depth >= DEPTH_MAX)
        return too_large(parser);
    pass_spaces(parser);
    while (parser->at[0] == '!' && parser->at[1] != '=') {
        parser->at++;
        is_negated = !is_negated;
        pass_spaces(parser);
    }
    if (!take(parser, "("))
        return read_comparison(parser, is_negated, groups_out);
    parser->depth++;
    result = read_any(parser, is_negated, groups_out);
    parser->depth--;
    if (result != 0)
        return result;
    return take(parser, ")") ? 0 : fail(parser, "a )");
}

/* What is not true is any of them not being so: words change their meaning. */
static int combine(struct condition_parser *parser, bool is_and, struct groups *left, const struct groups *right)
{
    return is_and ? join(parser, left, right) : append(parser, left, right);
}

static int read_all(struct condition_parser *parser, bool is_negated, struct groups *groups_out)
{
    struct groups *second = &parser->seconds[2 * parser->depth];
    int result = read_one(parser, is_negated, groups_out);

    while (result == 0 && take(parser, "&&")) {
        result = read_one(parser, is_negated, second);
        if (result == 0)
            result = combine(parser, !is_negated, groups_out, second);
    }
    return result;
}

static int read_any(struct condition_parser *parser, bool is_negated, struct groups *groups_out)
{
    struct groups *second = &parser->seconds[2 * parser->depth + 1];
    int result = read_all(parser, is_negated, groups_out);

    while (result == 0 && take(parser, "||")) {
        result = read_all(parser, is_negated, second);
        if (result == 0)
            result = combine(parser, is_negated, groups_out, second);
    }
    return result;
}

static int put_groups(struct condition_parser *parser, const struct groups *groups, struct program_config *config)
{
    config->condition_count = 0;
    for (unsigned i = 0; i < groups->count; i++)
        for (unsigned j = 0; j < groups->groups[i].count; j++) {
            if (config->condition_count == PROGRAM_CONDITIONS_MAX)
                return too_large(parser);
            config->conditions[config->condition_count] = groups->groups[i].conditions[j];
            config->conditions[config->condition_count].ends_group = j + 1 == groups->groups[i].count;
            config->condition_count++;
        }
    return 0;
}

static int parse(struct condition_parser *parser, struct groups *groups, struct program_config *config)
{
    int result = read_any(parser, false, groups);

    if (result != 0)
        return result;
    pass_spaces(parser);
    if (*parser->at != '\0')
        return fail(parser, "&&, || or the end");
    return put_groups(parser, groups, config);
}

int condition_parse(const char *text, const struct source_probe *probe, struct program_config *config,
                    struct gait_error *err)
{
    struct condition_parser parser = {text, text, probe, err, 0, NULL};
    int result;

    /* Parentheses are at most DEPTH_MAX deep; the last one is all of it. */
    parser.seconds = calloc(2 * (DEPTH_MAX + 1) + 1, sizeof(*parser.seconds));
    if (parser.seconds == NULL)
        return error_set(err, ENOMEM, "cannot read the condition '%s': there is no memory", text);
    result = parse(&parser, &parser.seconds[2 * (DEPTH_MAX + 1)], config);
    free(parser.seconds);
    return result;
}
