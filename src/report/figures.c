/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include <inttypes.h>
#include <stdio.h>

const char *duration_write(double nanoseconds, char text[DURATION_BYTES])
{
    if (nanoseconds < 1e3)
        snprintf(text, DURATION_BYTES, "%.0f ns", nanoseconds);
    else if (nanoseconds < 1e6)
        snprintf(text, DURATION_BYTES, "%.2f us", nanoseconds / 1e3);
    else if (nanoseconds < 1e9)
        snprintf(text, DURATION_BYTES, "%.2f ms", nanoseconds / 1e6);
    else
        snprintf(text, DURATION_BYTES, "%.3f s", nanoseconds / 1e9);
    return text;
}

const char *duration_write_short(double nanoseconds, char text[DURATION_BYTES])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = nanoseconds;
    unsigned unit = 0;

    /* What would be rounded up to 1000 is one of the next. */
    while (unit < 3 && value >= (unit == 0 ? 999.5 : 999.95)) {
        value /= 1e3;
        unit++;
    }
    snprintf(text, DURATION_BYTES, "%.*f%s",
             unit == 0 || value >= 999.95 ? 0
             : value >= 99.995            ? 1
             : value >= 9.9995            ? 2
                                          : 3,
             value, units[unit]);
    return text;
}

/* Rounded to a digit and zeroes, in the unit that leaves at most three of them. */
static const char *write_rough(double nanoseconds, const char *space, char text[DURATION_BYTES])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = nanoseconds, step = 1;
    unsigned unit = 0;

    for (; unit < 3 && value >= 950; unit++)
        value /= 1e3;
    while (value / step >= 9.5)
        step *= 10;
    snprintf(text, DURATION_BYTES, "%.0f%s%s", (double)(uint64_t)(value / step + 0.5) * step, space, units[unit]);
    return text;
}

const char *duration_write_rough(double nanoseconds, char text[DURATION_BYTES])
{
    return write_rough(nanoseconds, " ", text);
}

const char *duration_write_rough_short(double nanoseconds, char text[DURATION_BYTES])
{
    return write_rough(nanoseconds, "", text);
}

const char *count_write(uint64_t count, char text[COUNT_BYTES])
{
    char digits[COUNT_BYTES], *place = text;
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0)
            *place++ = ',';
        *place++ = digits[i];
    }
    *place = '\0';
    return text;
}
