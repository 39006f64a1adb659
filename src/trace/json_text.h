/* SPDX-License-Identifier: MIT */
/* Writing text as JSON (RFC 8259). Callable from any thread. */
#ifndef GAIT_TRACE_JSON_TEXT_H
#define GAIT_TRACE_JSON_TEXT_H

#include <stdio.h>

/* Writes a text with its quotes; what is in it means what it did, whatever bytes there are. */
void json_put_text(FILE *file, const char *text);

#endif
