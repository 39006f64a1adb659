/* SPDX-License-Identifier: MIT */
#include "support/kept_name_lookup.h"

#include "trace/kept_names.h"

/* How many functions begin at the address or before it. */
static size_t count_up_to(const struct kept_names *names, uint64_t address)
{
    size_t low = 0, high = names->function_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (names->functions[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct kept_function *kept_name_lookup(const struct kept_names *names, uint64_t address)
{
    for (size_t i = count_up_to(names, address); i > 0 && names->functions[i - 1].covered_end > address; i--) {
        const struct kept_function *function = &names->functions[i - 1];

        if (address - function->address < function->size_bytes || function->address == address)
            return function;
    }
    return NULL;
}
