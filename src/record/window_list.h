/* SPDX-License-Identifier: MIT */
/*
 * The times of which records are wanted. Windows come in the order of time; one that touches the last one makes that
 * one longer. Times are those of the counter. One thread at a time.
 */
#ifndef GAIT_RECORD_WINDOW_LIST_H
#define GAIT_RECORD_WINDOW_LIST_H

#include "base/attributes.h"
#include "trace/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window_list {
    struct manifest_window *windows;
    size_t count;
    size_t capacity;
};

void window_list_deinit(struct window_list *list);

/* Wants what is in a window, if it is a new one; if it begins before the last one has ended, that goes on. -ENOMEM. */
MUST_USE int window_list_open(struct window_list *list, const struct manifest_window *window, bool *is_new_out);

/* Whether something that began at that time, or went on from there, is wanted: it is not behind the last window. */
bool window_list_wants(const struct window_list *list, uint64_t first_time);

/* Nothing comes behind that time. */
void window_list_end_at(struct window_list *list, uint64_t to);

#endif
