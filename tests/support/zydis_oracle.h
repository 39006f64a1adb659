/* SPDX-License-Identifier: MIT */
/* Compares what the decoder says of an instruction with what libZydis says, field by field. */
#ifndef GAIT_TESTS_ZYDIS_ORACLE_H
#define GAIT_TESTS_ZYDIS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct difference;
struct difference_list;

#define ZYDIS_DIFFERENCES "tests/data/x86_decoder_differences"

/* Must be called once, before any comparison. */
void zydis_oracle_init(void);

/* Reads the list of explained differences with the conditions that it uses. Returns 0, or -errno after printing. */
__attribute__((warn_unused_result)) int zydis_oracle_read_list(struct difference_list *list);

/*
 * Decodes the instruction at bytes with both and lets the list judge every difference, up to the first that it does not
 * explain. Returns how far to advance: the instruction's length, or 1 where there is none; *is_valid_out says whether
 * there is one. Any thread.
 */
size_t zydis_oracle_compare(struct difference_list *list, const uint8_t *bytes, size_t available, unsigned options,
                            bool *is_valid_out);

#endif
