/* SPDX-License-Identifier: MIT */
#include "record/window_list.h"

#include "hosted/growing_array.h"

#include <stdlib.h>

void window_list_deinit(struct window_list *list)
{
    free(list->windows);
    *list = (struct window_list){.count = 0};
}

static struct manifest_window *last_of(const struct window_list *list)
{
    return list->count == 0 ? NULL : &list->windows[list->count - 1];
}

int window_list_open(struct window_list *list, const struct manifest_window *window, bool *is_new_out)
{
    struct manifest_window *last = last_of(list);
    int result;

    *is_new_out = last == NULL || window->from > last->to;
    if (!*is_new_out) {
        if (window->to > last->to)
            last->to = window->to;
        return 0;
    }
    result = ARRAY_RESERVE(list->windows, list->capacity, list->count + 1);
    if (result == 0)
        list->windows[list->count++] = *window;
    return result;
}

bool window_list_wants(const struct window_list *list, uint64_t first_time)
{
    const struct manifest_window *last = last_of(list);

    return last != NULL && first_time <= last->to;
}

void window_list_end_at(struct window_list *list, uint64_t to)
{
    struct manifest_window *last = last_of(list);

    if (last != NULL && last->to > to)
        last->to = to > last->from ? to : last->from;
}
