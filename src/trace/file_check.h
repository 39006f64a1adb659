/* SPDX-License-Identifier: MIT */
/*
 * Whether the files of a trace are good: each one for itself, and those of threads with the blocks of their process.
 * Files of one process are to be checked one after the other, in the order of trace_files.h. One thread at a time.
 */
#ifndef GAIT_TRACE_FILE_CHECK_H
#define GAIT_TRACE_FILE_CHECK_H

#include "trace/trace_blocks.h"
#include "trace/trace_files.h"

enum file_verdict {
    FILE_GOOD,
    FILE_CUT_OFF, /* good as far as it goes, without a footer */
    FILE_DAMAGED,
    FILE_FOREIGN, /* does not belong to the trace */
};

struct file_finding {
    enum file_verdict verdict;
    char text[GAIT_ERROR_TEXT_BYTES]; /* what is in it, or what is wrong */
    struct stream_end end;            /* of a stream that could be opened; else its state is STREAM_READING */
};

struct file_checker {
    const struct trace_files *files;
    struct trace_blocks blocks;           /* of the process that is checked */
    const struct trace_file *blocks_file; /* NULL: there are none */
    const struct trace_file *thread_file; /* the last piece of a thread's stream */
    uint64_t next_sequence;               /* of the chunk that would follow it */
    bool has_deleted_pieces;              /* the manifest says so */
};

/* The files must outlive it. */
void file_checker_init(struct file_checker *checker, const struct trace_files *files);
void file_checker_deinit(struct file_checker *checker);

/* Looks at all of a file. */
void file_checker_run(struct file_checker *checker, const struct trace_file *file, struct file_finding *finding_out);

#endif
