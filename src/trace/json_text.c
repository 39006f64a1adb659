/* SPDX-License-Identifier: MIT */
/* Bytes that are no UTF-8 become single surrogates, which json_reader.c makes bytes again. Stateless. */
#include "trace/json_text.h"

#include <stddef.h>
#include <stdint.h>

/* How many bytes the character takes that begins here; 0: this is no UTF-8. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : (text[0] & 0xe0) == 0xc0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 4;
    uint32_t code = text[0] & (0x7fu >> length);

    if (length == 1)
        return 1;
    if (length == 4 && (text[0] & 0xf8) != 0xf0)
        return 0;
    for (size_t i = 1; i < length; i++) {
        /* The NUL at the end is no part of a character, either. */
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : length;
}

void json_put_text(FILE *file, const char *text)
{
    const unsigned char *place = (const unsigned char *)text;

    putc('"', file);
    while (*place != '\0') {
        size_t length = utf8_length(place);

        if (length == 0)
            fprintf(file, "\\udc%02x", *place++);
        else if (*place == '"' || *place == '\\')
            fprintf(file, "\\%c", *place++);
        else if (*place < 0x20 || *place == 0x7f)
            fprintf(file, "\\u%04x", *place++);
        else
            while (length-- > 0)
                putc(*place++, file);
    }
    putc('"', file);
}
