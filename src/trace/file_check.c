/* SPDX-License-Identifier: MIT */
/* One function for each kind of file. Each reader of such files reports what is wrong. */
#include "trace/file_check.h"

#include "trace/kept_names.h"
#include "trace/kernel_events.h"
#include "trace/manifest.h"
#include "trace/modules.h"
#include "trace/record_counts.h"
#include "trace/trace_crash.h"
#include "trace/trace_details.h"
#include "trace/trace_events.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void file_checker_init(struct file_checker *checker, const struct trace_files *files)
{
    *checker = (struct file_checker){.files = files};
}

static void forget_blocks(struct file_checker *checker)
{
    if (checker->blocks_file != NULL)
        trace_blocks_deinit(&checker->blocks);
    checker->blocks_file = NULL;
}

void file_checker_deinit(struct file_checker *checker)
{
    forget_blocks(checker);
}

static void note_error(struct file_finding *finding, const struct gait_error *err)
{
    finding->verdict = FILE_DAMAGED;
    memcpy(finding->text, err->text, sizeof(finding->text));
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* For a stream that could be read as far as `end` says: what is in it, or where it ends. */
static void note_stream(struct file_finding *finding, const struct stream_end *end, uint64_t items, const char *what)
{
    finding->end = *end;
    if (end->state != STREAM_COMPLETE) {
        finding->verdict = end->state == STREAM_CUT_OFF ? FILE_CUT_OFF : FILE_DAMAGED;
        snprintf(finding->text, sizeof(finding->text), "after %" PRIu64 " chunk%s, at byte %" PRIu64 ": %s",
                 end->chunk_count, plural(end->chunk_count), end->offset, end->reason);
        return;
    }
    finding->verdict = FILE_GOOD;
    snprintf(finding->text, sizeof(finding->text),
             "%" PRIu64 " chunk%s, %" PRIu64 " bytes, %" PRIu64 " %s%s, %" PRIu64 " bytes lost%s", end->chunk_count,
             plural(end->chunk_count), end->raw_bytes, items, what, plural(items), end->lost_bytes,
             end->footer.flags & TRACE_FOOTER_REPAIRED ? "; was repaired" : "");
}

static void check_manifest(struct file_checker *checker, struct file_finding *finding)
{
    struct manifest manifest;
    struct gait_error err;
    size_t threads = 0;

    if (manifest_read(checker->files->folder, &manifest, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    for (size_t i = 0; i < manifest.process_count; i++)
        threads += manifest.processes[i].thread_count;
    checker->has_deleted_pieces = manifest_deleted_pieces(&manifest) != 0;
    snprintf(finding->text, sizeof(finding->text), "%zu process%s, %zu thread%s", manifest.process_count,
             manifest.process_count == 1 ? "" : "es", threads, plural(threads));
    manifest_free(&manifest);
}

static void check_modules(const struct file_checker *checker, const struct trace_file *file,
                          struct file_finding *finding)
{
    struct modules modules;
    struct gait_error err;

    if (modules_read(&modules, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    note_stream(finding, &modules.end, modules.count, "module");
    modules_deinit(&modules);
}

static void check_blocks(struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    struct gait_error err;

    forget_blocks(checker);
    if (trace_blocks_read(&checker->blocks, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    checker->blocks_file = file;
    note_stream(finding, &checker->blocks.end, checker->blocks.count, "block");
}

/* Another program of the same process has other ones. */
static bool has_blocks(const struct file_checker *checker, const struct trace_file *file)
{
    return checker->blocks_file != NULL && checker->blocks_file->pid == file->pid &&
           checker->blocks_file->image == file->image;
}

static int count_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    uint64_t *total = context;

    (void)events;
    (void)span;
    *total += count;
    return 0;
}

/* A stream of events without blocks can only be looked at from outside. */
static void check_index_alone(const struct file_checker *checker, const struct trace_file *file,
                              struct file_finding *finding)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct gait_error err;

    if (stream_reader_open(&reader, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    while (stream_reader_next(&reader, &chunk))
        ;
    note_stream(finding, &reader.end, 0, "event");
    if (finding->verdict == FILE_GOOD) {
        finding->verdict = FILE_DAMAGED;
        snprintf(finding->text, sizeof(finding->text),
                 "%" PRIu64 " good chunk%s, whose meaning is not known: '%" PRIu32 "/" TRACE_BLOCKS_NAME
                 "' is missing or damaged",
                 reader.end.chunk_count, plural(reader.end.chunk_count), file->pid);
    }
    stream_reader_close(&reader);
}

/* What a good stream of a thread may be nevertheless. */
struct thread_stream {
    const struct trace_stream_header *header;
    uint64_t bad_bytes;
    uint64_t first_bad_chunk;
    uint64_t first_bad_at;
    const char *records; /* what bad bytes are none of */
};

static void note_damage(struct file_finding *finding, const char *format, ...) PRINTF_LIKE(2, 3);

static void note_damage(struct file_finding *finding, const char *format, ...)
{
    va_list arguments;

    finding->verdict = FILE_DAMAGED;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof(finding->text), format, arguments);
    va_end(arguments);
}

/* Where the stream goes on from another piece, that has to be there, unless the oldest ones were deleted. */
static void check_place(struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    const struct trace_file *before = checker->thread_file;
    bool goes_on = before != NULL && before->kind == file->kind && before->pid == file->pid &&
                   before->image == file->image && before->tid == file->tid && before->generation == file->generation;
    uint64_t first = finding->end.first_sequence, expected = goes_on ? checker->next_sequence : 0;

    checker->thread_file = file;
    checker->next_sequence = first + finding->end.chunk_count;
    if (finding->verdict != FILE_GOOD || finding->end.chunk_count == 0 || first == expected)
        return;
    if (goes_on || !checker->has_deleted_pieces)
        note_damage(finding, "begins with chunk %" PRIu64 ", where chunk %" PRIu64 " should follow: a piece is missing",
                    first, expected);
    else
        snprintf(finding->text + strlen(finding->text), sizeof(finding->text) - strlen(finding->text),
                 "; %" PRIu64 " chunk%s before it %s deleted", first, plural(first), first == 1 ? "was" : "were");
}

static void check_thread(struct file_checker *checker, const struct trace_file *file,
                         const struct thread_stream *stream, struct file_finding *finding)
{
    if (finding->verdict == FILE_GOOD && (stream->header->pid != file->pid || stream->header->tid != file->tid))
        note_damage(finding, "is that of thread %" PRIu32 " of process %" PRIu32 ": files were mixed up",
                    stream->header->tid, stream->header->pid);
    else if (finding->verdict == FILE_GOOD && stream->bad_bytes != 0)
        note_damage(finding, "%" PRIu64 " bytes are no %s, the first of them at byte %" PRIu64 " of chunk %" PRIu64,
                    stream->bad_bytes, stream->records, stream->first_bad_at, stream->first_bad_chunk);
    check_place(checker, file, finding);
}

/* Whether a chunk tells of its records what is in them. */
static bool counts_are_right(struct record_counts *counts, const struct stream_chunk *chunk)
{
    struct packing_source records = {chunk->bytes, chunk->size_bytes};
    size_t size_bytes = record_counts_take(counts, records, TRACE_COUNTS_BYTES_MAX);
    uint8_t *written = size_bytes == 0 ? NULL : malloc(size_bytes);
    bool are_right = written != NULL && size_bytes == trace_counts_bytes(chunk->count_count);

    if (are_right) {
        record_counts_write(counts, written);
        are_right = memcmp(written + sizeof(struct trace_counts), chunk->counts,
                           chunk->count_count * sizeof(*chunk->counts)) == 0;
    }
    free(written);
    return are_right;
}

/* Who reads events passes over counts: they are looked at apart. */
static void check_counts(const struct file_checker *checker, const struct trace_file *file,
                         struct file_finding *finding)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct record_counts *counts;

    if (finding->verdict != FILE_GOOD || record_counts_create(&counts) != 0)
        return;
    if (stream_reader_open(&reader, checker->files->folder, file->path, NULL) == 0) {
        while (finding->verdict == FILE_GOOD && (reader.header.events & EVENTS_HOOKED) != 0 &&
               stream_reader_next(&reader, &chunk))
            if (chunk.counts != NULL && !counts_are_right(counts, &chunk))
                note_damage(finding, "the counts of chunk %" PRIu64 " are not those of its records", chunk.sequence);
        stream_reader_close(&reader);
    }
    record_counts_destroy(counts);
}

static void check_index(struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    uint64_t events = 0;
    struct trace_events_receiver receiver = {.process = count_events, .context = &events};
    struct trace_events_end end;
    struct gait_error err;

    if (trace_events_read(checker->files->folder, file, 1, &checker->blocks, &receiver, &end, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    note_stream(finding, &end.stream, events, "event");
    check_thread(checker, file,
                 &(struct thread_stream){&end.header, end.bad_bytes, end.first_bad_chunk, end.first_bad_at,
                                         "records of known blocks"},
                 finding);
    check_counts(checker, file, finding);
}

static void check_details(struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    static const struct trace_details_receiver receiver = {.context = NULL};
    struct trace_details_end end;
    struct gait_error err;

    if (trace_details_read(checker->files->folder, file->path, &receiver, &end, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    note_stream(finding, &end.stream, end.record_count, "record");
    check_thread(checker, file,
                 &(struct thread_stream){&end.header, end.bad_bytes, end.first_bad_chunk, end.first_bad_at, "records"},
                 finding);
}

static void check_crash(const struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    struct trace_crash crash;
    struct gait_error err;

    if (trace_crash_read(&crash, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    note_stream(finding, &crash.end, crash.count, "record");
    trace_crash_deinit(&crash);
}

static void check_kernel_sources(const struct file_checker *checker, const struct trace_file *file,
                                 struct file_finding *finding)
{
    struct kernel_sources sources;
    struct gait_error err;

    if (kernel_sources_read(&sources, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    note_stream(finding, &sources.end, sources.source_count - 1, "source");
    kernel_sources_deinit(&sources);
}

static void check_kernel_events(const struct file_checker *checker, const struct trace_file *file,
                                struct file_finding *finding)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct kernel_event event;
    struct gait_error err;
    uint64_t count = 0, bad_chunk = 0, bad_at = 0;
    bool is_bad = false;

    if (stream_reader_open(&reader, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    while (stream_reader_next(&reader, &chunk)) {
        size_t at = 0, size;

        while ((size = kernel_record_read(chunk.bytes + at, chunk.size_bytes - at, &event)) != 0) {
            at += size;
            count++;
        }
        if (at != chunk.size_bytes && !is_bad) {
            is_bad = true;
            bad_chunk = chunk.sequence;
            bad_at = at;
        }
    }
    note_stream(finding, &reader.end, count, "event");
    if (finding->verdict == FILE_GOOD && is_bad)
        note_damage(finding, "byte %" PRIu64 " of chunk %" PRIu64 " begins no event", bad_at, bad_chunk);
    stream_reader_close(&reader);
}

/* Nothing of it is worth a repair: a part of the names would look like all of them. */
static void check_names(const struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    struct kept_names names;
    struct gait_error err;

    if (kept_names_read(&names, checker->files->folder, file->path, &err) != 0) {
        note_error(finding, &err);
        return;
    }
    snprintf(finding->text, sizeof(finding->text), "%zu name%s of %s", names.function_count,
             plural(names.function_count), names.path);
    kept_names_deinit(&names);
}

/* What is in it is for others to say, but it should be what it is called. */
static void check_debug(const struct file_checker *checker, const struct trace_file *file, struct file_finding *finding)
{
    int fd = openat(checker->files->folder, file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char magic[4];

    if (fd < 0 || pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) || memcmp(magic, "\177ELF", 4) != 0)
        note_damage(finding, "is no file with debug information");
    else
        snprintf(finding->text, sizeof(finding->text), "%lld bytes of debug information",
                 (long long)lseek(fd, 0, SEEK_END));
    if (fd >= 0)
        close(fd);
}

void file_checker_run(struct file_checker *checker, const struct trace_file *file, struct file_finding *finding_out)
{
    *finding_out = (struct file_finding){.verdict = FILE_GOOD};
    switch (file->kind) {
    case TRACE_FILE_MANIFEST:
        check_manifest(checker, finding_out);
        break;
    case TRACE_FILE_MODULES:
        check_modules(checker, file, finding_out);
        break;
    case TRACE_FILE_BLOCKS:
        check_blocks(checker, file, finding_out);
        break;
    case TRACE_FILE_INDEX:
        if (has_blocks(checker, file))
            check_index(checker, file, finding_out);
        else
            check_index_alone(checker, file, finding_out);
        break;
    case TRACE_FILE_DETAIL:
        check_details(checker, file, finding_out);
        break;
    case TRACE_FILE_CRASH:
        check_crash(checker, file, finding_out);
        break;
    case TRACE_FILE_KERNEL_SOURCES:
        check_kernel_sources(checker, file, finding_out);
        break;
    case TRACE_FILE_KERNEL_EVENTS:
        check_kernel_events(checker, file, finding_out);
        break;
    case TRACE_FILE_NAMES:
        check_names(checker, file, finding_out);
        break;
    case TRACE_FILE_DEBUG:
        check_debug(checker, file, finding_out);
        break;
    default:
        finding_out->verdict = FILE_FOREIGN;
        snprintf(finding_out->text, sizeof(finding_out->text), "does not belong to the trace");
        break;
    }
}
