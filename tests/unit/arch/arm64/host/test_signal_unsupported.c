/* SPDX-License-Identifier: MIT */
#include "stalker/signal_frame.h"

#include "arch/host_cpu.h"
#include "support/check.h"

static void no_place_is_known(void)
{
    if (strcmp(host_cpu_name(), "arm64") != 0)
        check_skip("this test is for arm64");
    CHECK_EQUAL(stalker_gate_recover(NULL, NULL), GATE_UNKNOWN);
    CHECK_EQUAL(signal_frame_kept_bytes(), 0);
    CHECK(signal_frame_mask(NULL) == NULL);
    CHECK(signal_frame_stack(NULL) == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(no_place_is_known),
};

CHECK_MAIN(cases)
