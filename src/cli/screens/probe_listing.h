/* SPDX-License-Identifier: MIT */
/* The static probes of a file, as gait find --probes shows them. One thread at a time. */
#ifndef GAIT_CLI_SCREENS_PROBE_LISTING_H
#define GAIT_CLI_SCREENS_PROBE_LISTING_H

#include "cli/function_survey.h"
#include "hosted/json_writer.h"

#include <stdbool.h>
#include <stdint.h>

struct nearest_names;
struct screen;

struct probe_listing {
    struct screen *screen;
    const char *pattern; /* a glob, of "provider:name" or the name alone; NULL: all */
    bool is_json;
    bool is_hookable; /* how each would be armed is shown; the survey is prepared */
    bool is_summary;
    struct nearest_names *nearest; /* is offered those that are not meant */
    uint64_t found;                /* so far */
    struct json_writer json;
};

void probe_listing_begin(struct probe_listing *listing);
void probe_listing_end(struct probe_listing *listing);

/* Those of a file; path is what people know it by, bias what is added to its addresses. */
void probe_listing_add(struct probe_listing *listing, struct function_survey *survey, const char *path, uint64_t bias);

#endif
