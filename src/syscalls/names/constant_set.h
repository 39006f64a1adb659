/* SPDX-License-Identifier: MIT */
/* Values that have names: flags, and choices of one of several. Constant tables; callable from any thread. */
#ifndef GAIT_SYSCALLS_NAMES_CONSTANT_SET_H
#define GAIT_SYSCALLS_NAMES_CONSTANT_SET_H

#include "base/text_format.h"
#include "process/system_call_table.h"

#include <stdbool.h>
#include <stdint.h>

/* The name of exactly this value, or NULL. */
const char *constant_set_name(enum system_call_constants set, uint64_t value);

/* Writes the bits that are set: A|B|0x40; 0, or what 0 is called; 0x40 with a comment of what it might be if it has
 * none. */
void constant_set_put_flags(struct text_writer *text, enum system_call_constants set, uint64_t value);

/* The same, behind what is there already: begins with a | unless it is the first. Returns the bits without a name. */
uint64_t constant_set_put_bits(struct text_writer *text, enum system_call_constants set, uint64_t value,
                               bool *is_first);

/* Writes the value's name, or the value with a comment of what it might be. */
void constant_set_put_choice(struct text_writer *text, enum system_call_constants set, uint64_t value);

/* Writes the comment alone: what values of the set are that have no name. */
void constant_set_put_comment(struct text_writer *text, enum system_call_constants set);

#endif
