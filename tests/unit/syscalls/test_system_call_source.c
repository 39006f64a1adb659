/* SPDX-License-Identifier: MIT */
#include "syscalls/system_call_source.h"

#include "support/check.h"

static void sources_are_found_by_name(void)
{
    size_t count = 0;

    for (; system_call_source_at(count) != NULL; count++)
        CHECK_EQUAL(system_call_source_find(system_call_source_at(count)->name) == system_call_source_at(count), 1);
    CHECK_EQUAL(count > 0, 1);
    CHECK_EQUAL(system_call_source_find("ptrace") != NULL, 1);
    CHECK_EQUAL(system_call_source_find("telepathy") == NULL, 1);
}

static const struct check_case cases[] = {CHECK_CASE(sources_are_found_by_name)};

CHECK_MAIN(cases)
