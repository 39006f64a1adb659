/* SPDX-License-Identifier: MIT */
/*
 * Texts that stay: each one is kept once, at an address that does not change. Names of functions are kept as people
 * write them, under the name that files have for them. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_NAME_STORE_H
#define GAIT_SYMBOLIZE_NAME_STORE_H

#include "base/hash_map.h"

#include <stdbool.h>
#include <stddef.h>

struct name_store_entry;

struct name_store {
    struct name_store_entry **slots;
    size_t slot_count; /* a power of two; 0: nothing was put in yet */
    size_t count;
    struct hash_map fixed; /* what names at addresses that do not change mean */
    bool has_fixed;        /* there was memory for it */
};

/* An empty one: it takes memory when something is put into it. */
void name_store_init(struct name_store *store);
void name_store_deinit(struct name_store *store);

/* A copy of the text, ended by a NUL. "?" if there is no memory for it. */
const char *name_store_put(struct name_store *store, const char *text, size_t length);

/* What the name of a function means: the name itself where it has no other meaning. As name_store_put. */
const char *name_store_put_function(struct name_store *store, const char *name, size_t length);

/*
 * The same for a name whose address belongs to it as long as the store is there: after the first time nothing is copied
 * or compared. SIZE_MAX: it is ended by a NUL.
 */
const char *name_store_put_fixed_function(struct name_store *store, const char *name, size_t length);

#endif
