/* SPDX-License-Identifier: MIT */
#include "hosted/figures.h"

#include <inttypes.h>
#include <stdio.h>

#define KIB 1024.0

static const char *const duration_units[] = {"ns", "us", "ms", "s"};
static const char *const size_units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};

const char *duration_write(double nanoseconds, char text[FIGURE_BYTES])
{
    double value = nanoseconds;
    unsigned unit = 0;

    /* What would be rounded up to 1000 is one of the next. */
    while (unit < 3 && value >= (unit == 0 ? 999.5 : 999.95)) {
        value /= 1e3;
        unit++;
    }
    snprintf(text, FIGURE_BYTES, "%.*f %s",
             unit == 0 || value >= 999.95 ? 0
             : value >= 99.995            ? 1
             : value >= 9.9995            ? 2
                                          : 3,
             value, duration_units[unit]);
    return text;
}

/* Rounded to a digit and zeroes, in the unit that leaves at most three of them. */
const char *duration_write_rough(double nanoseconds, char text[FIGURE_BYTES])
{
    double value = nanoseconds, step = 1;
    unsigned unit = 0;

    for (; unit < 3 && value >= 950; unit++)
        value /= 1e3;
    while (value / step >= 9.5)
        step *= 10;
    snprintf(text, FIGURE_BYTES, "%.0f %s", (double)(uint64_t)(value / step + 0.5) * step, duration_units[unit]);
    return text;
}

const char *moment_write(double seconds, char text[FIGURE_BYTES])
{
    snprintf(text, FIGURE_BYTES, "%.3f s", seconds);
    return text;
}

static const char *write_share(double part, double whole, int digits, char text[FIGURE_BYTES])
{
    snprintf(text, FIGURE_BYTES, "%.*f %%", digits, whole == 0 ? 0 : 100 * part / whole);
    return text;
}

const char *share_write(double part, double whole, char text[FIGURE_BYTES])
{
    return write_share(part, whole, 1, text);
}

const char *share_write_rough(double part, double whole, char text[FIGURE_BYTES])
{
    return write_share(part, whole, 0, text);
}

const char *size_write(uint64_t bytes, char text[FIGURE_BYTES])
{
    double size = (double)bytes;
    unsigned unit = 0;

    /* What would be rounded up to 1024.0 is one of the next. */
    for (; unit < 4 && size >= (unit == 0 ? KIB : KIB - 0.05); unit++)
        size /= KIB;
    snprintf(text, FIGURE_BYTES, "%.*f %s", unit == 0 ? 0 : 1, size, bytes == 1 ? "byte" : size_units[unit]);
    return text;
}

const char *count_write(uint64_t count, char text[FIGURE_BYTES])
{
    char digits[FIGURE_BYTES], *place = text;
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0)
            *place++ = ',';
        *place++ = digits[i];
    }
    *place = '\0';
    return text;
}
