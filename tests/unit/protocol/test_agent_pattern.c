/* SPDX-License-Identifier: MIT */
#include "protocol/agent_pattern.h"

#include "support/check.h"

static struct agent_pattern pattern;

static struct agent_pattern_parts split(enum agent_pattern_use use, const char *text)
{
    struct agent_pattern_parts parts;

    pattern = (struct agent_pattern){.use = use};
    memcpy(pattern.text, text, strlen(text));
    agent_pattern_split(&pattern, &parts);
    return parts;
}

static bool is_text(struct glob_text text, const char *expected)
{
    return text.length == strlen(expected) && memcmp(text.start, expected, text.length) == 0;
}

static bool has_module(const struct agent_pattern_parts *parts, const char *path, bool is_program)
{
    return agent_pattern_has_module(parts, (struct glob_text){path, strlen(path)}, is_program);
}

static void a_mark_parts_module_and_function(void)
{
    struct agent_pattern_parts parts = split(AGENT_PATTERN_DETAIL, "libz*!inflate");

    CHECK(is_text(parts.module, "libz*") && is_text(parts.function, "inflate"));
    parts = split(AGENT_PATTERN_EXCLUDE, "!main");
    CHECK(is_text(parts.module, "") && is_text(parts.function, "main"));
    parts = split(AGENT_PATTERN_EXCLUDE, "libz*!");
    CHECK(is_text(parts.module, "libz*") && is_text(parts.function, ""));
}

static void without_a_mark_it_depends_on_the_use(void)
{
    struct agent_pattern_parts parts = split(AGENT_PATTERN_EXCLUDE, "libc.so*");

    CHECK(is_text(parts.module, "libc.so*") && is_text(parts.function, ""));
    CHECK(agent_pattern_is_whole(&parts));
    parts = split(AGENT_PATTERN_TRIGGER_CALL, "abort");
    CHECK(is_text(parts.module, "") && is_text(parts.function, "abort"));
    CHECK(!agent_pattern_is_whole(&parts));
    parts = split(AGENT_PATTERN_EXCLUDE, "libc.so*!*");
    CHECK(agent_pattern_is_whole(&parts));
}

static void modules_are_named_by_the_last_part_of_their_path(void)
{
    struct agent_pattern_parts parts = split(AGENT_PATTERN_EXCLUDE, "libc.so*");

    CHECK(has_module(&parts, "/usr/lib/x86_64-linux-gnu/libc.so.6", false));
    CHECK(has_module(&parts, "/usr/lib/libc.so.6 (deleted)", false));
    CHECK(!has_module(&parts, "/usr/lib/libc.so.6/other", false));
    CHECK(!has_module(&parts, "/usr/lib/notlibc.so.6", true));
    parts = split(AGENT_PATTERN_EXCLUDE, "libc.so.6");
    CHECK(has_module(&parts, "/usr/lib/libc.so.6 (deleted)", false));
    parts = split(AGENT_PATTERN_EXCLUDE, "/opt/*");
    CHECK(has_module(&parts, "/opt/lib/libx.so", false) && !has_module(&parts, "/usr/opt/libx.so", false));
    parts = split(AGENT_PATTERN_EXCLUDE, "[[]vdso]");
    CHECK(has_module(&parts, "[vdso]", false));
}

static void functions_without_a_module_are_the_programs(void)
{
    struct agent_pattern_parts parts = split(AGENT_PATTERN_DETAIL, "parse*");

    CHECK(has_module(&parts, "/usr/bin/x", true) && !has_module(&parts, "/usr/bin/x", false));
    parts = split(AGENT_PATTERN_EXCLUDE, "");
    CHECK(!has_module(&parts, "/usr/bin/x", true));
    parts = split(AGENT_PATTERN_EXCLUDE, "!");
    CHECK(!has_module(&parts, "/usr/bin/x", true));
}

static void a_text_that_does_not_end_is_cut_off(void)
{
    struct agent_pattern_parts parts;

    memset(&pattern, 'a', sizeof(pattern));
    agent_pattern_split(&pattern, &parts);
    CHECK_EQUAL(parts.function.length, AGENT_PATTERN_BYTES);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_mark_parts_module_and_function),
        CHECK_CASE(without_a_mark_it_depends_on_the_use),
        CHECK_CASE(modules_are_named_by_the_last_part_of_their_path),
        CHECK_CASE(functions_without_a_module_are_the_programs),
        CHECK_CASE(a_text_that_does_not_end_is_cut_off),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
