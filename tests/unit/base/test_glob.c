/* SPDX-License-Identifier: MIT */
/* Compares with the fnmatch of libc, besides what is checked one by one. */
#include "base/glob.h"

#include "support/check.h"
#include "support/random.h"

#include <fnmatch.h>

#define ROUNDS 300000

static void stars_and_marks_stand_for_characters(void)
{
    CHECK(glob_matches_string("libc.so*", "libc.so.6"));
    CHECK(glob_matches_string("libc.so*", "libc.so"));
    CHECK(!glob_matches_string("libc.so*", "libc++.so"));
    CHECK(glob_matches_string("*alloc", "malloc") && glob_matches_string("*alloc", "alloc"));
    CHECK(!glob_matches_string("*alloc", "malloc_usable_size"));
    CHECK(glob_matches_string("a?c", "abc") && !glob_matches_string("a?c", "ac"));
    CHECK(glob_matches_string("", "") && !glob_matches_string("", "a") && glob_matches_string("*", ""));
    CHECK(glob_matches_string("*a*b*c*", "xxaxxbxxcxx") && !glob_matches_string("*a*b*c*", "xxaxxcxxbxx"));
    CHECK(glob_matches_string("*ab", "aab") && glob_matches_string("*aab", "aaab"));
}

static void sets_have_ranges_and_opposites(void)
{
    CHECK(glob_matches_string("ld-[0-9]*", "ld-2.31.so") && !glob_matches_string("ld-[0-9]*", "ld-linux.so"));
    CHECK(glob_matches_string("[!a]b", "cb") && !glob_matches_string("[!a]b", "ab"));
    CHECK(glob_matches_string("[^a]b", "cb") && !glob_matches_string("[^a]b", "ab"));
    CHECK(glob_matches_string("[]]", "]") && glob_matches_string("[a-]", "-") && !glob_matches_string("[a-]", "b"));
    CHECK(glob_matches_string("[\x80-\xff]", "\xc3"));
    CHECK(glob_matches_string("operator[", "operator[") && glob_matches_string("[", "["));
}

static void a_backslash_takes_the_next_as_it_is(void)
{
    CHECK(glob_matches_string("operator\\*", "operator*") && !glob_matches_string("operator\\*", "operator+"));
    CHECK(glob_matches_string("a\\\\", "a\\") && glob_matches_string("a\\", "a\\"));
}

static void texts_need_not_end(void)
{
    CHECK(glob_matches((struct glob_text){"ab*cd", 3}, (struct glob_text){"abxyz", 4}));
    CHECK(!glob_matches((struct glob_text){"ab*", 2}, (struct glob_text){"abx", 3}));
    CHECK(glob_matches((struct glob_text){"[ab", 1}, (struct glob_text){"[b", 1}));
    CHECK(glob_matches((struct glob_text){"a\\x", 2}, (struct glob_text){"a\\x", 2}));
}

static void many_stars_take_no_time(void)
{
    char pattern[64], name[4096];

    for (size_t i = 0; i + 2 < sizeof(pattern); i += 2)
        memcpy(pattern + i, "*a", 2);
    memcpy(pattern + sizeof(pattern) - 2, "b", 2);
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    CHECK(!glob_matches_string(pattern, name));
    name[sizeof(name) - 2] = 'b';
    CHECK(glob_matches_string(pattern, name));
}

static void only_stars_match_everything(void)
{
    CHECK(glob_is_all((struct glob_text){"*", 1}) && glob_is_all((struct glob_text){"***", 3}));
    CHECK(!glob_is_all((struct glob_text){"", 0}) && !glob_is_all((struct glob_text){"*?", 2}));
}

static void libc_agrees(void)
{
    static const char letters[] = "aab*?b", name_letters[] = "aabb";
    struct random random;

    random_init(&random, 7);
    for (unsigned i = 0; i < ROUNDS; i++) {
        char pattern[8] = "", name[12] = "";
        size_t pattern_length = random_below(&random, sizeof(pattern)),
               name_length = random_below(&random, sizeof(name));

        for (size_t k = 0; k < pattern_length; k++)
            pattern[k] = letters[random_below(&random, sizeof(letters) - 1)];
        for (size_t k = 0; k < name_length; k++)
            name[k] = name_letters[random_below(&random, sizeof(name_letters) - 1)];
        if (glob_matches_string(pattern, name) != (fnmatch(pattern, name, 0) == 0)) {
            printf("pattern %s, name %s\n", pattern, name);
            CHECK(false);
            return;
        }
    }
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(stars_and_marks_stand_for_characters),
        CHECK_CASE(sets_have_ranges_and_opposites),
        CHECK_CASE(a_backslash_takes_the_next_as_it_is),
        CHECK_CASE(texts_need_not_end),
        CHECK_CASE(many_stars_take_no_time),
        CHECK_CASE(only_stars_match_everything),
        CHECK_CASE(libc_agrees),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
