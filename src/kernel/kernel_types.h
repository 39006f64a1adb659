/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of its own functions: BTF, by libbpf. In builds without it nothing is known. One thread at a
 * time.
 */
#ifndef GAIT_KERNEL_KERNEL_TYPES_H
#define GAIT_KERNEL_KERNEL_TYPES_H

#include "kernel/function_fields.h"

/* Arguments and result of a function. -ENOENT: the kernel knows none, or describes no types; -ENOTSUP: built without.
 */
MUST_USE int kernel_types_function(const char *name, struct function_values *values_out);

/* The arguments of a raw tracepoint. The same. */
MUST_USE int kernel_types_tracepoint(const char *name, struct function_values *values_out);

/* Calls visit with the name of each function that the kernel has types of; of raw tracepoints. */
MUST_USE int kernel_types_list(const char *pattern, source_visit *visit, void *context);
MUST_USE int kernel_types_list_tracepoints(const char *pattern, source_visit *visit, void *context);

/* Whether types are there: 0, -ENOENT or -ENOTSUP. */
MUST_USE int kernel_types_check(void);

#endif
