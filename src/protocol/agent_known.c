/* SPDX-License-Identifier: MIT */
#include "protocol/agent_known.h"

#include "base/memory_functions.h"
#include "base/text_hash.h"

uint64_t agent_known_key(struct glob_text path, uint64_t address)
{
    size_t start = path.length;

    while (start > 0 && path.start[start - 1] != '/')
        start--;
    return (text_hash_of(path.start + start, path.length - start) ^ address) * 0x9e3779b97f4a7c15u;
}

bool agent_known_add(struct agent_known *known, uint64_t key, const struct detail_declaration *declaration)
{
    uint32_t which = 0;

    if (known->count == AGENT_KNOWN_MAX)
        return false;
    while (which < known->declaration_count &&
           memcmp(&known->declarations[which], declaration, sizeof(*declaration)) != 0)
        which++;
    if (which == AGENT_DECLARATIONS_MAX)
        return false;
    if (which == known->declaration_count)
        known->declarations[known->declaration_count++] = *declaration;
    known->functions[known->count++] = (struct agent_known_function){.key = key, .declaration = which};
    return true;
}

/* Down the heap, until both below are smaller. */
static void sink(struct agent_known_function *functions, uint32_t at, uint32_t count)
{
    for (uint32_t below; (below = 2 * at + 1) < count; at = below) {
        struct agent_known_function held = functions[at];

        if (below + 1 < count && functions[below + 1].key > functions[below].key)
            below++;
        if (functions[below].key <= held.key)
            return;
        functions[at] = functions[below];
        functions[below] = held;
    }
}

void agent_known_sort(struct agent_known *known)
{
    struct agent_known_function *functions = known->functions;

    for (uint32_t i = known->count / 2; i-- > 0;)
        sink(functions, i, known->count);
    for (uint32_t last = known->count; last-- > 1;) {
        struct agent_known_function held = functions[0];

        functions[0] = functions[last];
        functions[last] = held;
        sink(functions, 0, last);
    }
}

const struct detail_declaration *agent_known_find(const struct agent_known *known, uint64_t key)
{
    uint32_t low = 0, high = known->count < AGENT_KNOWN_MAX ? known->count : AGENT_KNOWN_MAX;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct agent_known_function *function = &known->functions[middle];

        if (function->key == key)
            return function->declaration < AGENT_DECLARATIONS_MAX ? &known->declarations[function->declaration] : NULL;
        if (function->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
