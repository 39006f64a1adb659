/* SPDX-License-Identifier: MIT */
#include "protocol/agent_places.h"

#include "support/check.h"

#include <string.h>

static struct agent_places places;

static uint64_t module_of(const char *path)
{
    return agent_places_module((struct glob_text){path, strlen(path)});
}

static void functions_are_found_by_their_file(void)
{
    const struct agent_place *place;
    uint32_t at = 0;

    CHECK_EQUAL(agent_places_patterns(&places, module_of("/a")), 0);
    CHECK(agent_places_add(&places, module_of("/a"), 16, 1));
    CHECK(agent_places_add(&places, module_of("/b"), 32, 2));
    CHECK(agent_places_add(&places, module_of("/a"), UINT64_MAX, 4));
    CHECK_EQUAL(agent_places_patterns(&places, module_of("/a")), 5);
    CHECK_EQUAL(agent_places_patterns(&places, module_of("/b")), 2);
    CHECK_EQUAL(agent_places_patterns(&places, module_of("/c")), 0);
    place = agent_places_next(&places, module_of("/a"), &at);
    CHECK(place != NULL && place->address == 16);
    place = agent_places_next(&places, module_of("/a"), &at);
    CHECK(place != NULL && place->address == UINT64_MAX);
    CHECK(agent_places_next(&places, module_of("/a"), &at) == NULL);
}

static void there_is_room_for_so_many(void)
{
    uint32_t at = 0;

    places.count = 0;
    for (uint32_t i = 0; i < AGENT_PLACES_MAX; i++)
        CHECK(agent_places_add(&places, 1, i, 1));
    CHECK(!agent_places_add(&places, 1, 1, 1));
    /* Nobody has checked the number. */
    places.count = UINT32_MAX;
    CHECK(agent_places_next(&places, 2, &at) == NULL);
    places.count = 0;
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_found_by_their_file),
    CHECK_CASE(there_is_room_for_so_many),
};

CHECK_MAIN(cases)
