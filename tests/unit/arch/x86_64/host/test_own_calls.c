/* SPDX-License-Identifier: MIT */
#include "arch/own_calls.h"

#include "base/raw_syscall.h"
#include "support/check.h"

#include <string.h>

static void each_is_behind_a_system_call(void)
{
    uint64_t places[OWN_CALLS_MAX];
    size_t count = own_calls_list(places);

    CHECK(count > 0 && count <= OWN_CALLS_MAX);
    for (size_t i = 0; i < count; i++) {
        CHECK(memcmp((const char *)(uintptr_t)places[i] - 2, "\x0f\x05", 2) == 0);
        CHECK(places[i] != (uintptr_t)raw_syscall_for_program_end);
        for (size_t j = 0; j < i; j++)
            CHECK(places[j] != places[i]);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(each_is_behind_a_system_call),
};

CHECK_MAIN(cases)
