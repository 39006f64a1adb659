/* SPDX-License-Identifier: MIT */
#include "kernel/source.h"

#include "gait/probe.h"
#include "support/check.h"

#include <errno.h>

GAIT_PROBE_SEMAPHORE(example, counted);

static struct gait_error err;

__attribute__((noinline)) static void pass(int number)
{
    GAIT_PROBE(example, passed, number);
    GAIT_PROBE(example, twice);
    GAIT_PROBE(example, twice);
    GAIT_PROBE_IF_ENABLED(example, counted, number);
}

static int resolve(const char *text, struct source_probe *probe)
{
    struct probe_spec spec;
    int result;

    CHECK_EQUAL(probe_spec_parse(text, &spec, &err), 0);
    result = source_of(spec.kind)->resolve(&spec, probe, &err);
    probe_spec_deinit(&spec);
    return result;
}

static int note(void *context, const char *spec)
{
    strcat(strcat(context, spec), "\n");
    return 0;
}

static void probes_are_found_by_name(void)
{
    struct source_probe probe;

    CHECK_EQUAL(resolve("usdt:/proc/self/exe:example:passed", &probe), 0);
    CHECK_TEXT(probe.name, "example:passed");
    /* With an argument, a program in the kernel is needed to take it, where one can be had. */
    CHECK(probe.program == SOURCE_PROGRAM_NONE || probe.value_count == 1);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("usdt:/proc/self/exe:passed", &probe), 0);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("usdt:/proc/self/exe:other:passed", &probe), -ENOENT);
}

static void semaphores_go_with_them(void)
{
    struct source_probe probe;
    uint64_t config;

    CHECK_EQUAL(resolve("usdt:/proc/self/exe:counted", &probe), 0);
    config = probe.program == SOURCE_PROGRAM_NONE ? probe.attr.config : probe.trigger.config;
    CHECK(config >> 32 != 0);
    source_probe_deinit(&probe);
}

static void places_of_one_name_are_told_apart(void)
{
    char found[1024] = "";
    struct probe_spec spec;

    CHECK_EQUAL(probe_spec_parse("usdt:/proc/self/exe:example:*", &spec, &err), 0);
    CHECK_EQUAL(source_list(&spec, note, found, &err), 0);
    CHECK(strstr(found, "usdt:/proc/self/exe:example:passed\n") != NULL);
    CHECK(strstr(found, "usdt:/proc/self/exe:example:twice@0x") != NULL);
    CHECK(strstr(strstr(found, "twice@0x") + 1, "twice@0x") != NULL);
    probe_spec_deinit(&spec);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(probes_are_found_by_name),
        CHECK_CASE(semaphores_go_with_them),
        CHECK_CASE(places_of_one_name_are_told_apart),
    };
    uint32_t type;

    pass(1);
    if (source_dynamic_type("uprobe", &type) != 0)
        check_skip("this kernel has no uprobes");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
