/* SPDX-License-Identifier: MIT */
/* The names of return addresses, by what was mapped where when they were taken. One thread at a time. */
#ifndef GAIT_SYMBOLIZE_STACK_NAMES_H
#define GAIT_SYMBOLIZE_STACK_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct function_names;
struct modules;

/*
 * Writes "function+0x12", as function_names_find does, for an address behind a call: of the function that the call is
 * in, which may end with it. "0x1234" where nothing was mapped.
 */
void stack_names_find(const struct modules *modules, struct function_names *names, uint64_t time, uint64_t address,
                      char *text, size_t text_bytes);

/* The same, and " (file:line)" of the call behind it where debug information tells the line. */
void stack_names_find_line(const struct modules *modules, struct function_names *names, uint64_t time, uint64_t address,
                           char *text, size_t text_bytes);

#endif
