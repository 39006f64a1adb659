/* SPDX-License-Identifier: MIT */
/* What a probe at a function takes down: the registers that have its arguments, or its result, as fields. Stateless. */
#ifndef GAIT_KERNEL_FUNCTION_FIELDS_H
#define GAIT_KERNEL_FUNCTION_FIELDS_H

#include "kernel/source.h"

/* What is known of one argument, or of the result. */
struct function_value {
    char name[KERNEL_FIELD_NAME_SIZE]; /* "": it has none */
    uint32_t size_bytes;               /* at most 8 */
    uint32_t type;                     /* enum kernel_field_type */
    bool is_string;                    /* it points to text */
    uint8_t place;                     /* which of the registers for arguments; 255: none of them */
};

#define FUNCTION_VALUES_MAX 12

struct function_values {
    bool is_known; /* else the values are guessed: all registers that may have some */
    struct function_value arguments[FUNCTION_VALUES_MAX];
    size_t argument_count;
    bool has_result;
    struct function_value result;
};

/* All that can be said of a function of which nothing is known. */
void function_values_guess(struct function_values *values);

/*
 * Adds the fields of arguments, or of the result, to a probe, and which registers are to be taken: *mask_out, for
 * perf's sample_regs_user or sample_regs_intr.
 */
void function_fields_add(struct source_probe *probe, const struct function_values *values, bool is_return,
                         uint64_t *mask_out);

/*
 * The same for a program in the kernel that is fastened to the event: it takes text, too, as far as that is possible.
 * What attr describes becomes the trigger, and attr what the program writes to.
 */
void function_fields_add_by_program(struct source_probe *probe, const struct function_values *values, bool is_return);

/* Adds one value, and the field that it becomes. */
void source_probe_add_value(struct source_probe *probe, const struct program_value *value, uint32_t type,
                            const char *name);

/* When all values are there: the event becomes the trigger of a program. */
void source_probe_use_program(struct source_probe *probe);

#endif
