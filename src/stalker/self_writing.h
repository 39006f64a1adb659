/* SPDX-License-Identifier: MIT */
/*
 * Code that is written although no mapping of it can be: through /proc/self/mem, as some compilers of programs that run
 * do. Who opens that file for writing may change any code from then on, and no system call tells where.
 */
#ifndef GAIT_STALKER_SELF_WRITING_H
#define GAIT_STALKER_SELF_WRITING_H

#include <stdbool.h>

struct stalker_engine;
struct system_call;

/* Whether the program opens its own memory for writing by it. Any thread; the path is read where it is. */
bool self_writing_begins(const struct system_call *call);

/* From now on code is compared with what was translated each time that it runs. Takes the engine's locks. */
void self_writing_distrust(struct stalker_engine *engine);

#endif
