/* SPDX-License-Identifier: MIT */
/* Dies of a return to an address that the CPU refuses. */
/* exit status: 139 */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    puts("about to go nowhere");
    fflush(stdout);
    __asm__ volatile("push %0\n\tret" : : "r"(UINT64_C(0x4141414141414141)));
    puts("it came back");
    return 0;
}
