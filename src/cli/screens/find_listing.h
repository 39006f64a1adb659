/* SPDX-License-Identifier: MIT */
/*
 * How functions that were found are shown: lines for people, or JSON. A listing is begun, gets modules and in each its
 * functions, and is ended. One thread at a time.
 */
#ifndef GAIT_CLI_SCREENS_FIND_LISTING_H
#define GAIT_CLI_SCREENS_FIND_LISTING_H

#include "hook/hook_plan.h"
#include "hosted/json_writer.h"

struct screen;

/* How many functions are hooked in which way. */
struct find_counts {
    uint64_t functions;
    uint64_t methods[HOOK_IMPOSSIBLE + 1];
    uint64_t entry_only;
};

struct find_listing {
    struct screen *screen;
    bool is_json;
    bool is_hookable; /* whether how they are hooked is shown */
    bool is_summary;  /* only the numbers are */
    const char *path; /* of the module */
    uint64_t bias;    /* what is added to addresses of its file */
    struct find_counts counts;
    struct find_counts total;
    unsigned module_count;
    struct json_writer json;
};

void find_listing_begin(struct find_listing *listing);
void find_listing_end(struct find_listing *listing);

/* A module; the path must stay. */
void find_listing_begin_module(struct find_listing *listing, const char *path, uint64_t bias);
void find_listing_end_module(struct find_listing *listing);

void find_listing_add(struct find_listing *listing, const struct elf_function *function, const struct hook_plan *plan);

#endif
