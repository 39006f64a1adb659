/* SPDX-License-Identifier: MIT */
/*
 * A form while the tables are being made: all that is known about one way of encoding one instruction. What depends on
 * the operand size or vector length is kept three times; forms that differ in nothing else are merged into one.
 */
#ifndef GAIT_TOOLS_X86_TABLES_FORM_H
#define GAIT_TOOLS_X86_TABLES_FORM_H

#include "arch/x86_64/isa/decoder_tables.h"
#include "arch/x86_64/isa/insn.h"

#include <stdbool.h>
#include <stddef.h>

#define FORM_MAX_OPERANDS 10

struct form_operand {
    struct x86_operand_form form; /* its type is numbered at the end */
    struct x86_operand_type type;
};

struct form {
    char mnemonic[24];
    uint32_t properties;
    uint8_t flow;
    uint8_t insn_class;
    uint8_t distinct;
    uint8_t operand_count;
    uint16_t forbidden;
    bool is_conditional; /* what it writes into general registers it may also leave as it was */
    struct x86_flag_effect flags;
    struct x86_immediate_form immediate;
    uint8_t disp8_shift[3];
    struct form_operand operands[FORM_MAX_OPERANDS];
};

/* Numbers equal forms equally; 0 stands for "no instruction". */
unsigned form_intern(const struct form *form);
const struct form *form_get(unsigned number);
unsigned form_count(void);

/*
 * The form that says by_size[i] for size i, or 0 when the three differ in more than sizes. All three must be real.
 */
unsigned form_merge(const unsigned by_size[3]);

#endif
