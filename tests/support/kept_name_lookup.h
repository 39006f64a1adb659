/* SPDX-License-Identifier: MIT */
/* The function that an address is in, or begins, as readers of kept names find it. NULL: none covers it. */
#ifndef GAIT_TESTS_SUPPORT_KEPT_NAME_LOOKUP_H
#define GAIT_TESTS_SUPPORT_KEPT_NAME_LOOKUP_H

#include <stdint.h>

struct kept_function;
struct kept_names;

const struct kept_function *kept_name_lookup(const struct kept_names *names, uint64_t address);

#endif
