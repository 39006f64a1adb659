/* SPDX-License-Identifier: MIT */
/* Definitions are checked one by one, and those of kinds that are not known are passed over. */
#include "trace/kernel_sources.h"

#include "base/partition_point.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool has_unknown_fields(const struct kernel_field *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].type == 0 || fields[i].type >= KERNEL_FIELD_TYPES || fields[i].size_bytes == 0 ||
            fields[i].size_bytes > UINT16_MAX || fields[i].count == 0 || fields[i].count > UINT16_MAX ||
            memchr(fields[i].name, '\0', sizeof(fields[i].name)) == NULL)
            return true;
    return false;
}

static int make_source(struct kernel_source *source, const struct kernel_source_definition *given, const uint8_t *rest)
{
    size_t fields_bytes = given->field_count * sizeof(struct kernel_field);
    const char *texts = (const char *)rest + fields_bytes;

    *source = (struct kernel_source){
        .id = given->id,
        .raw_base = given->raw_base,
        .spec = strndup(texts, given->spec_bytes),
        .name = strndup(texts + given->spec_bytes, given->name_bytes),
        .format = strndup(texts + given->spec_bytes + given->name_bytes, given->format_bytes),
        .fields = malloc(fields_bytes + 1),
        .field_count = given->field_count,
    };
    if (source->fields != NULL)
        memcpy(source->fields, rest, fields_bytes);
    return source->spec == NULL || source->name == NULL || source->format == NULL || source->fields == NULL ? -ENOMEM
                                                                                                            : 0;
}

/* Sources come in the order of their numbers. */
static int take_source(struct kernel_sources *sources, const uint8_t *place, size_t size_bytes)
{
    struct kernel_source_definition given;
    uint64_t needed;
    int result;

    if (size_bytes < sizeof(given))
        return -EPROTO;
    memcpy(&given, place, sizeof(given));
    if (given.field_count > KERNEL_FIELDS_MAX || given.id != sources->source_count || given.id > KERNEL_SOURCES_MAX)
        return -EPROTO;
    needed = sizeof(given) + (uint64_t)given.field_count * sizeof(struct kernel_field) + given.spec_bytes +
             given.name_bytes + given.format_bytes;
    if (needed > size_bytes ||
        has_unknown_fields((const struct kernel_field *)(const void *)(place + sizeof(given)), given.field_count))
        return -EPROTO;
    result = ARRAY_RESERVE_NEXT(sources->sources, sources->source_count);
    if (result == 0)
        result = make_source(&sources->sources[sources->source_count++], &given, place + sizeof(given));
    return result;
}

static int take_thread(struct kernel_sources *sources, const uint8_t *place, size_t size_bytes)
{
    struct kernel_thread_definition given;
    struct kernel_thread *thread;

    if (size_bytes < sizeof(given))
        return -EPROTO;
    memcpy(&given, place, sizeof(given));
    if (ARRAY_RESERVE_NEXT(sources->threads, sources->thread_count) != 0)
        return -ENOMEM;
    thread = &sources->threads[sources->thread_count];
    *thread = (struct kernel_thread){given.pid, given.tid, given.time, sources->thread_count, ""};
    memcpy(thread->name, given.name, sizeof(given.name));
    sources->thread_count++;
    return 0;
}

static int take_function(struct kernel_sources *sources, const uint8_t *place, size_t size_bytes)
{
    struct kernel_function_definition given;
    struct kernel_function *function;

    if (size_bytes < sizeof(given))
        return -EPROTO;
    memcpy(&given, place, sizeof(given));
    if (given.name_bytes > size_bytes - sizeof(given) || given.start >= given.end)
        return -EPROTO;
    if (ARRAY_RESERVE_NEXT(sources->functions, sources->function_count) != 0)
        return -ENOMEM;
    function = &sources->functions[sources->function_count];
    *function = (struct kernel_function){given.start, given.end,
                                         strndup((const char *)place + sizeof(given), given.name_bytes)};
    if (function->name == NULL)
        return -ENOMEM;
    sources->function_count++;
    return 0;
}

static int take_total(struct kernel_sources *sources, const uint8_t *place, size_t size_bytes)
{
    struct kernel_total_definition given;
    struct kernel_source *source;

    if (size_bytes < sizeof(given))
        return -EPROTO;
    memcpy(&given, place, sizeof(given));
    if (given.id == 0 || given.id >= sources->source_count)
        return -EPROTO;
    source = &sources->sources[given.id];
    source->has_total = true;
    source->event_count = given.event_count;
    source->lost_count = given.lost_count;
    return 0;
}

static int take(struct kernel_sources *sources, const uint8_t *place, const struct kernel_definition *definition)
{
    switch (definition->kind) {
    case KERNEL_DEFINES_SOURCE:
        return take_source(sources, place, definition->size_bytes);
    case KERNEL_DEFINES_THREAD:
        return take_thread(sources, place, definition->size_bytes);
    case KERNEL_DEFINES_FUNCTION:
        return take_function(sources, place, definition->size_bytes);
    case KERNEL_DEFINES_TOTAL:
        return take_total(sources, place, definition->size_bytes);
    default:
        return 0;
    }
}

static int read_chunk(struct kernel_sources *sources, const struct stream_chunk *chunk, const char *path,
                      struct gait_error *err)
{
    struct kernel_definition definition = {.size_bytes = 0};

    for (size_t at = 0; at < chunk->size_bytes; at += definition.size_bytes) {
        size_t available = chunk->size_bytes - at;
        int result = -EPROTO;

        if (available >= sizeof(definition))
            memcpy(&definition, chunk->bytes + at, sizeof(definition));
        if (available >= sizeof(definition) && definition.size_bytes >= sizeof(definition) &&
            definition.size_bytes <= available && definition.size_bytes % TRACE_ALIGNMENT == 0)
            result = take(sources, chunk->bytes + at, &definition);
        if (result == -ENOMEM)
            return error_set(err, ENOMEM, "cannot read '%s': there is no memory for what it defines; try to free some",
                             path);
        if (result != 0)
            return error_set(err, EPROTO,
                             "cannot read '%s': byte %zu of chunk %" PRIu64 " begins no definition; it was written by "
                             "something else than gait",
                             path, at, chunk->sequence);
    }
    return 0;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int compare_threads(const void *left_thread, const void *right_thread)
{
    const struct kernel_thread *left = left_thread, *right = right_thread;

    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

static int compare_functions(const void *left_function, const void *right_function)
{
    const struct kernel_function *left = left_function, *right = right_function;

    return left->start < right->start ? -1 : left->start > right->start;
}

static void sort(struct kernel_sources *sources)
{
    if (sources->thread_count != 0)
        qsort(sources->threads, sources->thread_count, sizeof(sources->threads[0]), compare_threads);
    if (sources->function_count != 0)
        qsort(sources->functions, sources->function_count, sizeof(sources->functions[0]), compare_functions);
}

int kernel_sources_read(struct kernel_sources *sources, int folder, const char *path, struct gait_error *err)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    *sources = (struct kernel_sources){.sources = calloc(1, sizeof(struct kernel_source)), .source_count = 1};
    if (sources->sources == NULL)
        result = error_set(err, ENOMEM, "cannot read '%s': there is no memory", path);
    else if (reader.header.kind != TRACE_STREAM_KERNEL_SOURCES)
        result = error_set(err, EPROTO,
                           "cannot read '%s': it is a stream, but not one of the kernel's sources; files were mixed up",
                           path);
    while (result == 0 && stream_reader_next(&reader, &chunk))
        result = read_chunk(sources, &chunk, path, err);
    sources->end = reader.end;
    stream_reader_close(&reader);
    if (result == 0)
        sort(sources);
    else
        kernel_sources_deinit(sources);
    return result;
}

void kernel_sources_deinit(struct kernel_sources *sources)
{
    for (size_t i = 0; sources->sources != NULL && i < sources->source_count; i++) {
        free(sources->sources[i].spec);
        free(sources->sources[i].name);
        free(sources->sources[i].format);
        free(sources->sources[i].fields);
    }
    for (size_t i = 0; i < sources->function_count; i++)
        free(sources->functions[i].name);
    free(sources->sources);
    free(sources->threads);
    free(sources->functions);
    *sources = (struct kernel_sources){.source_count = 0};
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

const struct kernel_source *kernel_sources_find(const struct kernel_sources *sources, uint32_t id)
{
    return id != 0 && id < sources->source_count ? &sources->sources[id] : NULL;
}

const char *kernel_sources_thread(const struct kernel_sources *sources, uint32_t tid, uint64_t time)
{
    const struct kernel_thread *threads = sources->threads;
    /* Behind the last one that was so early. */
    size_t low = PARTITION_POINT(sources->thread_count, i,
                                 threads[i].tid < tid || (threads[i].tid == tid && threads[i].time <= time));

    if (low > 0 && threads[low - 1].tid == tid)
        return threads[low - 1].name;
    return low < sources->thread_count && threads[low].tid == tid ? threads[low].name : "";
}

const struct kernel_function *kernel_sources_function(const struct kernel_sources *sources, uint64_t address)
{
    size_t low = PARTITION_POINT(sources->function_count, i, sources->functions[i].start <= address);

    return low > 0 && address < sources->functions[low - 1].end ? &sources->functions[low - 1] : NULL;
}

const struct kernel_field *kernel_source_field(const struct kernel_source *source, const char *name)
{
    for (size_t i = 0; i < source->field_count; i++)
        if (strcmp(source->fields[i].name, name) == 0)
            return &source->fields[i];
    return NULL;
}
