/* SPDX-License-Identifier: MIT */
#include "support/described_functions.h"

#define DESCRIBED     __attribute__((noinline, used))
#define UNUSED(value) (void)(value)

DESCRIBED enum described_colour described_plain(described_text text, const int number, unsigned char small, bool truth,
                                                char letter, enum described_sign sign)
{
    return text != 0 && number + small + truth + letter + (int)sign > 0 ? DESCRIBED_RED : DESCRIBED_GREEN;
}

DESCRIBED const char *described_strings(char *text, const unsigned char *bytes, const char *const *list)
{
    return bytes[0] != 0 ? text : list[0];
}

DESCRIBED double described_doubles(double a, int b, float c, long double d, double e)
{
    return a + b + (double)c + (double)d + e;
}

DESCRIBED void described_structs(struct described_small a, struct described_floats b, struct described_mixed c,
                                 struct described_large d, long e, double f)
{
    UNUSED(a.a), UNUSED(b.a), UNUSED(c.a), UNUSED(d.words), UNUSED(e), UNUSED(f);
}

DESCRIBED struct described_large described_hidden(int a)
{
    return (struct described_large){{a}};
}

DESCRIBED struct described_small described_returned(int a)
{
    return (struct described_small){a, a};
}

DESCRIBED int described_variadic(const char *format, ...)
{
    return format != 0;
}

DESCRIBED void described_many(long a, long b, long c, long d, long e, long f, short g, const char *h, __int128 i,
                              long j)
{
    UNUSED(a), UNUSED(b), UNUSED(c), UNUSED(d), UNUSED(e), UNUSED(f), UNUSED(g), UNUSED(h), UNUSED(i), UNUSED(j);
}

DESCRIBED void described_pairs(long a, long b, long c, long d, long e, struct described_small both, __int128 i, long j)
{
    UNUSED(a), UNUSED(b), UNUSED(c), UNUSED(d), UNUSED(e), UNUSED(both.a), UNUSED(i), UNUSED(j);
}
