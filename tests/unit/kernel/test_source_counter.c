/* SPDX-License-Identifier: MIT */
#include "kernel/source.h"

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

static void counters_have_a_usual_count(void)
{
    struct source_probe probe;

    CHECK_EQUAL(resolve("software:page-faults", &probe), 0);
    CHECK_EQUAL(probe.attr.type, PERF_TYPE_SOFTWARE);
    CHECK_EQUAL(probe.attr.config, PERF_COUNT_SW_PAGE_FAULTS);
    CHECK_EQUAL(probe.attr.sample_period, 1);
    CHECK_EQUAL(probe.field_count, 2);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("hardware:cache-misses:500", &probe), 0);
    CHECK_EQUAL(probe.attr.type, PERF_TYPE_HARDWARE);
    CHECK_EQUAL(probe.attr.sample_period, 500);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("software:nonsense", &probe), -ENOENT);
    CHECK_EQUAL(resolve("hardware:page-faults", &probe), -ENOENT);
}

static void profiles_are_timers(void)
{
    struct source_probe probe;

    CHECK_EQUAL(resolve("profile:hz:50", &probe), 0);
    CHECK_EQUAL(probe.attr.config, PERF_COUNT_SW_CPU_CLOCK);
    CHECK_EQUAL(probe.attr.sample_period, 20000000);
    CHECK_EQUAL(probe.field_count, 1);
    source_probe_deinit(&probe);
}

static int count(void *context, const char *spec)
{
    (void)spec;
    ++*(size_t *)context;
    return 0;
}

static void they_can_be_listed(void)
{
    struct probe_spec spec;
    size_t found = 0;

    CHECK_EQUAL(probe_spec_parse("hardware:branch*", &spec, &err), 0);
    CHECK_EQUAL(source_list(&spec, count, &found, &err), 0);
    CHECK_EQUAL(found, 3);
    probe_spec_deinit(&spec);
}

static const struct check_case cases[] = {
    CHECK_CASE(counters_have_a_usual_count),
    CHECK_CASE(profiles_are_timers),
    CHECK_CASE(they_can_be_listed),
};

CHECK_MAIN(cases)
