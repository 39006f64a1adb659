/* SPDX-License-Identifier: MIT */
/*
 * Text from files and programs on its way to a terminal: what could move its cursor or change its colours is replaced.
 * Stateless; callable from anywhere.
 */
#ifndef GAIT_CLI_SCREENS_PRINTABLE_H
#define GAIT_CLI_SCREENS_PRINTABLE_H

#include <stddef.h>

/* Copies the text with '?' for every control character, cut off where the room ends. Returns `buffer`. */
const char *printable(char *buffer, size_t buffer_bytes, const char *text);

#endif
