/* SPDX-License-Identifier: MIT */
#include "arch/thread_landing.h"

#include "arch/host_cpu.h"
#include "support/check.h"

#include <errno.h>

static void landing_is_refused_for_now(void)
{
    struct thread_registers registers = {{0}};
    struct thread_landing landing = {0};

    if (strcmp(host_cpu_name(), "arm64") != 0)
        check_skip("this test is for arm64");
    CHECK_EQUAL(thread_landing_prepare(&landing, &registers), -EOPNOTSUPP);
    CHECK_EQUAL(thread_landing_vector_bytes(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(landing_is_refused_for_now),
};

CHECK_MAIN(cases)
