/* SPDX-License-Identifier: MIT */
/* Lists are known from their first use on, to be gone through in children. Lock: `lock`, for all of them. */
#include "libgait/observer_list.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_TIMEOUT_MS 10000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct observer_list *lists;

/* Other threads are not here, and what they had locked is nobody's. */
static void in_child(void)
{
    for (struct observer_list *list = lists; list != NULL; list = list->next)
        for (struct observer_entry *entry = list->first; entry != NULL; entry = entry->next) {
            entry->lock = (struct owner_lock){0};
            list->begin_in_child(entry);
        }
    pthread_mutex_init(&lock, NULL);
}

static void know(struct observer_list *list)
{
    if (list->is_known || (lists == NULL && pthread_atfork(NULL, NULL, in_child) != 0))
        return;
    list->is_known = true;
    list->next = lists;
    lists = list;
}

/* NULL: there is no memory. */
static struct observer_entry *obtain(struct observer_list *list)
{
    struct observer_entry *entry;

    pthread_mutex_lock(&lock);
    know(list);
    for (entry = list->first; entry != NULL && entry->is_taken; entry = entry->next)
        continue;
    if (entry == NULL && (entry = calloc(1, list->entry_bytes)) != NULL) {
        entry->next = list->first;
        list->first = entry;
    }
    if (entry != NULL)
        entry->is_taken = true;
    pthread_mutex_unlock(&lock);
    return entry;
}

int observer_list_take(struct observer_list *list, const void *listener, struct observer_entry **entry_out,
                       struct gait_error *err)
{
    struct observer_entry *entry = obtain(list);

    if (entry == NULL || owner_lock_acquire(&entry->lock, LOCK_TIMEOUT_MS) != 0)
        return error_set(err, ENOMEM, "cannot observe %s: there is no memory", list->what);
    list->begin(entry, listener);
    entry->is_active = true;
    owner_lock_release(&entry->lock);
    *entry_out = entry;
    return 0;
}

void observer_list_give_back(struct observer_list *list, struct observer_entry *entry)
{
    if (owner_lock_acquire(&entry->lock, LOCK_TIMEOUT_MS) != 0)
        return;
    entry->is_active = false;
    list->end(entry);
    owner_lock_release(&entry->lock);
    pthread_mutex_lock(&lock);
    entry->is_taken = false;
    pthread_mutex_unlock(&lock);
}

int observer_entry_use(struct observer_entry *entry, int (*use)(struct observer_entry *entry, int argument),
                       int argument)
{
    int result = owner_lock_acquire(&entry->lock, LOCK_TIMEOUT_MS);

    if (result != 0)
        return result;
    if (entry->is_active)
        result = use(entry, argument);
    owner_lock_release(&entry->lock);
    return result;
}

int observer_list_look(const struct observer_list *list, struct observer_entry *entry,
                       int (*use)(struct observer_entry *entry, int argument), int argument, struct gait_error *err)
{
    int result;

    if (entry == NULL)
        return error_set(err, EINVAL, "cannot look at %s: there is no observer", list->what);
    result = observer_entry_use(entry, use, argument);
    if (result == -EDEADLK)
        return error_set(err, result, "cannot look at %s: a listener of the same observer is being called", list->what);
    return result == 0 ? 0
                       : error_set(err, result, "cannot look at %s: %s%s", list->what, list->source, strerror(-result));
}
