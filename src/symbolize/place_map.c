/* SPDX-License-Identifier: MIT */
/* Open addressing. Slots of earlier rounds are free. */
#include "symbolize/place_map.h"

#include <stdlib.h>

#define SLOTS_AT_FIRST 1024

void place_map_init(struct place_map *map)
{
    *map = (struct place_map){.round = 1};
}

void place_map_deinit(struct place_map *map)
{
    free(map->slots);
    place_map_init(map);
}

void place_map_clear(struct place_map *map)
{
    map->round++;
    map->count = 0;
}

/* The slot that has the place, or the free one that is for it. */
static struct place_map_slot *slot_of(const struct place_map *map, uint64_t place)
{
    size_t mask = map->slot_count - 1, index = (place * 0x9e3779b97f4a7c15u) >> 20 & mask;

    while (map->slots[index].round == map->round && map->slots[index].place != place)
        index = (index + 1) & mask;
    return &map->slots[index];
}

bool place_map_find(const struct place_map *map, uint64_t place, uint64_t *value_out)
{
    const struct place_map_slot *slot = map->slot_count == 0 ? NULL : slot_of(map, place);

    if (slot == NULL || slot->round != map->round)
        return false;
    *value_out = slot->value;
    return true;
}

static bool add_slots(struct place_map *map)
{
    struct place_map grown = {
        .slot_count = map->slot_count == 0 ? SLOTS_AT_FIRST : 2 * map->slot_count, .count = map->count, .round = 1};

    grown.slots = calloc(grown.slot_count, sizeof(grown.slots[0]));
    if (grown.slots == NULL)
        return false;
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].round == map->round)
            *slot_of(&grown, map->slots[i].place) =
                (struct place_map_slot){map->slots[i].place, map->slots[i].value, 1};
    free(map->slots);
    *map = grown;
    return true;
}

void place_map_add(struct place_map *map, uint64_t place, uint64_t value)
{
    if (2 * (map->count + 1) > map->slot_count && !add_slots(map))
        return;
    *slot_of(map, place) = (struct place_map_slot){place, value, map->round};
    map->count++;
}
