/* SPDX-License-Identifier: MIT */
/* What the CPU says of itself and of time: constant where it should be, growing where it should grow. */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <x86intrin.h>

static int time_goes_backwards(void)
{
    uint64_t before = __rdtsc();
    unsigned cpu, backwards = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t now = i % 2 ? __rdtsc() : __rdtscp(&cpu);

        backwards += now < before;
        before = now;
    }
    return (int)backwards;
}

int main(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    char vendor[13] = {0};

    __get_cpuid(0, &a, &b, &c, &d);
    __builtin_memcpy(vendor, &b, 4);
    __builtin_memcpy(vendor + 4, &d, 4);
    __builtin_memcpy(vendor + 8, &c, 4);
    printf("%s, leaf %u\n", vendor, a);
    /* but not the number of the CPU, in ebx */
    __get_cpuid(1, &a, &b, &c, &d);
    printf("%08x %08x %08x\n", a, c, d);
    if (c & 1u << 27) {
        __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
        printf("xcr0 %08x%08x\n", d, a);
    }
    printf("%d times backwards\n", time_goes_backwards());
    return 0;
}
