/* SPDX-License-Identifier: MIT */
/*
 * Texts as JSON (RFC 8259): the one place that knows what has to be escaped. Streams are not locked: one thread at a
 * time.
 */
#ifndef GAIT_HOSTED_JSON_TEXT_H
#define GAIT_HOSTED_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum json_escape {
    /* What is read is what was written, whatever bytes there are: what is no UTF-8 becomes single surrogates, which
     * json_reader.h makes bytes again. */
    JSON_EXACT,
    /* For readers that are strict, and for pages: U+FFFD for control characters and for what is no UTF-8; < and & are
     * escaped. */
    JSON_CLEAN,
};

/* Writes a text with its quotes. */
void json_put_text(FILE *stream, enum json_escape escape, const char *text);

/* The same, to be freed. NULL: there is no memory. */
char *json_text_make(enum json_escape escape, const char *text);

/*
 * How many bytes the character takes that begins here, and which one it is; 0: this is no UTF-8, and the code is that
 * of the byte. The text is ended by a NUL.
 */
size_t json_character(const unsigned char *text, uint32_t *code_out);

/* Whether a character is one for JSON_CLEAN: no control character, and none that XML refuses. */
int json_character_is_clean(uint32_t code);

#endif
