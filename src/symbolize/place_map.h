/* SPDX-License-Identifier: MIT */
/*
 * Numbers by places, for one thread, made to be emptied and filled again many times: that costs nothing, and the memory
 * stays. Where there is no memory, less is remembered.
 */
#ifndef GAIT_SYMBOLIZE_PLACE_MAP_H
#define GAIT_SYMBOLIZE_PLACE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place_map_slot {
    uint64_t place;
    uint64_t value;
    uint64_t round; /* in which it was filled */
};

struct place_map {
    struct place_map_slot *slots;
    size_t slot_count; /* a power of two; 0: nothing was put in yet */
    size_t count;
    uint64_t round;
};

/* An empty one. */
void place_map_init(struct place_map *map);
void place_map_deinit(struct place_map *map);

/* Forgets all that was put in. */
void place_map_clear(struct place_map *map);

/* False: nothing was put in for the place. */
bool place_map_find(const struct place_map *map, uint64_t place, uint64_t *value_out);

/* Of a place that has no value yet. */
void place_map_add(struct place_map *map, uint64_t place, uint64_t value);

#endif
