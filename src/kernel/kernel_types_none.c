/* SPDX-License-Identifier: MIT */
/* In builds without libbpf. */
#include "kernel/kernel_types.h"

#include <errno.h>

int kernel_types_function(const char *name, struct function_values *values_out)
{
    (void)name;
    (void)values_out;
    return -ENOTSUP;
}

int kernel_types_tracepoint(const char *name, struct function_values *values_out)
{
    (void)name;
    (void)values_out;
    return -ENOTSUP;
}

int kernel_types_list(const char *pattern, source_visit *visit, void *context)
{
    (void)pattern;
    (void)visit;
    (void)context;
    return -ENOTSUP;
}

int kernel_types_list_tracepoints(const char *pattern, source_visit *visit, void *context)
{
    (void)pattern;
    (void)visit;
    (void)context;
    return -ENOTSUP;
}

int kernel_types_check(void)
{
    return -ENOTSUP;
}
