/* SPDX-License-Identifier: MIT */
/* Bytes of a program as people read them: what cannot be shown gets a backslash. Stateless. */
#ifndef GAIT_SYSCALLS_QUOTED_TEXT_H
#define GAIT_SYSCALLS_QUOTED_TEXT_H

#include "base/text_format.h"

enum quoted_text_hex {
    QUOTED_OCTAL,            /* \303 */
    QUOTED_HEX_BYTES,        /* \xc3, where octal numbers would be */
    QUOTED_HEX_IF_NOT_ASCII, /* all of a string in which there is such a byte */
    QUOTED_HEX,              /* all of every string */
};

/* Whether all bytes are to be numbers, because these are among them. */
bool quoted_text_is_hex(const char *bytes, size_t size_bytes, enum quoted_text_hex hex);

/*
 * Writes the bytes, without quotes. A piece of a longer string: next is the byte behind it, which tells how many digits
 * an octal number needs; 0 at the end. `special` are further characters that get a backslash and a number; NULL: none.
 */
struct quoted_text_piece {
    const char *bytes;
    size_t size_bytes;
    char next;
    const char *special;
};

void quoted_text_put(struct text_writer *out, const struct quoted_text_piece *piece, enum quoted_text_hex hex);

#endif
