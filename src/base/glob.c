/* SPDX-License-Identifier: MIT */
/*
 * A star takes as little as it can, and one character more each time that what follows does not fit. Only the last star
 * is ever tried again: what an earlier one could take besides, the last one can take as well. So there is no recursion.
 */
#include "base/glob.h"

/* Where a set ends that begins with the bracket at `at`: behind its closing bracket; 0: there is none. */
static size_t set_end(struct glob_text pattern, size_t at)
{
    size_t i = at + 1;

    if (i < pattern.length && (pattern.start[i] == '!' || pattern.start[i] == '^'))
        i++;
    /* A bracket that closes right away is one of the set. */
    for (i++; i < pattern.length; i++)
        if (pattern.start[i] == ']')
            return i + 1;
    return 0;
}

/* Whether the set between its brackets, [first, end), has the character. */
static bool set_has(const char *set, size_t first, size_t end, unsigned char character)
{
    for (size_t i = first; i < end; i++) {
        unsigned char low = (unsigned char)set[i], high = low;

        if (i + 2 < end && set[i + 1] == '-') {
            high = (unsigned char)set[i + 2];
            i += 2;
        }
        if (character >= low && character <= high)
            return true;
    }
    return false;
}

/* Whether one character fits what stands at `*at`, which is no star; then *at goes on behind that. */
static bool takes_one(struct glob_text pattern, size_t *at, char character)
{
    char wanted = pattern.start[*at];
    size_t end = wanted == '[' ? set_end(pattern, *at) : 0;

    if (end != 0) {
        size_t first = *at + 1;
        bool is_other = pattern.start[first] == '!' || pattern.start[first] == '^';

        *at = end;
        return set_has(pattern.start, first + is_other, end - 1, (unsigned char)character) != is_other;
    }
    if (wanted == '\\' && *at + 1 < pattern.length)
        wanted = pattern.start[++*at];
    else if (wanted == '?')
        wanted = character;
    ++*at;
    return wanted == character;
}

bool glob_matches(struct glob_text pattern, struct glob_text name)
{
    size_t at = 0, done = 0;
    size_t behind_star = 0, star_done = 0; /* where to go on when what follows the last star does not fit */
    bool has_star = false;

    for (;;) {
        if (at < pattern.length && pattern.start[at] == '*') {
            has_star = true;
            behind_star = ++at;
            star_done = done;
            continue;
        }
        if (done == name.length)
            return at == pattern.length;
        if (at < pattern.length && takes_one(pattern, &at, name.start[done])) {
            done++;
            continue;
        }
        if (!has_star)
            return false;
        at = behind_star;
        done = ++star_done;
    }
}

static struct glob_text text_of(const char *string)
{
    size_t length = 0;

    while (string[length] != '\0')
        length++;
    return (struct glob_text){string, length};
}

bool glob_matches_string(const char *pattern, const char *name)
{
    return glob_matches(text_of(pattern), text_of(name));
}

bool glob_is_all(struct glob_text pattern)
{
    for (size_t i = 0; i < pattern.length; i++)
        if (pattern.start[i] != '*')
            return false;
    return pattern.length != 0;
}
