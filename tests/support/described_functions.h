/* SPDX-License-Identifier: MIT */
/* Functions with arguments of all sorts, for tests of what debug information says of them; they are never called. */
#ifndef GAIT_TESTS_DESCRIBED_FUNCTIONS_H
#define GAIT_TESTS_DESCRIBED_FUNCTIONS_H

#include <stdbool.h>

enum described_colour {
    DESCRIBED_RED,
    DESCRIBED_GREEN = 5,
};

enum described_sign {
    DESCRIBED_MINUS = -1,
    DESCRIBED_PLUS = 1,
};

struct described_small {
    int a, b;
};

struct described_floats {
    float a, b;
    double c;
};

struct described_mixed {
    double a;
    long b;
};

struct described_large {
    long words[4];
};

typedef const char *described_text;

enum described_colour described_plain(described_text text, const int number, unsigned char small, bool truth,
                                      char letter, enum described_sign sign);
const char *described_strings(char *text, const unsigned char *bytes, const char *const *list);
double described_doubles(double a, int b, float c, long double d, double e);
void described_structs(struct described_small a, struct described_floats b, struct described_mixed c,
                       struct described_large d, long e, double f);
struct described_large described_hidden(int a);
struct described_small described_returned(int a);
int described_variadic(const char *format, ...);
void described_many(long a, long b, long c, long d, long e, long f, short g, const char *h, __int128 i, long j);
void described_pairs(long a, long b, long c, long d, long e, struct described_small both, __int128 i, long j);

#endif
