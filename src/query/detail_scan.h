/* SPDX-License-Identifier: MIT */
/*
 * The detail records of all threads of a trace, one by one. Nothing in the files is trusted. Memory is bounded by the
 * largest chunk. One thread at a time.
 */
#ifndef GAIT_QUERY_DETAIL_SCAN_H
#define GAIT_QUERY_DETAIL_SCAN_H

#include "query/place_columns.h"
#include "ring/detail_record.h"

enum detail_step {
    DETAIL_STEP_RECORD, /* scan->record is one */
    DETAIL_STEP_GAP,    /* records are missing here, or were left out: scan->lost_bytes */
    DETAIL_STEP_END,    /* of a thread's records */
    DETAIL_STEP_OVER,   /* there are no more threads */
};

struct detail_scan {
    struct query_source *source;
    /* Whose threads are looked at: those that meet its conditions; NULL: all. */
    const struct query_cursor *filter;

    struct place_thread thread;
    const uint8_t *record; /* until the next step; aligned to 8 */
    uint64_t lost_bytes;   /* 0: they were left out */
    uint64_t time;         /* of the last record; 0: there was none */

    size_t next_file;
    bool is_open;
    struct stream_reader reader;
    struct stream_chunk chunk;
    size_t at; /* in the chunk */
    size_t size_bytes;
};

/* What cannot be read is noted in the source. */
enum detail_step detail_scan_step(struct detail_scan *scan);
void detail_scan_deinit(struct detail_scan *scan);

#endif
