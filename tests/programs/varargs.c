/* SPDX-License-Identifier: MIT */
/* Variable arguments of all classes, in registers and on the stack, copied and passed on. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

struct pair {
    long a, b;
};

struct large {
    char text[40];
};

static __attribute__((noinline)) double total(const char *kinds, ...)
{
    va_list list;
    double sum = 0;

    va_start(list, kinds);
    for (; *kinds != 0; kinds++) {
        if (*kinds == 'i')
            sum += va_arg(list, int);
        else if (*kinds == 'd')
            sum += va_arg(list, double);
        else if (*kinds == 'l')
            sum += (double)va_arg(list, long double);
        else if (*kinds == 'p')
            sum += (double)va_arg(list, struct pair).b;
        else if (*kinds == 's')
            sum += va_arg(list, struct large).text[39];
    }
    va_end(list);
    return sum;
}

static __attribute__((noinline, format(printf, 2, 3))) int print_twice(char *text, const char *format, ...)
{
    va_list list, again;
    int length;

    va_start(list, format);
    va_copy(again, list);
    length = vsprintf(text, format, list);
    length += vsprintf(text + length, format, again);
    va_end(again);
    va_end(list);
    return length;
}

int main(void)
{
    struct pair pair = {1, 1000};
    struct large large = {.text[39] = 77};
    char text[400];
    int length;

    printf("%.3f\n", total("iiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8));
    printf("%.3f\n", total("dddddddddd", .1, .2, .3, .4, .5, .6, .7, .8, .9, 1.0));
    printf("%.3f\n", total("idlpsidlps", 1, .5, 2.25L, pair, large, 1, .5, 2.25L, pair, large));
    length = print_twice(text, "%d %s %.2f %c %lx %Lg %5u|", -5, "words", 2.5, 'z', 0xdeadbeefcaful, 1.5L, 42u);
    printf("%d: %s\n", length, text);
    return 0;
}
