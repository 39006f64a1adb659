/* SPDX-License-Identifier: MIT */
#include "protocol/agent_places.h"

#include "base/text_hash.h"

uint64_t agent_places_module(struct glob_text path)
{
    return text_hash_of(path.start, path.length);
}

bool agent_places_add(struct agent_places *places, uint64_t module, uint64_t address, uint64_t patterns)
{
    if (places->count >= AGENT_PLACES_MAX)
        return false;
    places->places[places->count++] = (struct agent_place){module, address, patterns};
    return true;
}

const struct agent_place *agent_places_next(const struct agent_places *places, uint64_t module, uint32_t *at)
{
    uint32_t count = places->count < AGENT_PLACES_MAX ? places->count : AGENT_PLACES_MAX;

    while (*at < count) {
        const struct agent_place *place = &places->places[(*at)++];

        if (place->module == module)
            return place;
    }
    return NULL;
}

uint64_t agent_places_patterns(const struct agent_places *places, uint64_t module)
{
    const struct agent_place *place;
    uint64_t patterns = 0;

    for (uint32_t i = 0; (place = agent_places_next(places, module, &i)) != NULL;)
        patterns |= place->patterns;
    return patterns;
}
