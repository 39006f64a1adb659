/* SPDX-License-Identifier: MIT */
#include "kernel/source.h"

#include "kernel/user_code.h"
#include "support/check.h"

#include <errno.h>

static struct gait_error err;

static int resolve(const char *text, struct source_probe *probe)
{
    struct probe_spec spec;
    int result;

    CHECK_EQUAL(probe_spec_parse(text, &spec, &err), 0);
    result = source_of(spec.kind)->resolve(&spec, probe, &err);
    probe_spec_deinit(&spec);
    return result;
}

/* What watches the place, itself or for a program. */
static const struct perf_event_attr *event_of(const struct source_probe *probe)
{
    return probe->program == SOURCE_PROGRAM_PROBE ? &probe->trigger : &probe->attr;
}

__attribute__((noinline, visibility("default"))) long probed_function(int number, long other);

long probed_function(int number, long other)
{
    __asm__ volatile("");
    return number + other;
}

static void functions_become_places_in_files(void)
{
    struct source_probe probe, inside;

    CHECK_EQUAL(resolve("uprobe:/proc/self/exe:probed_function", &probe), 0);
    CHECK_TEXT(probe.name, "probed_function");
    CHECK(strstr(probe.text, "test_source_uprobe") != NULL);
    CHECK_EQUAL(event_of(&probe)->config1, (uintptr_t)probe.text);
    CHECK_EQUAL(event_of(&probe)->config, 0);
    CHECK_EQUAL(resolve("uprobe:/proc/self/exe:probed_function+4", &inside), 0);
    CHECK_EQUAL(event_of(&inside)->config2, event_of(&probe)->config2 + 4);
    CHECK_TEXT(inside.name, "probed_function+4");
    source_probe_deinit(&inside);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("uretprobe:/proc/self/exe:probed_function", &probe), 0);
    CHECK_EQUAL(event_of(&probe)->config, 1);
    CHECK_TEXT(probe.fields[0].name, "retval");
    source_probe_deinit(&probe);
}

/* Tests are built with debug information. */
static void arguments_are_named_where_that_is_known(void)
{
    struct source_probe probe;

    CHECK_EQUAL(resolve("uprobe:/proc/self/exe:probed_function", &probe), 0);
    if (strcmp(probe.fields[0].name, "number") == 0) {
        CHECK_EQUAL(probe.field_count, 2);
        CHECK_EQUAL(probe.fields[0].size_bytes, 4);
        CHECK_TEXT(probe.fields[1].name, "other");
        CHECK(probe.program == SOURCE_PROGRAM_PROBE ? probe.value_count == 2
                                                    : __builtin_popcountll(probe.attr.sample_regs_user) == 2);
    } else {
        CHECK_TEXT(probe.fields[0].name, "arg0");
    }
    source_probe_deinit(&probe);
}

static void what_is_not_there_is_told(void)
{
    struct source_probe probe;

    CHECK_EQUAL(resolve("uprobe:/proc/self/exe:no_such_function", &probe), -ENOENT);
    CHECK(strstr(err.text, "there is no function 'no_such_function'") != NULL);
    CHECK_EQUAL(resolve("uprobe:/proc/self/exe:0xffffffff0", &probe), -ENOENT);
    CHECK_EQUAL(resolve("uprobe:/nowhere:main", &probe), -ENOENT);
    CHECK_EQUAL(resolve("usdt:/proc/self/exe:no:probe", &probe), -ENOENT);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(functions_become_places_in_files),
        CHECK_CASE(arguments_are_named_where_that_is_known),
        CHECK_CASE(what_is_not_there_is_told),
    };
    uint32_t type;

    if (source_dynamic_type("uprobe", &type) != 0)
        check_skip("this kernel has no uprobes");
    return check_run(cases, sizeof(cases) / sizeof(cases[0])) + (probed_function(1, -1) != 0);
}
