/* SPDX-License-Identifier: MIT */
/* Dies of an instruction that does not exist. */
/* exit status: 132 */
#include <stdio.h>

int main(void)
{
    puts("about to run what is no instruction");
    fflush(stdout);
    __asm__ volatile(".byte 0x06");
    puts("it ran");
    return 0;
}
