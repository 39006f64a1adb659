/* SPDX-License-Identifier: MIT */
/*
 * A demangled name is compared in several lengths: whole; without parameters; without the type in front, which those of
 * templates have; and without the arguments of the last template. Demangling takes long: names that do not have all
 * words of the pattern in them are passed over.
 */
#define _GNU_SOURCE
#include "symbolize/function_spelling.h"

#include "base/text_parse.h"
#include "symbolize/demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATOR       "operator"
#define OPERATOR_BYTES (sizeof(OPERATOR) - 1)
#define NAME_BYTES     4096

static struct glob_text text_from(const char *start, const char *end)
{
    return (struct glob_text){start, (size_t)(end - start)};
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool is_address(const char *text, uint64_t *address_out)
{
    text += *text == '*';
    return strncmp(text, "0x", 2) == 0 && text_parse_number(text, strlen(text), address_out) == 0;
}

/* "operator!=" has a mark as well, but no module is called so; and [!a-z] is part of a set. */
static const char *find_mark(const char *text)
{
    const char *mark = strchr(text, '!');

    if (mark == NULL || (mark != text && mark[-1] == '[') ||
        (mark - text >= (long)OPERATOR_BYTES && memcmp(mark - OPERATOR_BYTES, OPERATOR, OPERATOR_BYTES) == 0))
        return NULL;
    return mark;
}

/* A colon that is none of "::", outside of brackets; NULL: there is none, or there are several. */
static const char *find_colon(const char *text)
{
    const char *found = NULL;

    for (const char *place = text; *place != '\0'; place++) {
        if (strchr("(<[", *place) != NULL)
            return NULL;
        if (*place != ':')
            continue;
        if (place[1] == ':') {
            place++;
            continue;
        }
        if (found != NULL)
            return NULL;
        found = place;
    }
    return found;
}

static bool take_line(const char *text, const char *colon, struct function_spelling *spelling)
{
    uint64_t line;

    if (colon == text || text_parse_decimal(colon + 1, strlen(colon + 1), &line) != 0 || line == 0 || line > UINT32_MAX)
        return false;
    spelling->kind = SPELLING_LINE;
    spelling->source = text_from(text, colon);
    spelling->line = (uint32_t)line;
    return true;
}

static bool take_offset(const char *text, struct function_spelling *spelling)
{
    const char *plus = strrchr(text, '+');

    if (plus == NULL || plus == text || plus[1] != '0' || !is_address(plus + 1, &spelling->address))
        return false;
    spelling->kind = SPELLING_ADDRESS;
    spelling->has_module = spelling->is_offset = true;
    spelling->module = text_from(text, plus);
    spelling->name = (struct glob_text){text, strlen(text)};
    return true;
}

static void take_rest(const char *text, struct function_spelling *spelling)
{
    const char *colon = find_colon(text);

    spelling->name = (struct glob_text){text, strlen(text)};
    if (is_address(text, &spelling->address)) {
        spelling->kind = SPELLING_ADDRESS;
    } else if (colon != NULL && !take_line(text, colon, spelling) && colon != text && colon[1] != '\0' &&
               !spelling->has_module) {
        spelling->has_module = true;
        spelling->module = text_from(text, colon);
        take_rest(colon + 1, spelling);
    }
}

struct function_spelling function_spelling_of(const char *text)
{
    struct function_spelling spelling = {.kind = SPELLING_NAME};
    const char *mark = find_mark(text);

    if (mark != NULL) {
        spelling.has_module = mark != text;
        spelling.module = text_from(text, mark);
        take_rest(mark + 1, &spelling);
    } else if (!take_offset(text, &spelling)) {
        take_rest(text, &spelling);
    }
    return spelling;
}

bool function_spelling_is_single(const struct function_spelling *spelling)
{
    if (spelling->kind != SPELLING_NAME)
        return true;
    for (size_t i = 0; i < spelling->name.length; i++)
        if (strchr("*?[", spelling->name.start[i]) != NULL)
            return false;
    return true;
}

bool function_spelling_has_module(const struct function_spelling *spelling, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!spelling->has_module)
        return false;
    if (memchr(spelling->module.start, '/', spelling->module.length) == NULL && slash != NULL)
        path = slash + 1;
    return glob_matches(spelling->module, (struct glob_text){path, strlen(path)});
}

bool function_spelling_has_source(const struct function_spelling *spelling, const char *path)
{
    struct glob_text end = {path, strlen(path)};
    size_t length = spelling->source.length;

    while (length >= 2 && spelling->source.start[spelling->source.length - length] == '.' &&
           spelling->source.start[spelling->source.length - length + 1] == '/')
        length -= 2;
    if (length == 0 || length > end.length)
        return false;
    if (memcmp(path + end.length - length, spelling->source.start + spelling->source.length - length, length) != 0)
        return false;
    return length == end.length || path[end.length - length - 1] == '/';
}

/* ---- names as sources have them ---------------------------------------------------------------------------------- */

/* Behind the signs of an operator, which look like brackets; the place itself if none is there. */
static const char *skip_operator(const char *place)
{
    if (strncmp(place, OPERATOR, OPERATOR_BYTES) != 0)
        return place;
    place += OPERATOR_BYTES;
    return strncmp(place, "()", 2) == 0 ? place + 2 : place + strspn(place, "<>=!+-*/%^&|~,[]");
}

/* Where the parameters of C++ begin; NULL: there are none. Templates and lambdas have brackets of their own. */
static const char *find_parameters(const char *name)
{
    int depth = 0;

    for (const char *place = name; *place != '\0'; place++) {
        place = skip_operator(place);
        if (*place == '(' && depth == 0 && place != name && place[-1] != ':' && place[-1] != ' ')
            return place;
        if (*place == '\0')
            return NULL;
        depth += (strchr("<{(", *place) != NULL) - (strchr(">})", *place) != NULL);
    }
    return NULL;
}

size_t function_spelling_bare_length(const char *name)
{
    const char *end = strstr(name, "@plt");

    if (end == NULL)
        end = find_parameters(name);
    return end == NULL ? strlen(name) : (size_t)(end - name);
}

/* Behind the type in front of it; at a thunk's, which is another function, nothing is taken away. */
static const char *skip_type(const char *name, size_t length)
{
    const char *start = name;
    int depth = 0;

    if (strstr(name, "thunk to ") != NULL)
        return name;
    for (const char *place = name; place < name + length; place++) {
        if (strncmp(place, OPERATOR, OPERATOR_BYTES) == 0)
            break;
        depth += (strchr("<{([", *place) != NULL) - (strchr(">})]", *place) != NULL);
        if (*place == ' ' && depth == 0)
            start = place + 1;
    }
    return start;
}

/* How long it is without the arguments of the template that it ends with. */
static size_t length_without_template(const char *name, size_t length)
{
    int depth = 0;

    if (length == 0 || name[length - 1] != '>' || memmem(name, length, OPERATOR, OPERATOR_BYTES) != NULL)
        return length;
    for (size_t i = length; i-- > 1;) {
        depth += (name[i] == '>') - (name[i] == '<');
        if (depth == 0)
            return i;
    }
    return length;
}

static bool is_like(struct glob_text pattern, const char *name, size_t length)
{
    if (length == pattern.length && memcmp(pattern.start, name, length) == 0)
        return true;
    return glob_matches(pattern, (struct glob_text){name, length});
}

/* Spaces between words of types are as people like them. */
static size_t copy_without_spaces(struct glob_text text, char *copy)
{
    size_t used = 0;

    for (size_t i = 0; i < text.length && used < NAME_BYTES - 1; i++)
        if (text.start[i] != ' ')
            copy[used++] = text.start[i];
    copy[used] = '\0';
    return used;
}

static bool is_like_without_spaces(struct glob_text pattern, const char *name, size_t length)
{
    char wanted[NAME_BYTES], other[NAME_BYTES];
    struct glob_text squeezed = {wanted, copy_without_spaces(pattern, wanted)};

    return is_like(squeezed, other, copy_without_spaces((struct glob_text){name, length}, other));
}

static bool has_any(struct glob_text text, const char *characters)
{
    for (size_t i = 0; i < text.length; i++)
        if (strchr(characters, text.start[i]) != NULL)
            return true;
    return false;
}

bool function_spelling_has_plain(const struct function_spelling *spelling, const char *plain)
{
    bool (*is_meant)(struct glob_text, const char *, size_t) =
        has_any(spelling->name, " (<") ? is_like_without_spaces : is_like;
    size_t bare = function_spelling_bare_length(plain), length = strlen(plain);
    const char *start = skip_type(plain, bare);
    size_t skipped = (size_t)(start - plain);

    return is_meant(spelling->name, plain, length) || is_meant(spelling->name, plain, bare) ||
           is_meant(spelling->name, start, length - skipped) || is_meant(spelling->name, start, bare - skipped) ||
           is_meant(spelling->name, start, length_without_template(start, bare - skipped));
}

/* ---- names as linkers have them ---------------------------------------------------------------------------------- */

/* Behind a bracket and what it encloses. */
static size_t skip_brackets(struct glob_text text, size_t at)
{
    int depth = 0;

    for (; at < text.length; at++) {
        depth += (strchr("<{(", text.start[at]) != NULL) - (strchr(">})", text.start[at]) != NULL);
        if (depth <= 0)
            return at + 1;
    }
    return at;
}

/* The next word that a linker's name has to have in it, from `at` on. Empty: there is none. */
static struct glob_text next_word(struct glob_text text, size_t *at)
{
    while (*at < text.length) {
        size_t start = *at, end = start;

        while (end < text.length && is_word(text.start[end]))
            end++;
        if (end == start) {
            *at = strchr("<{(", text.start[start]) != NULL ? skip_brackets(text, start) : start + 1;
            /* A set, or parameters. */
            if (text.start[start] == '[' || (text.start[start] == '(' && start != 0 && text.start[start - 1] != ':'))
                *at = text.length;
            continue;
        }
        *at = end;
        if (end - start == OPERATOR_BYTES && memcmp(text.start + start, OPERATOR, OPERATOR_BYTES) == 0)
            *at = text.length;
        else
            return text_from(text.start + start, text.start + end);
    }
    return (struct glob_text){text.start, 0};
}

/* What the standard library has is abbreviated, and so may be any name that occurs twice. */
static bool may_be_meant(struct glob_text pattern, const char *name, size_t length)
{
    struct glob_text word;
    size_t at = 0;

    if (memmem(pattern.start, pattern.length, "std", 3) != NULL || has_any(pattern, " "))
        return true;
    while ((word = next_word(pattern, &at)).length != 0)
        if (memmem(name, length, word.start, word.length) == NULL)
            return false;
    return true;
}

bool function_spelling_has_function(const struct function_spelling *spelling, const char *name, size_t length,
                                    bool *is_linkers_out)
{
    char *plain, copy[NAME_BYTES];
    bool is_meant;

    if (spelling->kind != SPELLING_NAME)
        return false;
    *is_linkers_out = is_like(spelling->name, name, length);
    if (*is_linkers_out || length == 0 || name[0] != '_' || length >= sizeof(copy) ||
        !may_be_meant(spelling->name, name, length))
        return *is_linkers_out;
    memcpy(copy, name, length);
    copy[length] = '\0';
    plain = demangle(copy);
    /* The part of a function that is seldom used is none. */
    is_meant = plain != NULL && strstr(plain, "[clone .cold") == NULL && function_spelling_has_plain(spelling, plain);
    free(plain);
    return is_meant;
}

/* A part of a name with its length in front, as linkers have it. False: there is no room. */
static bool put_part(struct glob_text part, char **place, const char *end)
{
    bool is_plain = true;
    int length;

    for (size_t i = 0; i < part.length; i++)
        is_plain = is_plain && is_word(part.start[i]);
    if (!is_plain && !(part.length == 1 && part.start[0] == '*'))
        return false;
    length = is_plain ? snprintf(*place, (size_t)(end - *place), "%zu%.*s", part.length, (int)part.length, part.start)
                      : snprintf(*place, (size_t)(end - *place), "*");
    *place += length;
    return length > 0 && *place < end;
}

bool function_spelling_linkers_glob(const struct function_spelling *spelling, char *text_out, size_t text_bytes)
{
    const char *at = spelling->name.start, *end = at + spelling->name.length;
    char *place = text_out, *text_end = text_out + text_bytes;
    bool has_parts;

    if (spelling->kind != SPELLING_NAME || memchr(at, '<', spelling->name.length) != NULL || text_bytes < 8)
        return false;
    if (memchr(at, '(', spelling->name.length) != NULL)
        end = memchr(at, '(', spelling->name.length);
    has_parts = memmem(at, (size_t)(end - at), "::", 2) != NULL;
    place += snprintf(place, text_bytes, has_parts ? "_[ZR]*" : "_Z");
    while (at <= end) {
        const char *part_end = memmem(at, (size_t)(end - at), "::", 2);

        if (part_end == NULL)
            part_end = end;
        if (part_end == at || !put_part(text_from(at, part_end), &place, text_end))
            return false;
        at = part_end + 2;
    }
    return snprintf(place, (size_t)(text_end - place), "*") < text_end - place;
}
