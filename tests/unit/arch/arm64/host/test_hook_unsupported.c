/* SPDX-License-Identifier: MIT */
#include "hook/hook_gate.h"
#include "hook/hook_stub.h"
#include "hook/hook_thread.h"

#include "arch/host_cpu.h"
#include "support/check.h"

#include <errno.h>

static void hooking_is_refused(void)
{
    const struct hook_threads_options options = {0};

    if (strcmp(host_cpu_name(), "arm64") != 0)
        check_skip("this test is for arm64");
    CHECK(!hook_gate_is_supported());
    CHECK(!hook_stub_is_supported());
    CHECK_EQUAL(hook_threads_begin(&options), -EOPNOTSUPP);
    CHECK_EQUAL(hook_segment_get(), 0);
    CHECK_EQUAL(hook_thread_pointer(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(hooking_is_refused),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
