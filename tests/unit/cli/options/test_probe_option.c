/* SPDX-License-Identifier: MIT */
#include "cli/options/probe_option.h"

#include "support/check.h"

#include <errno.h>
#include <unistd.h>

static struct probe_option option;
static struct gait_error err;

static const char *pattern_of(const char *text)
{
    static char pattern[AGENT_PATTERN_BYTES];

    if (probe_option_read(text, &option, &err) != 0)
        return err.text;
    memcpy(pattern, option.pattern, sizeof(pattern));
    probe_option_deinit(&option);
    return pattern;
}

static void parts_become_a_pattern(void)
{
    CHECK_TEXT(pattern_of("usdt::shop:order"), "*!shop:order");
    CHECK_TEXT(pattern_of("usdt:*:shop:o*"), "*!shop:o*");
    CHECK_TEXT(pattern_of("usdt:libstdc++.so.6:libstdcxx:throw"), "libstdc++.so.6*!libstdcxx:throw");
    CHECK_TEXT(pattern_of("usdt:lib*:a:b"), "lib*!a:b");
    CHECK_TEXT(pattern_of("usdt:/no/such/file:a:b"), "/no/such/file!a:b");
}

static void links_are_followed(void)
{
    char link[] = "/tmp/gait-test-XXXXXX", text[128];

    CHECK(mkdtemp(link) != NULL);
    snprintf(text, sizeof(text), "%s/link", link);
    CHECK_EQUAL(symlink("/dev/null", text), 0);
    snprintf(text, sizeof(text), "usdt:%s/link:a:b", link);
    CHECK_TEXT(pattern_of(text), "/dev/null!a:b");
    snprintf(text, sizeof(text), "%s/link", link);
    unlink(text);
    rmdir(link);
}

static void types_are_those_of_arguments(void)
{
    CHECK_EQUAL(probe_option_read("usdt::shop:order(int,str)", &option, &err), 0);
    CHECK_TEXT(option.pattern, "*!shop:order");
    CHECK_EQUAL(option.declaration.is_given, 1);
    CHECK_EQUAL(option.declaration.count, 2);
    CHECK_EQUAL(option.declaration.fields[1].type, DETAIL_TYPE_STRING);
    probe_option_deinit(&option);
    CHECK_EQUAL(probe_option_read("usdt::shop:order", &option, &err), 0);
    CHECK_EQUAL(option.declaration.is_given, 0);
    probe_option_deinit(&option);
}

static void what_is_wrong_is_said(void)
{
    char text[400];

    CHECK_EQUAL(probe_option_read("shop:order", &option, &err), -EINVAL);
    CHECK_EQUAL(probe_option_read("", &option, &err), -EINVAL);
    CHECK_EQUAL(probe_option_read("kprobe:do_exit", &option, &err), -EINVAL);
    CHECK(strstr(err.text, "usdt:PATH:PROVIDER:NAME") != NULL);
    CHECK_EQUAL(probe_option_read("usdt::shop:order(int", &option, &err), -EINVAL);
    CHECK_EQUAL(probe_option_read("usdt::shop:order(nonsense)", &option, &err), -EINVAL);
    CHECK(strstr(err.text, "types") != NULL);
    snprintf(text, sizeof(text), "usdt::shop:%0300d", 1);
    CHECK_EQUAL(probe_option_read(text, &option, &err), -EINVAL);
    CHECK(strstr(err.text, "too long") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(parts_become_a_pattern),
    CHECK_CASE(links_are_followed),
    CHECK_CASE(types_are_those_of_arguments),
    CHECK_CASE(what_is_wrong_is_said),
};

CHECK_MAIN(cases)
