/* SPDX-License-Identifier: MIT */
#include "arch/own_calls.h"

#include "arch/cpu.h"

#include "base/raw_syscall.h"
#include "support/check.h"

#include <string.h>

static void each_is_behind_a_system_call(void)
{
    uint64_t places[OWN_CALLS_MAX];
    size_t count = own_calls_list(places);

    if (strcmp(cpu_host()->name, "arm64") != 0)
        check_skip("this test is for arm64");
    CHECK(count > 0 && count <= OWN_CALLS_MAX);
    for (size_t i = 0; i < count; i++) {
        CHECK(memcmp((const char *)(uintptr_t)places[i] - 4, "\x01\x00\x00\xd4", 4) == 0);
        CHECK(places[i] != (uintptr_t)raw_syscall_for_program_end);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(each_is_behind_a_system_call),
};

CHECK_MAIN(cases)
