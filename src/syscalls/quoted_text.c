/* SPDX-License-Identifier: MIT */
/* Letters for what has one in C, as few octal digits as are clear, or two digits in hexadecimal. */
#include "syscalls/quoted_text.h"

#include <string.h>

static bool is_space(unsigned char byte)
{
    return byte >= '\t' && byte <= '\r';
}

static bool is_plain(unsigned char byte)
{
    return byte >= ' ' && byte < 0x7f;
}

bool quoted_text_is_hex(const char *bytes, size_t size_bytes, enum quoted_text_hex hex)
{
    if (hex != QUOTED_HEX_IF_NOT_ASCII)
        return hex == QUOTED_HEX;
    for (size_t i = 0; i < size_bytes; i++)
        if (!is_plain((unsigned char)bytes[i]) && !is_space((unsigned char)bytes[i]))
            return true;
    return false;
}

static void put_octal(struct text_writer *out, unsigned char byte, bool before_digit)
{
    if (before_digit || byte >= 0100)
        text_format(out, "\\%c%c%c", '0' + (byte >> 6), '0' + (byte >> 3 & 7), '0' + (byte & 7));
    else if (byte >= 010)
        text_format(out, "\\%c%c", '0' + (byte >> 3), '0' + (byte & 7));
    else
        text_format(out, "\\%c", '0' + byte);
}

static void put_number(struct text_writer *out, unsigned char byte, char next, enum quoted_text_hex hex)
{
    if (hex == QUOTED_OCTAL)
        put_octal(out, byte, next >= '0' && next <= '9');
    else
        text_format(out, "\\x%02x", byte);
}

static void put_byte(struct text_writer *out, unsigned char byte, char next, const char *special,
                     enum quoted_text_hex hex)
{
    static const char letters[] = "tnvfr";

    if (special != NULL && byte != 0 && strchr(special, byte) != NULL)
        put_number(out, byte, next, hex);
    else if (is_space(byte))
        text_format(out, "\\%c", letters[byte - '\t']);
    else if (byte == '"' || byte == '\\')
        text_format(out, "\\%c", byte);
    else if (is_plain(byte))
        text_put_char(out, (char)byte);
    else
        put_number(out, byte, next, hex);
}

void quoted_text_put(struct text_writer *out, const struct quoted_text_piece *piece, enum quoted_text_hex hex)
{
    bool is_hex = quoted_text_is_hex(piece->bytes, piece->size_bytes, hex);

    for (size_t i = 0; i < piece->size_bytes; i++) {
        char next = i + 1 < piece->size_bytes ? piece->bytes[i + 1] : piece->next;

        if (is_hex)
            text_format(out, "\\x%02x", (unsigned char)piece->bytes[i]);
        else
            put_byte(out, (unsigned char)piece->bytes[i], next, piece->special, hex);
    }
}
