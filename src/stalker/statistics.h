/* SPDX-License-Identifier: MIT */
/* What the engine has and how much memory it takes. Any thread. */
#ifndef GAIT_STALKER_STATISTICS_H
#define GAIT_STALKER_STATISTICS_H

struct gait_stalker_statistics;
struct stalker_engine;

/* Fills all fields but size_bytes. */
void stalker_statistics_read(struct stalker_engine *engine, struct gait_stalker_statistics *statistics_out);

#endif
