/* SPDX-License-Identifier: MIT */
/* Bytes above 0x7f are left to the terminal, but for those of the second set of control characters in UTF-8. */
#include "cli/screens/printable.h"

#include <stdbool.h>

static bool is_control(const unsigned char *place)
{
    return place[0] < 0x20 || place[0] == 0x7f || (place[0] == 0xc2 && place[1] >= 0x80 && place[1] < 0xa0);
}

const char *printable(char *buffer, size_t buffer_bytes, const char *text)
{
    const unsigned char *place = (const unsigned char *)text;
    size_t used = 0;

    for (; *place != '\0' && used + 1 < buffer_bytes; place++)
        buffer[used++] = (char)(is_control(place) ? '?' : *place);
    buffer[used] = '\0';
    return buffer;
}
