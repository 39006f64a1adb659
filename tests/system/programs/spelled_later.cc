/* SPDX-License-Identifier: MIT */
/* A library that is loaded when the program runs already. */
#include <stdio.h>

namespace later {
__attribute__((noinline)) int deep(int number)
{
    printf("deep\n");
    return number + 1;
}
} // namespace later

extern "C" __attribute__((noinline)) int plain_later(int number)
{
    printf("later\n");
    return later::deep(number);
}
