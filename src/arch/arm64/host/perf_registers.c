/* SPDX-License-Identifier: MIT */
#include "arch/perf_registers.h"

#include <asm/perf_regs.h>

#define REGISTER(number)                                                                                               \
    {                                                                                                                  \
        "x" #number, PERF_REG_ARM64_X##number, 8 * (number)                                                            \
    }

static const struct perf_register registers[] = {
    REGISTER(0),  REGISTER(1),  REGISTER(2),  REGISTER(3),  REGISTER(4),  REGISTER(5),  REGISTER(6),  REGISTER(7),
    REGISTER(8),  REGISTER(9),  REGISTER(10), REGISTER(11), REGISTER(12), REGISTER(13), REGISTER(14), REGISTER(15),
    REGISTER(16), REGISTER(17), REGISTER(18), REGISTER(19), REGISTER(20), REGISTER(21), REGISTER(22), REGISTER(23),
    REGISTER(24), REGISTER(25), REGISTER(26), REGISTER(27), REGISTER(28), REGISTER(29),
};

const struct perf_registers *perf_registers_host(void)
{
    static const struct perf_registers host = {
        .all = registers,
        .count = sizeof(registers) / sizeof(registers[0]),
        .arguments = {0, 1, 2, 3, 4, 5, 6, 7},
        .argument_count = 8,
        .result = 0,
        .pc_number = PERF_REG_ARM64_PC,
    };

    return &host;
}
