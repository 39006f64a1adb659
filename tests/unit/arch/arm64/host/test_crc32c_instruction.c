/* SPDX-License-Identifier: MIT */
#include "base/crc32c_instruction.h"

#include "support/check.h"

#include <sys/utsname.h>

static void the_instruction_is_not_claimed(void)
{
    struct utsname name;

    CHECK_EQUAL(uname(&name), 0);
    if (strcmp(name.machine, "aarch64") != 0)
        check_skip("this test is for arm64");
    CHECK(!crc32c_instruction_exists());
}

static const struct check_case cases[] = {
    CHECK_CASE(the_instruction_is_not_claimed),
};

CHECK_MAIN(cases)
