/* SPDX-License-Identifier: MIT */
#include "arch/signal_saved.h"

#include "arch/host_cpu.h"
#include "support/check.h"

static void frames_are_not_known(void)
{
    if (strcmp(host_cpu_name(), "arm64") != 0)
        check_skip("this test is for arm64");
    CHECK_EQUAL(signal_saved_pc_at(4096), 0);
    CHECK_EQUAL(signal_saved_sp_at(4096), 0);
    CHECK_EQUAL(signal_saved_pc_in(4096), 0);
    CHECK_EQUAL(signal_trap_distance(), 0);
    CHECK_EQUAL(signal_restorer(), 0);
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(frames_are_not_known)};

    return check_run(cases, 1);
}
