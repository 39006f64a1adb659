/* SPDX-License-Identifier: MIT */
#include "kernel/probe_spec.h"

#include "support/check.h"

#include <errno.h>

static struct probe_spec spec;
static struct gait_error err;

static bool parses(const char *text)
{
    probe_spec_deinit(&spec);
    return probe_spec_parse(text, &spec, &err) == 0;
}

static bool fails(const char *text, const char *expected)
{
    struct probe_spec none;

    return probe_spec_parse(text, &none, &err) == -EINVAL && err.code == EINVAL && strstr(err.text, expected) != NULL;
}

static void kernel_functions_have_offsets(void)
{
    CHECK(parses("kprobe:vfs_read"));
    CHECK_EQUAL(spec.kind, PROBE_KPROBE);
    CHECK_TEXT(spec.name, "vfs_read");
    CHECK_EQUAL(spec.offset, 0);
    CHECK(!spec.is_glob);
    CHECK(parses("kprobe:vfs_read+0x10"));
    CHECK_TEXT(spec.name, "vfs_read");
    CHECK_EQUAL(spec.offset, 16);
    CHECK(parses("kretprobe:vfs_*"));
    CHECK_EQUAL(spec.kind, PROBE_KRETPROBE);
    CHECK(spec.is_glob);
    CHECK(parses("fentry:vfs_write"));
    CHECK_EQUAL(spec.kind, PROBE_FENTRY);
    CHECK(parses("fexit:vfs_write"));
    CHECK_EQUAL(spec.kind, PROBE_FEXIT);
}

static void tracepoints_have_groups(void)
{
    CHECK(parses("tracepoint:sched:sched_switch"));
    CHECK_EQUAL(spec.kind, PROBE_TRACEPOINT);
    CHECK_TEXT(spec.group, "sched");
    CHECK_TEXT(spec.name, "sched_switch");
    CHECK(parses("tracepoint:syscalls:sys_enter_*"));
    CHECK(spec.is_glob);
    CHECK(parses("rawtracepoint:sched_switch"));
    CHECK_EQUAL(spec.kind, PROBE_RAWTRACEPOINT);
    CHECK_TEXT(spec.name, "sched_switch");
}

static void user_functions_are_in_files(void)
{
    CHECK(parses("uprobe:/bin/bash:readline"));
    CHECK_EQUAL(spec.kind, PROBE_UPROBE);
    CHECK_TEXT(spec.path, "/bin/bash");
    CHECK_TEXT(spec.name, "readline");
    CHECK(parses("uprobe:./a*b:main+12"));
    CHECK(!spec.is_glob);
    CHECK_EQUAL(spec.offset, 12);
    CHECK(parses("uprobe:libx.so:ns::box<int>::operator++"));
    CHECK_TEXT(spec.name, "ns::box<int>::operator++");
    CHECK(parses("uprobe:/bin/true:0x1234"));
    CHECK(spec.has_address);
    CHECK_EQUAL(spec.offset, 0x1234);
    CHECK(parses("uprobe:\"/tmp/a:b\":main"));
    CHECK_TEXT(spec.path, "/tmp/a:b");
    CHECK_TEXT(spec.name, "main");
    CHECK(parses("uretprobe:libc:malloc"));
    CHECK_EQUAL(spec.kind, PROBE_URETPROBE);
    CHECK(fails("uretprobe:libc:malloc+4", "uretprobe:PATH:FUNCTION"));
}

static void static_probes_may_leave_the_provider_out(void)
{
    CHECK(parses("usdt:/usr/bin/python3:python:function__entry"));
    CHECK_EQUAL(spec.kind, PROBE_USDT);
    CHECK_TEXT(spec.group, "python");
    CHECK_TEXT(spec.name, "function__entry");
    CHECK(parses("usdt:libc.so.6:setjmp"));
    CHECK_TEXT(spec.group, "");
    CHECK_TEXT(spec.name, "setjmp");
    CHECK(parses("usdt:./server:*"));
    CHECK(spec.is_glob);
    CHECK(parses("usdt::web:*"));
    CHECK_TEXT(spec.path, "");
    CHECK(fails("usdt:a:b:c:d", "usdt:PATH"));
    CHECK(fails("usdt:a", "usdt:PATH"));
}

static void counters_have_counts(void)
{
    CHECK(parses("software:page-faults:1"));
    CHECK_EQUAL(spec.kind, PROBE_SOFTWARE);
    CHECK_TEXT(spec.name, "page-faults");
    CHECK_EQUAL(spec.count, 1);
    CHECK(parses("hardware:cache-misses"));
    CHECK_EQUAL(spec.kind, PROBE_HARDWARE);
    CHECK_EQUAL(spec.count, 0);
    CHECK(fails("software:page-faults:0", "software:EVENT"));
    CHECK(fails("software:page-faults:many", "software:EVENT"));
}

static void profiles_have_units(void)
{
    CHECK(parses("profile:hz:99"));
    CHECK_EQUAL(spec.kind, PROBE_PROFILE);
    CHECK_EQUAL(probe_spec_period_ns(&spec), 10101010);
    CHECK(parses("profile:ms:5"));
    CHECK_EQUAL(probe_spec_period_ns(&spec), 5000000);
    CHECK(parses("profile:us:100"));
    CHECK_EQUAL(probe_spec_period_ns(&spec), 100000);
    CHECK(parses("profile:s:1"));
    CHECK_EQUAL(probe_spec_period_ns(&spec), 1000000000);
    CHECK(fails("profile:hz:2000000000", "profile:hz:COUNT"));
    CHECK(fails("profile:s:99999999999999999", "profile:hz:COUNT"));
    CHECK(fails("profile:days:1", "profile:hz:COUNT"));
    CHECK(fails("profile:hz", "profile:hz:COUNT"));
}

static void short_names_become_whole(void)
{
    CHECK(parses("k:vfs_read"));
    CHECK_EQUAL(spec.kind, PROBE_KPROBE);
    CHECK_TEXT(spec.text, "kprobe:vfs_read");
    CHECK(parses("U:/bin/true:a:b"));
    CHECK_TEXT(spec.text, "usdt:/bin/true:a:b");
}

static void mistakes_are_explained(void)
{
    CHECK(fails("kprob:vfs_read", "did you mean kprobe:FUNCTION"));
    CHECK(fails("tracepiont:a:b", "did you mean tracepoint:GROUP:NAME"));
    CHECK(fails("vfs_read", "is no kind of probe; say KIND:WHERE"));
    CHECK(fails("", "is no kind of probe"));
    CHECK(fails("kprobe", "does not say where"));
    CHECK(fails("kprobe:", "not of the form kprobe:FUNCTION"));
    CHECK(fails("kprobe:a:b", "not of the form"));
    CHECK(fails("tracepoint:sched", "not of the form tracepoint:GROUP:NAME"));
    CHECK(fails("tracepoint:a:b:c", "not of the form"));
    CHECK(fails("uprobe:/bin/true", "not of the form uprobe:PATH"));
    CHECK(fails("uprobe::main", "not of the form uprobe:PATH"));
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(kernel_functions_have_offsets), CHECK_CASE(tracepoints_have_groups),
        CHECK_CASE(user_functions_are_in_files),   CHECK_CASE(static_probes_may_leave_the_provider_out),
        CHECK_CASE(counters_have_counts),          CHECK_CASE(profiles_have_units),
        CHECK_CASE(short_names_become_whole),      CHECK_CASE(mistakes_are_explained),

    };
    int result = check_run(cases, sizeof(cases) / sizeof(cases[0]));

    probe_spec_deinit(&spec);
    return result;
}
