/* SPDX-License-Identifier: MIT */
/*
 * Calls functions with arguments of all sorts, for --detail with debug information, and says what a recording should
 * show of them: lines "function TAB arguments" where one is entered, and "function TAB = result" where it returns
 * something that can be shown.
 */
#include <stdbool.h>
#include <stdio.h>

#define WATCHED __attribute__((noinline, noclone, noipa))

enum colour {
    RED,
    GREEN = 5,
};

struct small {
    int a, b;
};

struct floats {
    float a, b, c;
};

struct large {
    long words[4];
};

typedef const char *text_pointer;

static volatile long sink;

WATCHED enum colour b_plain(text_pointer text, const int number, unsigned char small, bool truth, char letter,
                            enum colour colour)
{
    sink += text[0] + number + small + truth + letter + (long)colour;
    return RED;
}

WATCHED const char *b_string(char *text)
{
    return text == NULL ? "none" : text + 1;
}

WATCHED float b_floats(double a, int b, float c)
{
    return (float)(a + b) + c;
}

WATCHED void b_structs(struct small a, struct floats b, struct large c, const struct large *d, long e, double f)
{
    sink += a.a + (long)b.a + c.words[0] + (d != NULL) + e + (long)f;
}

WATCHED struct large b_hidden(long a, const char *text)
{
    return (struct large){{a, text[0]}};
}

WATCHED int b_variadic(const char *format, ...)
{
    return format[0];
}

WATCHED long b_many(int a, int b, int c, int d, int e, int f, short g, const char *h, long double i, long j)
{
    return a + b + c + d + e + f + g + h[0] + (long)i + j;
}

WATCHED static unsigned long b_static(void *pointer, int (*function)(void))
{
    sink += pointer != NULL;
    return function == NULL ? ~0ul : 0;
}

int main(void)
{
    static const struct large large = {{1, 2, 3, 4}};

    printf("b_plain\ttext=\"pl\\\"ain\", number=-2, small=255, truth=true, letter='z', colour=GREEN\nb_plain\t= RED\n");
    b_plain("pl\"ain", -2, 255, true, 'z', GREEN);
    printf("b_plain\ttext=\"\", number=0, small=0, truth=false, letter='\\x00', colour=3\nb_plain\t= RED\n");
    b_plain("", 0, 0, false, 0, (enum colour)3);
    printf("b_string\ttext=NULL\nb_string\t= \"none\"\n");
    b_string(NULL);
    printf("b_floats\ta=0.5, b=3, c=-0.25\nb_floats\t= 3.25\n");
    b_floats(0.5, 3, -0.25f);
    printf("b_structs\ta=_, b=_, c=_, d=%p, e=-9, f=2.5\n", (const void *)&large);
    b_structs((struct small){1, 2}, (struct floats){1, 2, 3}, large, &large, -9, 2.5);
    printf("b_hidden\ta=7, text=\"hidden\"\n");
    b_hidden(7, "hidden");
    printf("b_variadic\tformat=\"%%d\\n\", ...\nb_variadic\t= 37\n");
    b_variadic("%d\n", 5);
    printf("b_many\ta=1, b=2, c=3, d=4, e=5, f=6, g=-7, h=\"eight\", i=_, j=10\nb_many\t= 134\n");
    b_many(1, 2, 3, 4, 5, 6, -7, "eight", 9.0L, 10);
    printf("b_static\tpointer=NULL, function=NULL\nb_static\t= 18446744073709551615\n");
    b_static(NULL, NULL);
    return 0;
}
