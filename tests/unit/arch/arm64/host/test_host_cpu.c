/* SPDX-License-Identifier: MIT */
#include "arch/cpu.h"
#include "arch/host_cpu.h"

#include "support/check.h"

#include <sys/utsname.h>

static void the_name_is_that_of_the_folder(void)
{
    struct utsname name;

    CHECK_EQUAL(uname(&name), 0);
    if (strcmp(name.machine, "aarch64") != 0)
        check_skip("this test is for arm64");
    CHECK_TEXT(cpu_host()->name, "arm64");
    CHECK_EQUAL(host_cpu_decode_options(), 0);
    CHECK_EQUAL(host_cpu_address_bits(), 64);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_name_is_that_of_the_folder),
};

CHECK_MAIN(cases)
