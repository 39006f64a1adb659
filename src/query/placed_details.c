/* SPDX-License-Identifier: MIT */
#include "query/placed_details.h"

#include <string.h>

double placed_details_cost(const struct query_source *source)
{
    return query_source_event_bytes(source) / 8 + 100;
}

int placed_details_begin(struct query_cursor *base)
{
    struct placed_details *details = (struct placed_details *)base;

    details->scan = (struct detail_scan){.source = base->source, .filter = base};
    place_verdicts_init(&details->verdicts, base);
    return 0;
}

void placed_details_end(struct query_cursor *base)
{
    struct placed_details *details = (struct placed_details *)base;

    detail_scan_deinit(&details->scan);
    place_verdicts_deinit(&details->verdicts);
}

int placed_details_next(struct placed_details *details, uint32_t kind)
{
    struct query_cursor *base = &details->base;
    enum detail_step step;

    while ((step = detail_scan_step(&details->scan)) != DETAIL_STEP_OVER) {
        struct detail_record record;

        if (step != DETAIL_STEP_RECORD)
            continue;
        memcpy(&record, details->scan.record, sizeof(record));
        if (record.kind != kind)
            continue;
        details->function =
            query_source_number(base->source, details->scan.thread.process, record.function, record.time);
        if (place_takes_function(&details->verdicts, base, details->function))
            return 1;
    }
    return 0;
}
