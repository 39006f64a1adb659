/* SPDX-License-Identifier: MIT */
#ifndef GAIT_LIBGAIT_EVENT_RING_REGION_H
#define GAIT_LIBGAIT_EVENT_RING_REGION_H

struct gait_event_ring;
struct ring_region;

struct ring_region *event_ring_region(struct gait_event_ring *ring);

#endif
