/* SPDX-License-Identifier: MIT */
/*
 * The profiles of pprof (profile.proto, packed by gzip): a sample for each distinct path of calls of a thread, with how
 * many calls there were and how long they took themselves, and for each distinct stack that the kernel took. Fields of
 * the message may come in any order, so it is written piece by piece, with each text where it is first needed.
 */
#include "export/call_paths.h"
#include "export/export_text.h"
#include "export/gzip_writer.h"
#include "export/protobuf_writer.h"
#include "export/stack_tree.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 65536u
#define TEXT_BYTES  4096u

/* Fields of the messages. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STR = 2,
    LABEL_NUM = 3,
    MAPPING_ID = 1,
    MAPPING_MEMORY_START = 2,
    MAPPING_MEMORY_LIMIT = 3,
    MAPPING_FILE_OFFSET = 4,
    MAPPING_FILENAME = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

struct pprof {
    const struct export_job *job;
    struct call_paths paths;
    struct stack_tree samples; /* that the kernel took */
    size_t function_count;     /* of those that were called */
    struct protobuf_writer message;
    struct gzip_writer *gzip;
    uint64_t text_count;
    uint64_t *thread_texts; /* of each thread: its name */
    uint64_t *mappings;     /* of each process: the number of its first module, in all of them */
    const char *last_file;  /* of a source, that was put last, and its text */
    uint64_t last_file_text;
    uint64_t thread_key, tid_key, pid_key, source_key;
    int result; /* -ENOMEM */
};

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void flush(struct pprof *pprof)
{
    if (pprof->message.has_failed)
        pprof->result = -ENOMEM;
    else
        gzip_writer_put(pprof->gzip, pprof->message.bytes, pprof->message.used);
    pprof->message.used = 0;
}

/* A field of the profile is complete. */
static void end_field(struct pprof *pprof)
{
    if (pprof->message.used > PIECE_BYTES || pprof->message.has_failed)
        flush(pprof);
}

/* Adds a text to the table, and returns its number. To be called between fields. */
static uint64_t put_text(struct pprof *pprof, const char *text)
{
    char clean[TEXT_BYTES];

    (void)export_text_clean(clean, sizeof(clean), text);
    protobuf_put_text(&pprof->message, PROFILE_STRING_TABLE, clean);
    end_field(pprof);
    return pprof->text_count++;
}

static void put_value_type(struct pprof *pprof, const char *type, const char *unit)
{
    uint64_t type_text = put_text(pprof, type), unit_text = put_text(pprof, unit);
    size_t begun = protobuf_begin_message(&pprof->message, PROFILE_SAMPLE_TYPE);

    protobuf_put_number(&pprof->message, VALUE_TYPE, type_text);
    protobuf_put_number(&pprof->message, VALUE_UNIT, unit_text);
    protobuf_end_message(&pprof->message, begun);
    if (strcmp(type, "self_time") == 0)
        protobuf_put_number(&pprof->message, PROFILE_DEFAULT_SAMPLE_TYPE, type_text);
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

/* Mappings are numbered from 1 on, process by process. */
static uint64_t mapping_of(const struct pprof *pprof, const struct view_function *function)
{
    const struct modules *modules = &pprof->job->trace->processes[function->process].modules;

    return function->module == NULL
               ? 0
               : pprof->mappings[function->process] + (uint64_t)(function->module - modules->modules);
}

static uint64_t put_build_id(struct pprof *pprof, const struct recorded_module *module)
{
    char digits[2 * sizeof(module->build_id) + 1] = "";

    for (size_t i = 0; i < module->build_id_bytes && i < sizeof(module->build_id); i++)
        snprintf(digits + 2 * i, 3, "%02x", module->build_id[i]);
    return put_text(pprof, digits);
}

static void put_mapping(struct pprof *pprof, const struct recorded_module *module, uint64_t number)
{
    uint64_t path = put_text(pprof, module->path), build_id = put_build_id(pprof, module);
    size_t begun = protobuf_begin_message(&pprof->message, PROFILE_MAPPING);

    protobuf_put_number(&pprof->message, MAPPING_ID, number);
    protobuf_put_number(&pprof->message, MAPPING_MEMORY_START, module->start);
    protobuf_put_number(&pprof->message, MAPPING_MEMORY_LIMIT, module->end);
    protobuf_put_number(&pprof->message, MAPPING_FILE_OFFSET, module->file_offset);
    protobuf_put_number(&pprof->message, MAPPING_FILENAME, path);
    protobuf_put_number(&pprof->message, MAPPING_BUILD_ID, build_id);
    protobuf_put_number(&pprof->message, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_end_message(&pprof->message, begun);
    end_field(pprof);
}

static void put_mappings(struct pprof *pprof)
{
    const struct view_trace *trace = pprof->job->trace;
    uint64_t number = 1;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct modules *modules = &trace->processes[i].modules;

        pprof->mappings[i] = number;
        for (size_t m = 0; m < modules->count; m++)
            put_mapping(pprof, &modules->modules[m], number++);
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* The text of its file in the source; 0, which is the empty one: it is not known. Functions that follow each other are
 * often of the same. */
static uint64_t put_file(struct pprof *pprof, const struct view_function *function)
{
    if (function->file == NULL)
        return 0;
    if (function->file != pprof->last_file)
        pprof->last_file_text = put_text(pprof, function->file);
    pprof->last_file = function->file;
    return pprof->last_file_text;
}

/* Calls are known by the function, so each one has one location: where it begins. */
static void put_function(struct pprof *pprof, uint32_t number)
{
    const struct view_function *function = view_functions_at(pprof->job->functions, number);
    struct protobuf_writer *message = &pprof->message;
    uint64_t name = put_text(pprof, function->name), file = put_file(pprof, function);
    size_t begun = protobuf_begin_message(message, PROFILE_FUNCTION);

    protobuf_put_number(message, FUNCTION_ID, (uint64_t)number + 1);
    protobuf_put_number(message, FUNCTION_NAME, name);
    protobuf_put_number(message, FUNCTION_SYSTEM_NAME, name);
    if (file != 0)
        protobuf_put_number(message, FUNCTION_FILENAME, file);
    if (function->line != 0)
        protobuf_put_number(message, FUNCTION_START_LINE, function->line);
    protobuf_end_message(message, begun);
    begun = protobuf_begin_message(message, PROFILE_LOCATION);
    protobuf_put_number(message, LOCATION_ID, (uint64_t)number + 1);
    protobuf_put_number(message, LOCATION_MAPPING_ID, mapping_of(pprof, function));
    protobuf_put_number(message, LOCATION_ADDRESS, function->address);

    size_t line = protobuf_begin_message(message, LOCATION_LINE);

    protobuf_put_number(message, LINE_FUNCTION_ID, (uint64_t)number + 1);
    if (function->line != 0)
        protobuf_put_number(message, LINE_LINE, function->line);
    protobuf_end_message(message, line);
    protobuf_end_message(message, begun);
    end_field(pprof);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static void put_label(struct pprof *pprof, uint64_t key, uint32_t field, uint64_t value)
{
    size_t begun = protobuf_begin_message(&pprof->message, SAMPLE_LABEL);

    protobuf_put_number(&pprof->message, LABEL_KEY, key);
    protobuf_put_number(&pprof->message, field, value);
    protobuf_end_message(&pprof->message, begun);
}

static void put_sample(struct pprof *pprof, const struct call_path *path)
{
    const struct view_trace *trace = pprof->job->trace;
    struct protobuf_writer *message = &pprof->message;
    size_t begun = protobuf_begin_message(message, PROFILE_SAMPLE);
    size_t packed = protobuf_begin_message(message, SAMPLE_LOCATION_ID);

    for (const struct call_path *at = path;; at = &pprof->paths.paths[at->parent]) {
        protobuf_put_packed(message, (uint64_t)at->function + 1);
        if (at->parent == CALL_PATH_NONE)
            break;
    }
    protobuf_end_message(message, packed);
    packed = protobuf_begin_message(message, SAMPLE_VALUE);
    protobuf_put_packed(message, path->call_count);
    protobuf_put_packed(message, path->self_ns);
    protobuf_end_message(message, packed);
    if (trace->threads[path->thread].name[0] != '\0')
        put_label(pprof, pprof->thread_key, LABEL_STR, pprof->thread_texts[path->thread]);
    put_label(pprof, pprof->tid_key, LABEL_NUM, trace->threads[path->thread].tid);
    put_label(pprof, pprof->pid_key, LABEL_NUM, view_trace_process_of(trace, path->thread)->pid);
    protobuf_end_message(message, begun);
    end_field(pprof);
}

/* ---- what the kernel saw ----------------------------------------------------------------------------------------- */

/* Behind the functions that were called: a function and a location for each frame. */
static void put_frame(struct pprof *pprof, uint32_t frame)
{
    struct protobuf_writer *message = &pprof->message;
    uint64_t name = put_text(pprof, pprof->samples.frames.texts[frame]), number = pprof->function_count + frame + 1;
    size_t begun = protobuf_begin_message(message, PROFILE_FUNCTION), line;

    protobuf_put_number(message, FUNCTION_ID, number);
    protobuf_put_number(message, FUNCTION_NAME, name);
    protobuf_put_number(message, FUNCTION_SYSTEM_NAME, name);
    protobuf_end_message(message, begun);
    begun = protobuf_begin_message(message, PROFILE_LOCATION);
    protobuf_put_number(message, LOCATION_ID, number);
    line = protobuf_begin_message(message, LOCATION_LINE);
    protobuf_put_number(message, LINE_FUNCTION_ID, number);
    protobuf_end_message(message, line);
    protobuf_end_message(message, begun);
    end_field(pprof);
}

/* What was asked for and the thread are labels, not frames. */
static void put_kernel_sample(struct pprof *pprof, uint32_t node, uint64_t source, uint64_t thread)
{
    const struct stack_tree *tree = &pprof->samples;
    struct protobuf_writer *message = &pprof->message;
    size_t begun = protobuf_begin_message(message, PROFILE_SAMPLE);
    size_t packed = protobuf_begin_message(message, SAMPLE_LOCATION_ID);

    for (uint32_t at = node; tree->nodes[at].depth > 2; at = tree->nodes[at].parent)
        protobuf_put_packed(message, pprof->function_count + tree->nodes[at].frame + 1);
    protobuf_end_message(message, packed);
    packed = protobuf_begin_message(message, SAMPLE_VALUE);
    protobuf_put_packed(message, tree->nodes[node].call_count);
    protobuf_put_packed(message, tree->nodes[node].self_ns);
    protobuf_end_message(message, packed);
    put_label(pprof, pprof->source_key, LABEL_STR, source);
    put_label(pprof, pprof->thread_key, LABEL_STR, thread);
    protobuf_end_message(message, begun);
    end_field(pprof);
}

static void put_kernel_samples(struct pprof *pprof)
{
    const struct stack_tree *tree = &pprof->samples;
    uint64_t source = 0, thread = 0;

    if (tree->node_count < 2)
        return;
    pprof->source_key = put_text(pprof, "source");
    for (size_t i = 0; i < tree->frames.count; i++)
        put_frame(pprof, (uint32_t)i);
    for (uint32_t node = stack_tree_next(tree, 0); node != STACK_NO_NODE; node = stack_tree_next(tree, node)) {
        if (tree->nodes[node].depth == 1)
            source = put_text(pprof, stack_tree_text(tree, node));
        else if (tree->nodes[node].depth == 2)
            thread = put_text(pprof, stack_tree_text(tree, node));
        else if (tree->nodes[node].self_ns != 0)
            put_kernel_sample(pprof, node, source, thread);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void put_comment(struct pprof *pprof, const char *text)
{
    protobuf_put_number(&pprof->message, PROFILE_COMMENT, put_text(pprof, text));
}

static void put_comments(struct pprof *pprof)
{
    const struct manifest *manifest = &pprof->job->trace->manifest;
    char text[128];

    if (manifest->program != NULL)
        put_comment(pprof, manifest->program);
    if (pprof->paths.gap_count != 0) {
        snprintf(text, sizeof(text), "events are missing at %" PRIu64 " places: %" PRIu64 " bytes",
                 pprof->paths.gap_count, pprof->paths.lost_bytes);
        put_comment(pprof, text);
    }
    if (pprof->paths.entry_only_count != 0) {
        snprintf(text, sizeof(text), "how long %" PRIu64 " calls took is not known: only their entry was seen",
                 pprof->paths.entry_only_count);
        put_comment(pprof, text);
    }
    if (pprof->paths.guessed_count != 0) {
        snprintf(text, sizeof(text), "the times of %" PRIu64 " calls are guesses", pprof->paths.guessed_count);
        put_comment(pprof, text);
    }
}

static void put_times(struct pprof *pprof)
{
    const struct view_clock *clock = &pprof->job->trace->clock;

    if (pprof->job->trace->manifest.began_unix_ns > 0)
        protobuf_put_number(&pprof->message, PROFILE_TIME_NANOS, (uint64_t)pprof->job->trace->manifest.began_unix_ns);
    protobuf_put_number(&pprof->message, PROFILE_DURATION_NANOS, view_clock_ns(clock, clock->last.counter));
}

static void put_threads(struct pprof *pprof)
{
    const struct view_trace *trace = pprof->job->trace;

    pprof->thread_key = put_text(pprof, "thread");
    pprof->tid_key = put_text(pprof, "tid");
    pprof->pid_key = put_text(pprof, "pid");
    for (size_t i = 0; i < trace->thread_count; i++)
        pprof->thread_texts[i] = put_text(pprof, trace->threads[i].name);
}

static void put_profile(struct pprof *pprof)
{
    /* The first text is empty, by rule. */
    (void)put_text(pprof, "");
    put_value_type(pprof, "calls", "count");
    put_value_type(pprof, "self_time", "nanoseconds");
    put_times(pprof);
    put_comments(pprof);
    put_threads(pprof);
    put_mappings(pprof);
    view_functions_prepare(pprof->job->functions);
    for (size_t i = 0; i < pprof->function_count; i++)
        put_function(pprof, (uint32_t)i);
    for (size_t i = 0; i < pprof->paths.count; i++)
        if (pprof->paths.paths[i].call_count != 0)
            put_sample(pprof, &pprof->paths.paths[i]);
    put_kernel_samples(pprof);
    flush(pprof);
}

static int write_read(struct pprof *pprof)
{
    const struct view_trace *trace = pprof->job->trace;

    pprof->thread_texts = calloc(trace->thread_count + 1, sizeof(*pprof->thread_texts));
    pprof->mappings = calloc(trace->process_count + 1, sizeof(*pprof->mappings));
    if (pprof->thread_texts == NULL || pprof->mappings == NULL ||
        gzip_writer_create(&pprof->gzip, pprof->job->stream) != 0)
        return -ENOMEM;
    protobuf_writer_init(&pprof->message);
    put_profile(pprof);
    protobuf_writer_deinit(&pprof->message);
    gzip_writer_finish(pprof->gzip);
    return pprof->result;
}

static int write_pprof(const struct export_job *job, struct gait_error *err)
{
    struct pprof pprof = {.job = job};
    int read_result, samples_result, result = 0;

    view_functions_want_sources(job->functions);
    read_result = call_paths_read(&pprof.paths, job, err);
    pprof.function_count = job->functions->count;
    samples_result = stack_tree_read_samples(&pprof.samples, job, read_result == 0 ? err : NULL);
    read_result = read_result == 0 ? samples_result : read_result;
    if (read_result != -ENOMEM)
        result = write_read(&pprof);
    stack_tree_deinit(&pprof.samples);
    free(pprof.thread_texts);
    free(pprof.mappings);
    call_paths_deinit(&pprof.paths);
    if (result != 0)
        return error_set(err, result, "cannot write the profile: there is no memory");
    return read_result;
}

extern const struct export_format export_format_pprof;
const struct export_format export_format_pprof = {
    .name = "pprof",
    .file_name = "profile.pb.gz",
    .kind = EXPORT_BINARY,
    .write = write_pprof,
};
