/* SPDX-License-Identifier: MIT */
/*
 * Values of a call that were not declared when it was recorded, out of the registers and the piece of the stack that
 * are in each record: numbers and pointers, for strings and floats were not kept. Stateless; callable from anywhere.
 */
#ifndef GAIT_TRACE_DETAIL_NUMBERS_H
#define GAIT_TRACE_DETAIL_NUMBERS_H

#include "ring/detail_declaration.h"
#include "ring/detail_record.h"

/* Room for the values that a declaration has. */
#define DETAIL_NUMBERS_BYTES ((DETAIL_FIELDS_MAX + 1) * (sizeof(struct detail_value) + sizeof(uint64_t)))

/* One value for each argument; what was not kept is unreadable. `bytes_out` has DETAIL_NUMBERS_BYTES. */
struct detail_values detail_numbers_arguments(const struct detail_declaration *declaration,
                                              const struct detail_enter *enter, const uint8_t *stack,
                                              uint8_t *bytes_out);

/* The result; none if none is declared. */
struct detail_values detail_numbers_result(const struct detail_declaration *declaration,
                                           const struct detail_leave *leave, uint8_t *bytes_out);

#endif
