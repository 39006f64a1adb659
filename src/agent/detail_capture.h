/* SPDX-License-Identifier: MIT */
/*
 * What a call's arguments and its result are, by a declaration: registers go in, values of a detail record come out.
 * Strings and buffers are read by the kernel, so that memory which is not there, or goes right then, is an answer and
 * no fault. It does not matter who stopped the call: followed code or a hook. No locks; any thread, signal-safe.
 */
#ifndef GAIT_AGENT_DETAIL_CAPTURE_H
#define GAIT_AGENT_DETAIL_CAPTURE_H

#include "ring/detail_declaration.h"
#include "ring/detail_record.h"

#include <stdbool.h>
#include <stdint.h>

/* A thread's, at the first instruction of a function. */
struct detail_registers {
    uint64_t arguments[DETAIL_ARGUMENTS];
    uint64_t sp;             /* where the return address is: a word that can be read */
    const uint64_t *vectors; /* the lower halves of DETAIL_VECTORS; NULL: nobody knows them */
};

/* The same, where it has returned to. */
struct detail_result {
    uint64_t value;          /* of the register for results */
    const uint64_t *vectors; /* as above */
    uint64_t errno_place;    /* where the thread's errno is; 0: nobody knows */
};

/* Whether the result says that the call failed, so that it is worth finding errno. */
bool detail_capture_has_failed(const struct detail_declaration *declaration, uint64_t value);

/*
 * Writes the declared arguments, a value each, into at most `room` bytes. string_bytes is what a string may have if its
 * declaration does not say. Returns how many bytes there are.
 */
uint32_t detail_capture_arguments(const struct detail_declaration *declaration,
                                  const struct detail_registers *registers, uint32_t string_bytes, void *bytes_out,
                                  uint32_t room);

/* The declared result, and errno if it says that there is one and that can be read. The same. */
uint32_t detail_capture_result(const struct detail_declaration *declaration, const struct detail_result *result,
                               uint32_t string_bytes, void *bytes_out, uint32_t room);

#endif
