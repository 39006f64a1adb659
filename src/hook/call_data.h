/* SPDX-License-Identifier: MIT */
/*
 * What listeners keep of a call between its being entered and left. Belongs to the thread, whose signal handlers keep
 * off while it ignores calls. No libc.
 */
#ifndef GAIT_HOOK_CALL_DATA_H
#define GAIT_HOOK_CALL_DATA_H

#include "gait/hook_invocation.h"

#include <stdint.h>

struct hook_thread;

struct call_data {
    struct call_data *next; /* of those that are free */
    uint32_t places;
    uint32_t last_serial; /* of the listeners when it was entered */
    uint8_t bytes[];      /* GAIT_INVOCATION_DATA_BYTES for each place */
};

/* Zeroed, for that many listeners. NULL: no memory, or too many. */
struct call_data *call_data_take(struct hook_thread *thread, uint32_t places);

/* NULL is fine. */
void call_data_give_back(struct hook_thread *thread, struct call_data *data);

/* Gives the memory of all data of a thread back. */
void call_data_deinit(struct hook_thread *thread);

#endif
