/* SPDX-License-Identifier: MIT */
/* Dies by abort, of an assertion that does not hold. */
/* exit status: 134 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

int main(void)
{
    volatile int two = 2;

    puts("about to assert");
    fflush(stdout);
    assert(two == 3);
    puts("it held");
    return 0;
}
