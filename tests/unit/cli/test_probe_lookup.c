/* SPDX-License-Identifier: MIT */
/* This program has a probe itself. */
#include "cli/probe_lookup.h"

#include "gait/probe.h"
#include "support/check.h"
#include "symbolize/program_files.h"

#include <errno.h>
#include <unistd.h>

static struct program_files files;
static struct gait_error err;

static int look_up(const char *text)
{
    const struct option_list list = {.texts = &text, .count = 1};

    return probe_lookup_check(&list, &files, &err);
}

static void what_is_there_is_found(void)
{
    GAIT_PROBE(gait_test, looked_up, files.count);
    CHECK_EQUAL(look_up("usdt::gait_test:looked_up"), 0);
    CHECK_EQUAL(look_up("usdt:*:gait_*:*"), 0);
    CHECK_EQUAL(look_up("usdt:/proc/self/exe:gait_test:looked_up"), 0);
    CHECK_EQUAL(look_up("usdt:test_probe_lookup:gait_test:looked_up"), 0);
}

static void what_is_mistyped_is_suggested(void)
{
    CHECK_EQUAL(look_up("usdt::gait_test:loked_up"), -ENOENT);
    CHECK(strstr(err.text, "did you mean gait_test:looked_up?") != NULL);
    CHECK_EQUAL(look_up("usdt:/proc/self/exe:nobody:knows"), -ENOENT);
    CHECK(strstr(err.text, "gait find --probes") != NULL);
    CHECK_EQUAL(look_up("nonsense"), -EINVAL);
}

static void what_may_come_later_is_no_mistake(void)
{
    CHECK_EQUAL(look_up("usdt:libnotyet.so:a:b"), 0);
    CHECK_EQUAL(look_up("usdt::some_provider_of_a_plugin:that_is_loaded_later"), 0);
}

static void a_file_without_any_says_so(void)
{
    CHECK_EQUAL(look_up("usdt:/bin/true:a:b"), -ENOENT);
    CHECK(strstr(err.text, "no static probes at all") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_there_is_found),
    CHECK_CASE(what_is_mistyped_is_suggested),
    CHECK_CASE(what_may_come_later_is_no_mistake),
    CHECK_CASE(a_file_without_any_says_so),
};

int main(void)
{
    int status;

    if (program_files_of_process(getpid(), &files) != 0)
        return 1;
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    program_files_deinit(&files);
    return status;
}
