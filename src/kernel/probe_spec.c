/* SPDX-License-Identifier: MIT */
/* The kind decides how what is behind its colon is taken apart. Parts are copies, ended where the colons were. */
#define _GNU_SOURCE
#include "kernel/probe_spec.h"

#include "base/text_parse.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const char *short_name;
    const char *form;
} kinds[PROBE_KINDS] = {
#define PROBE_KIND(constant, name, short_name, form) {name, short_name, form},
#include "kernel/probe_kinds.def"
#undef PROBE_KIND
};

const char *probe_kind_name(enum probe_kind kind)
{
    return kinds[kind].name;
}

/* ---- the kind ---------------------------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool find_kind(const char *text, size_t length, enum probe_kind *kind_out)
{
    for (unsigned i = 0; i < PROBE_KINDS; i++) {
        if (is_word(text, length, kinds[i].name) || is_word(text, length, kinds[i].short_name)) {
            *kind_out = (enum probe_kind)i;
            return true;
        }
    }
    return false;
}

/* How many characters of the shorter word are not in the other one's place, from both ends: one or two is a slip. */
static size_t differing(const char *left, size_t left_length, const char *right)
{
    size_t right_length = strlen(right), front = 0, back = 0;
    size_t least = left_length < right_length ? left_length : right_length;

    while (front < least && left[front] == right[front])
        front++;
    while (back < least - front && left[left_length - 1 - back] == right[right_length - 1 - back])
        back++;
    return (left_length > right_length ? left_length : right_length) - front - back;
}

static int explain_kind(const char *text, size_t length, struct gait_error *err)
{
    unsigned nearest = PROBE_KINDS;
    size_t distance = length < 3 ? 0 : 3;
    char all[256] = "";

    for (unsigned i = 0; i < PROBE_KINDS; i++) {
        size_t there = differing(text, length, kinds[i].name), used = strlen(all);

        snprintf(all + used, sizeof(all) - used, "%s%s",
                 i == 0                 ? ""
                 : i == PROBE_KINDS - 1 ? " or "
                                        : ", ",
                 kinds[i].name);
        if (there < distance) {
            nearest = i;
            distance = there;
        }
    }
    if (nearest != PROBE_KINDS)
        return error_set(err, EINVAL, "cannot read the probe '%s': '%.*s' is no kind of probe; did you mean %s?", text,
                         (int)length, text, kinds[nearest].form);
    return error_set(err, EINVAL,
                     "cannot read the probe '%s': '%.*s' is no kind of probe; say KIND:WHERE, with a kind of %s", text,
                     (int)length, text, all);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static bool has_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

/* Ends the text at the next colon. What is behind it; NULL: there is none. */
static char *cut(char *text)
{
    char *colon = strchr(text, ':');

    if (colon == NULL)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* The same for a path, which may be in quotation marks. */
static char *cut_path(struct probe_spec *spec, char *text)
{
    char *end = text[0] == '"' ? strchr(text + 1, '"') : NULL;

    if (end != NULL && end[1] == ':') {
        *end = '\0';
        spec->path = text + 1;
        return end + 2;
    }
    spec->path = text;
    return cut(text);
}

/* Takes "+OFFSET" from the end. False: what follows the sign is no number. */
static bool cut_offset(struct probe_spec *spec, char *name)
{
    char *plus = strrchr(name, '+');

    /* C++ has functions called operator+ and operator++. */
    if (plus == NULL || plus == name || plus[1] < '0' || plus[1] > '9')
        return true;
    if (text_parse_number(plus + 1, strlen(plus + 1), &spec->offset) != 0)
        return false;
    *plus = '\0';
    return true;
}

static bool take_name(struct probe_spec *spec, char *text)
{
    spec->name = text;
    return text != NULL && text[0] != '\0';
}

/* ---- by kind ----------------------------------------------------------------------------------------------------- */

static bool take_tracepoint(struct probe_spec *spec, char *text)
{
    char *name = cut(text);

    spec->group = text;
    return text[0] != '\0' && take_name(spec, name) && strchr(name, ':') == NULL;
}

/* Names of the kernel have no colons. */
static bool take_plain(struct probe_spec *spec, char *text)
{
    return take_name(spec, text) && strchr(text, ':') == NULL;
}

static bool take_function(struct probe_spec *spec, char *text)
{
    return take_plain(spec, text) && cut_offset(spec, text) && text[0] != '+';
}

/* An address is as good as a name. */
static bool take_user_function(struct probe_spec *spec, char *text)
{
    char *name = cut_path(spec, text);

    if (spec->path[0] == '\0' || !take_name(spec, name))
        return false;
    name += name[0] == '*' && name[1] == '0';
    if (name[0] >= '0' && name[0] <= '9') {
        spec->has_address = true;
        spec->name = "";
        return text_parse_number(name, strlen(name), &spec->offset) == 0;
    }
    return cut_offset(spec, name) && name[0] != '\0';
}

static bool take_user_return(struct probe_spec *spec, char *text)
{
    return take_user_function(spec, text) && (spec->has_address || spec->offset == 0);
}

static bool take_usdt(struct probe_spec *spec, char *text)
{
    char *name = cut_path(spec, text), *rest = name == NULL ? NULL : cut(name);
    char *at = name == NULL ? NULL : strrchr(rest == NULL ? name : rest, '@');

    spec->group = rest == NULL ? "" : name;
    if (at != NULL) {
        *at = '\0';
        spec->has_address = true;
        if (text_parse_number(at + 1, strlen(at + 1), &spec->offset) != 0)
            return false;
    }
    return take_name(spec, rest == NULL ? name : rest) && strchr(spec->name, ':') == NULL;
}

static bool take_count(struct probe_spec *spec, const char *text)
{
    return text_parse_decimal(text, strlen(text), &spec->count) == 0 && spec->count != 0;
}

static bool take_counter(struct probe_spec *spec, char *text)
{
    char *count = cut(text);

    return take_name(spec, text) && (count == NULL || take_count(spec, count));
}

static bool take_profile(struct probe_spec *spec, char *text)
{
    static const char *const units[] = {"hz", "s", "ms", "us"};
    char *count = cut(text);

    spec->name = text;
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i]) == 0) {
            spec->unit = (enum probe_unit)i;
            return count != NULL && take_count(spec, count) && probe_spec_period_ns(spec) != 0;
        }
    }
    return false;
}

static bool take(struct probe_spec *spec, char *text)
{
    switch (spec->kind) {
    case PROBE_TRACEPOINT:
        return take_tracepoint(spec, text);
    case PROBE_KPROBE:
        return take_function(spec, text);
    case PROBE_UPROBE:
        return take_user_function(spec, text);
    case PROBE_URETPROBE:
        return take_user_return(spec, text);
    case PROBE_USDT:
        return take_usdt(spec, text);
    case PROBE_SOFTWARE:
    case PROBE_HARDWARE:
        return take_counter(spec, text);
    case PROBE_PROFILE:
        return take_profile(spec, text);
    default:
        return take_plain(spec, text);
    }
}

int probe_spec_parse(const char *text, struct probe_spec *spec_out, struct gait_error *err)
{
    size_t length = strcspn(text, ":");
    struct probe_spec spec = {.path = "", .group = "", .name = ""};

    if (!find_kind(text, length, &spec.kind))
        return explain_kind(text, length, err);
    if (text[length] == '\0')
        return error_set(err, EINVAL, "cannot read the probe '%s': it does not say where; write %s", text,
                         kinds[spec.kind].form);
    spec.parts = strdup(text + length + 1);
    if (spec.parts == NULL || asprintf(&spec.text, "%s%s", kinds[spec.kind].name, text + length) < 0) {
        free(spec.parts);
        return error_set(err, ENOMEM, "cannot read the probe '%s': there is no memory", text);
    }
    if (!take(&spec, spec.parts)) {
        probe_spec_deinit(&spec);
        return error_set(err, EINVAL, "cannot read the probe '%s': it is not of the form %s", text,
                         kinds[spec.kind].form);
    }
    spec.is_glob = has_glob(spec.group) || has_glob(spec.name);
    *spec_out = spec;
    return 0;
}

void probe_spec_deinit(struct probe_spec *spec)
{
    free(spec->parts);
    free(spec->text);
    spec->parts = spec->text = NULL;
    spec->path = spec->group = spec->name = "";
}

uint64_t probe_spec_period_ns(const struct probe_spec *spec)
{
    static const uint64_t unit_ns[] = {[PROBE_UNIT_S] = 1000000000, [PROBE_UNIT_MS] = 1000000, [PROBE_UNIT_US] = 1000};
    uint64_t period;

    if (spec->unit == PROBE_UNIT_HZ)
        return spec->count == 0 ? 0 : 1000000000 / spec->count;
    return __builtin_mul_overflow(spec->count, unit_ns[spec->unit], &period) ? 0 : period;
}
