/* SPDX-License-Identifier: MIT */
/*
 * Which files a trace consists of: its folder, opened and listed. One that was packed into a file is unpacked into a
 * temporary folder, which goes when the trace is closed. One thread at a time.
 */
#ifndef GAIT_TRACE_TRACE_FILES_H
#define GAIT_TRACE_TRACE_FILES_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_file_kind {
    TRACE_FILE_MANIFEST,
    TRACE_FILE_MODULES,
    TRACE_FILE_BLOCKS,
    TRACE_FILE_INDEX,
    TRACE_FILE_DETAIL,
    TRACE_FILE_CRASH,
    TRACE_FILE_KERNEL_SOURCES, /* what the kernel's events mean */
    TRACE_FILE_KERNEL_EVENTS,
    TRACE_FILE_NAMES, /* of functions of a file that was mapped */
    TRACE_FILE_DEBUG, /* information of such a file */
    TRACE_FILE_OTHER, /* does not belong to the trace */
};

/* Long enough for all names that belong to a trace. */
#define TRACE_FILE_PATH_BYTES 320

struct trace_file {
    enum trace_file_kind kind;
    uint32_t pid; /* 0: of no process */
    uint32_t image;
    uint32_t tid; /* of an index or details; the CPU of events of the kernel */
    uint32_t generation;
    uint32_t piece;                   /* of the recording, from 1 on; of other files 0 */
    char path[TRACE_FILE_PATH_BYTES]; /* from the trace's folder */
};

struct temporary_folder;

struct trace_files {
    int folder;
    struct trace_file *files; /* the manifest, then by process: modules, blocks, indexes and details of
                                 threads by number and piece, the crash; then the kernel's, then names, then debug
                                 information; others last */
    size_t count;
    size_t capacity;
    struct temporary_folder *unpacked; /* where the files are, if the trace was packed; else NULL */
};

/* Long enough for the name of a process's folder. */
#define TRACE_PROCESS_NAME_BYTES 32

/* The name of a process's folder: its pid, and from the second program on ".2" and so on. */
void trace_process_name(uint32_t pid, uint32_t image, char name_out[TRACE_PROCESS_NAME_BYTES]);

/* Long enough for the name of a thread's stream. */
#define TRACE_THREAD_NAME_BYTES 64

/* The name of a stream of a thread in the folder of its process: of an index or of details, of that piece. */
void trace_thread_name(const struct trace_file *file, char name_out[TRACE_THREAD_NAME_BYTES]);

/*
 * What a path in a trace's folder means. False: it belongs to no trace. A path that does leads to nowhere else: it has
 * no "..", no "/" in front, and nothing but the folders that traces have.
 */
bool trace_file_parse(const char *path, struct trace_file *file_out);

/*
 * How many files, from number `first` on, are pieces of the same stream: at least that one. They are in order, but some
 * may be missing.
 */
size_t trace_files_pieces(const struct trace_files *files, size_t first);

/*
 * Opens the folder and lists it; whether the files are any good is not looked at. Of a file, unpacks it before.
 * Explains errors: no such folder, neither folder nor packed trace, no permission, no files of a trace in it, no room
 * to unpack.
 */
MUST_USE int trace_files_open(struct trace_files *files, const char *path, struct gait_error *err);
void trace_files_close(struct trace_files *files);

#endif
