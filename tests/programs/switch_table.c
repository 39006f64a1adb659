/* SPDX-License-Identifier: MIT */
/* Switches that become jump tables: dense ones, nested, and in a loop that takes each way. */
#include <stdio.h>

static __attribute__((noinline)) unsigned step(unsigned kind, unsigned value)
{
    switch (kind) {
    case 0:
        return value + 1;
    case 1:
        return value * 3;
    case 2:
        return value ^ 0x55555555;
    case 3:
        return value >> 3 | value << 29;
    case 4:
        return ~value;
    case 5:
        return value - 77;
    case 6:
        return value * value;
    case 7:
        return value | 0x80000001;
    case 8:
        return value & 0x7ffffffe;
    case 9:
        switch (value % 6) {
        case 0:
            return value / 3;
        case 1:
            return value / 5 + 9;
        case 2:
            return value * 11;
        case 3:
            return value + 0x1000;
        case 4:
            return value ^ value >> 7;
        default:
            return value ^ value << 9;
        }
    default:
        return value;
    }
}

int main(void)
{
    unsigned value = 1;

    for (unsigned i = 0; i < 100000; i++) {
        value = step((i ^ value) % 11, value);
        if (i % 10000 == 0)
            printf("%08x\n", value);
    }
    printf("%08x\n", value);
    return 0;
}
