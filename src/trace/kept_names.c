/* SPDX-License-Identifier: MIT */
/*
 * In the file, addresses, sizes and names are columns: numbers are small and alike, names of neighbours are alike, and
 * zstd makes little of both. Code may lie in other code, so the nearest function before an address need not cover it:
 * the search goes back from there, but not beyond where everything ends too early.
 */
#include "trace/kept_names.h"

#include "base/text_hash.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "trace/chunk_encoder.h"
#include "trace/modules.h"
#include "trace/stream_reader.h"
#include "trace/stream_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARINT_BYTES_MAX    10u
#define CHUNK_FUNCTIONS_MAX 32768u
#define CHUNK_NAMES_BYTES   (8u << 20) /* where a chunk ends, unless a single name is longer */
#define FUNCTIONS_MAX       (64u << 20)
#define TEXT_BYTES_MAX      (2ul << 30)
#define NAME_LENGTH_MAX     (1u << 20)
#define SEGMENTS_MAX        256u
#define PATH_BYTES_MAX      65536u

/* ---- names of files ---------------------------------------------------------------------------------------------- */

void kept_names_file(const struct recorded_module *module, char name_out[KEPT_NAME_BYTES])
{
    size_t used = 0;

    if (module->build_id_bytes == 0)
        used = (size_t)snprintf(name_out, KEPT_NAME_BYTES, TRACE_PATH_PREFIX "%016llx",
                                (unsigned long long)text_hash(module->path));
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        used += (size_t)snprintf(name_out + used, KEPT_NAME_BYTES - used, "%02x", module->build_id[i]);
    snprintf(name_out + used, KEPT_NAME_BYTES - used, TRACE_STREAM_SUFFIX);
}

/* ---- in memory --------------------------------------------------------------------------------------------------- */

int kept_names_add(struct kept_names *names, uint64_t address, uint64_t size_bytes, const char *name,
                   size_t name_length)
{
    uint64_t end = address + (size_bytes == 0 ? 1 : size_bytes);
    uint64_t before = names->function_count == 0 ? 0 : names->functions[names->function_count - 1].covered_end;
    int result;

    if (name_length > NAME_LENGTH_MAX)
        name_length = NAME_LENGTH_MAX;
    if (names->function_count == FUNCTIONS_MAX || names->text_bytes + name_length >= TEXT_BYTES_MAX)
        return -E2BIG;
    result = ARRAY_RESERVE(names->functions, names->function_capacity, names->function_count + 1);
    if (result == 0)
        result = ARRAY_RESERVE(names->text, names->text_capacity, names->text_bytes + name_length + 1);
    if (result != 0)
        return result;
    names->functions[names->function_count++] = (struct kept_function){
        .address = address,
        .size_bytes = size_bytes,
        /* A size that wraps around is nonsense, and covers nothing. */
        .covered_end = end > before && end > address ? end : before,
        .name = names->text_bytes,
    };
    memcpy(names->text + names->text_bytes, name, name_length);
    names->text[names->text_bytes + name_length] = '\0';
    names->text_bytes += name_length + 1;
    return 0;
}

void kept_names_deinit(struct kept_names *names)
{
    free(names->path);
    free(names->segments);
    free(names->functions);
    free(names->text);
    *names = (struct kept_names){.path = NULL};
}

bool kept_names_are_of(const struct kept_names *names, const struct recorded_module *module)
{
    if (module->build_id_bytes != 0)
        return names->file.build_id_bytes == module->build_id_bytes &&
               memcmp(names->file.build_id, module->build_id, module->build_id_bytes) == 0;
    return names->file.build_id_bytes == 0 && strcmp(names->path, module->path) == 0 &&
           module->loaded >= names->file.from;
}

int kept_names_place(const struct kept_names *names, uint64_t file_offset, uint64_t *address_out)
{
    for (uint32_t i = 0; i < names->file.segment_count; i++) {
        const struct trace_segment *segment = &names->segments[i];

        if (file_offset >= segment->file_offset && file_offset - segment->file_offset < segment->size_bytes) {
            *address_out = segment->address + (file_offset - segment->file_offset);
            return 0;
        }
    }
    return -ENOENT;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static int put_chunk(struct stream_writer *writer, const void *bytes, size_t size_bytes)
{
    return stream_writer_put(writer, &(struct chunk_contents){.bytes = bytes, .size_bytes = size_bytes});
}

static int write_file(const struct kept_names *names, struct stream_writer *writer)
{
    struct trace_names file = names->file;
    size_t path_bytes = strlen(names->path), segments_bytes = file.segment_count * sizeof(*names->segments);
    uint8_t *bytes;
    int result;

    if (path_bytes > PATH_BYTES_MAX || file.segment_count > SEGMENTS_MAX)
        return -E2BIG;
    file.path_bytes = (uint32_t)path_bytes;
    file.function_count = names->function_count;
    file.size_bytes = (uint32_t)trace_padded(sizeof(file) + segments_bytes + path_bytes);
    bytes = calloc(1, file.size_bytes);
    if (bytes == NULL)
        return -ENOMEM;
    memcpy(bytes, &file, sizeof(file));
    if (segments_bytes != 0)
        memcpy(bytes + sizeof(file), names->segments, segments_bytes);
    memcpy(bytes + sizeof(file) + segments_bytes, names->path, path_bytes);
    result = put_chunk(writer, bytes, file.size_bytes);
    free(bytes);
    return result;
}

/* How many functions go into the next chunk. */
static size_t count_for_chunk(const struct kept_names *names, size_t first)
{
    size_t count = 0, names_bytes = 0;

    while (first + count < names->function_count && count < CHUNK_FUNCTIONS_MAX && names_bytes < CHUNK_NAMES_BYTES)
        names_bytes += strlen(names->text + names->functions[first + count++].name) + 1;
    return count;
}

/* Those from `first` on; the buffer has room for all numbers, and the names are behind each other already. */
static size_t encode(const struct kept_names *names, size_t first, size_t count, uint8_t *buffer)
{
    struct trace_functions columns = {.count = (uint32_t)count};
    size_t text_end = first + count < names->function_count ? names->functions[first + count].name : names->text_bytes;
    size_t text_start = names->functions[first].name;
    uint8_t *at = buffer + sizeof(columns), *column = at;
    uint64_t before = 0;

    for (size_t i = first; i < first + count; i++) {
        at = put_varint(at, names->functions[i].address - before);
        before = names->functions[i].address;
    }
    columns.address_bytes = (uint32_t)(at - column);
    column = at;
    for (size_t i = first; i < first + count; i++)
        at = put_varint(at, names->functions[i].size_bytes);
    columns.size_bytes = (uint32_t)(at - column);
    columns.name_bytes = (uint32_t)(text_end - text_start);
    memcpy(at, names->text + text_start, columns.name_bytes);
    memcpy(buffer, &columns, sizeof(columns));
    return (size_t)(at - buffer) + columns.name_bytes;
}

static int write_functions(const struct kept_names *names, struct stream_writer *writer)
{
    uint8_t *buffer = malloc(sizeof(struct trace_functions) + 2ul * CHUNK_FUNCTIONS_MAX * VARINT_BYTES_MAX +
                             CHUNK_NAMES_BYTES + NAME_LENGTH_MAX + 1);
    int result = buffer == NULL ? -ENOMEM : 0;

    for (size_t first = 0, count; result == 0 && first < names->function_count; first += count) {
        count = count_for_chunk(names, first);
        result = put_chunk(writer, buffer, encode(names, first, count, buffer));
    }
    free(buffer);
    return result;
}

static int write_stream(const struct kept_names *names, int folder, const char *name, struct chunk_encoder *encoder,
                        uint64_t *size_out)
{
    const struct trace_stream_header header = {.kind = TRACE_STREAM_NAMES, .began = clock_pair_read()};
    struct stream_writer writer;
    int result = stream_writer_open(&writer, folder, name, &header, encoder), closed;

    if (result != 0)
        return result;
    result = write_file(names, &writer);
    if (result == 0)
        result = write_functions(names, &writer);
    closed = stream_writer_close(&writer, 0);
    *size_out = writer.file_bytes;
    return result == 0 ? closed : result;
}

int kept_names_write(const struct kept_names *names, int folder, const char *name, struct chunk_encoder *encoder,
                     uint64_t *size_out)
{
    uint64_t size_bytes;
    char unfinished[KEPT_NAME_BYTES + 8];
    int result;

    if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    snprintf(unfinished, sizeof(unfinished), "%s.new", name);
    /* One of somebody who was killed. */
    (void)unlinkat(folder, unfinished, 0);
    result = write_stream(names, folder, unfinished, encoder, &size_bytes);
    if (result == 0 && renameat(folder, unfinished, folder, name) != 0)
        result = -errno;
    if (result != 0)
        (void)unlinkat(folder, unfinished, 0);
    else if (size_out != NULL)
        *size_out = size_bytes;
    return result;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A column of numbers, of which some have been read. */
struct varints {
    const uint8_t *at;
    const uint8_t *end;
};

static bool take_varint(struct varints *varints, uint64_t *value_out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && varints->at < varints->end; shift += 7) {
        uint8_t byte = *varints->at++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (shift == 63 && byte > 1)
            return false;
        if (!(byte & 0x80)) {
            *value_out = value;
            return true;
        }
    }
    return false;
}

static bool is_possible(const struct trace_names *file, size_t size_bytes)
{
    return file->size_bytes == size_bytes && file->segment_count <= SEGMENTS_MAX &&
           file->path_bytes <= PATH_BYTES_MAX && file->build_id_bytes <= sizeof(file->build_id) &&
           file->function_count <= FUNCTIONS_MAX &&
           trace_padded(sizeof(*file) + file->segment_count * sizeof(struct trace_segment) + file->path_bytes) ==
               size_bytes;
}

/* The first chunk. */
static int read_file(struct kept_names *names, const struct stream_chunk *chunk)
{
    const uint8_t *behind = chunk->bytes + sizeof(names->file);
    size_t segments_bytes;

    if (chunk->size_bytes < sizeof(names->file))
        return -EPROTO;
    memcpy(&names->file, chunk->bytes, sizeof(names->file));
    if (!is_possible(&names->file, chunk->size_bytes)) {
        names->file.segment_count = 0;
        return -EPROTO;
    }
    segments_bytes = names->file.segment_count * sizeof(*names->segments);
    names->segments = malloc(segments_bytes + 1);
    names->path = strndup((const char *)behind + segments_bytes, names->file.path_bytes);
    if (names->segments == NULL || names->path == NULL)
        return -ENOMEM;
    memcpy(names->segments, behind, segments_bytes);
    return 0;
}

static int read_functions(struct kept_names *names, const struct stream_chunk *chunk)
{
    struct trace_functions columns;
    struct varints addresses, sizes;
    const char *name, *end;
    uint64_t address = 0, step, size_bytes;
    uint64_t last = names->function_count == 0 ? 0 : names->functions[names->function_count - 1].address;

    if (chunk->size_bytes < sizeof(columns))
        return -EPROTO;
    memcpy(&columns, chunk->bytes, sizeof(columns));
    if ((uint64_t)columns.address_bytes + columns.size_bytes + columns.name_bytes !=
        chunk->size_bytes - sizeof(columns))
        return -EPROTO;
    addresses.at = chunk->bytes + sizeof(columns);
    sizes.at = addresses.end = addresses.at + columns.address_bytes;
    sizes.end = sizes.at + columns.size_bytes;
    name = (const char *)sizes.end;
    end = name + columns.name_bytes;
    for (uint32_t i = 0; i < columns.count; i++) {
        size_t length = strnlen(name, (size_t)(end - name));
        int result;

        if (!take_varint(&addresses, &step) || !take_varint(&sizes, &size_bytes) || length == (size_t)(end - name) ||
            length > NAME_LENGTH_MAX || address + step < address || address + step < last)
            return -EPROTO;
        address += step;
        result = kept_names_add(names, address, size_bytes, name, length);
        if (result != 0)
            return result;
        name += length + 1;
    }
    return addresses.at == addresses.end && sizes.at == sizes.end && name == end ? 0 : -EPROTO;
}

static int read_chunks(struct kept_names *names, struct stream_reader *reader)
{
    struct stream_chunk chunk;
    int result = 0;

    while (result == 0 && stream_reader_next(reader, &chunk)) {
        result = names->path == NULL ? read_file(names, &chunk) : read_functions(names, &chunk);
        if (result == 0 && names->function_count > names->file.function_count)
            result = -EPROTO;
    }
    if (result == 0 && reader->end.state == STREAM_COMPLETE &&
        (names->path == NULL || names->function_count != names->file.function_count))
        result = -EPROTO;
    return result;
}

static int explain(int result, const char *path, struct gait_error *err)
{
    if (result == -EPROTO)
        return error_set(err, EPROTO, "cannot read '%s': it holds something that is not a list of functions", path);
    return error_set(err, result, "cannot read '%s': there are too many names in it for the memory", path);
}

int kept_names_read(struct kept_names *names, int folder, const char *path, struct gait_error *err)
{
    struct kept_names made = {.path = NULL};
    struct stream_reader reader;
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    if (reader.header.kind != TRACE_STREAM_NAMES)
        result =
            error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of names; files were mixed up", path);
    else if ((result = read_chunks(&made, &reader)) != 0)
        result = explain(result, path, err);
    else
        result = stream_end_check(&reader.end, path, err);
    stream_reader_close(&reader);
    if (result != 0)
        kept_names_deinit(&made);
    else
        *names = made;
    return result;
}
