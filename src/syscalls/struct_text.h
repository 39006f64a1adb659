/* SPDX-License-Identifier: MIT */
/* Structs that arguments point at, by what the table of system calls says they are. Stateless; any thread. */
#ifndef GAIT_SYSCALLS_STRUCT_TEXT_H
#define GAIT_SYSCALLS_STRUCT_TEXT_H

#include "syscalls/call_text.h"

/* The struct at address, or the address if it cannot be read, or nothing is known of it. */
void struct_text_put(const struct call_text *text, enum system_call_struct which, uint64_t address);

/* The same of as many bytes as the program says. */
void struct_text_put_sized(const struct call_text *text, enum system_call_struct which, uint64_t address,
                           uint64_t size_bytes);

/* An array of them. */
void struct_text_put_array(const struct call_text *text, enum system_call_struct which, uint64_t address,
                           uint64_t count);

#endif
