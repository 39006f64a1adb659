/* SPDX-License-Identifier: MIT */
#include "base/crc32c_instruction.h"

#include "support/check.h"

static void the_instruction_computes_the_known_value(void)
{
    CHECK_EQUAL(~crc32c_instruction_run(~0u, "123456789", 9) & UINT32_MAX, 0xe3069283);
    CHECK_EQUAL(crc32c_instruction_run(7, NULL, 0), 7);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_instruction_computes_the_known_value),
};

int main(void)
{
    if (!crc32c_instruction_exists())
        check_skip("this CPU has no instruction for CRC-32C");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
