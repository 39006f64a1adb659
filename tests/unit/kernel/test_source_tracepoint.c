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

static const struct kernel_field *field_of(const struct source_probe *probe, const char *name)
{
    for (size_t i = 0; i < probe->field_count; i++)
        if (strcmp(probe->fields[i].name, name) == 0)
            return &probe->fields[i];
    return NULL;
}

static void fields_are_what_the_kernel_says(void)
{
    struct source_probe probe;

    CHECK_EQUAL(resolve("tracepoint:sched:sched_switch", &probe), 0);
    CHECK_EQUAL(probe.attr.type, PERF_TYPE_TRACEPOINT);
    CHECK(probe.attr.config != 0);
    CHECK_EQUAL(probe.raw_base, 8);
    CHECK_EQUAL(field_of(&probe, "prev_comm")->type, KERNEL_FIELD_STRING);
    CHECK_EQUAL(field_of(&probe, "prev_comm")->size_bytes, 16);
    CHECK_EQUAL(field_of(&probe, "next_pid")->type, KERNEL_FIELD_SIGNED);
    CHECK_EQUAL(field_of(&probe, "next_pid")->size_bytes, 4);
    CHECK(strlen(probe.format) > 0);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("tracepoint:raw_syscalls:sys_enter", &probe), 0);
    CHECK_EQUAL(field_of(&probe, "args")->count, 6);
    CHECK_EQUAL(field_of(&probe, "args")->size_bytes, 8);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("tracepoint:sched:sched_process_exec", &probe), 0);
    CHECK_EQUAL(field_of(&probe, "filename")->type, KERNEL_FIELD_FAR_STRING);
    source_probe_deinit(&probe);
    CHECK_EQUAL(resolve("tracepoint:sched:nonsense", &probe), -ENOENT);
}

static int count(void *context, const char *spec)
{
    ++*(size_t *)context;
    CHECK_EQUAL(strncmp(spec, "tracepoint:sched:sched_w", 24), 0);
    return 0;
}

static void they_can_be_listed(void)
{
    struct probe_spec spec;
    size_t found = 0;

    CHECK_EQUAL(probe_spec_parse("tracepoint:sch*d:sched_w*", &spec, &err), 0);
    CHECK_EQUAL(source_list(&spec, count, &found, &err), 0);
    CHECK(found >= 3);
    probe_spec_deinit(&spec);
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(fields_are_what_the_kernel_says),
                                              CHECK_CASE(they_can_be_listed)};

    if (source_of(PROBE_TRACEPOINT)->check(&err) != 0)
        check_skip(err.text);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
