/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/auxiliary_vector.h"

#include "support/check.h"

#include <sys/auxv.h>

static void it_says_what_libc_was_told(void)
{
    struct auxiliary_vector vector = {0};

    CHECK_EQUAL(auxiliary_vector_read(&vector), 0);
    CHECK_EQUAL(vector.program_headers, getauxval(AT_PHDR));
    CHECK_EQUAL(vector.program_header_count, getauxval(AT_PHNUM));
    CHECK_EQUAL(vector.loader, getauxval(AT_BASE));
    CHECK_EQUAL(vector.entry, getauxval(AT_ENTRY));
    CHECK_EQUAL(vector.vdso, getauxval(AT_SYSINFO_EHDR));
    CHECK(vector.entry != 0);
}

static const struct check_case cases[] = {CHECK_CASE(it_says_what_libc_was_told)};

CHECK_MAIN(cases)
