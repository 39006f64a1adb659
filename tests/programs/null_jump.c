/* SPDX-License-Identifier: MIT */
/* Dies of a call through a null pointer. */
/* exit status: 139 */
#include <stdio.h>

int main(void)
{
    void (*volatile nowhere)(void) = NULL;

    puts("about to call nothing");
    fflush(stdout);
    nowhere();
    puts("it came back");
    return 0;
}
