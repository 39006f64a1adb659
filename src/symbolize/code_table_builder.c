/* SPDX-License-Identifier: MIT */
/*
 * Ranges lie in each other as scopes do; the sweep keeps those that are open on a stack, and writes down whose code it
 * is where that changes. What damaged information lets cross is cut off where the outer range ends.
 */
#include "symbolize/code_table_builder.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1u << 31)
#define SORT_BITS 10
#define SORT_MASK ((1u << SORT_BITS) - 1)

struct built_line {
    uint64_t address;
    size_t order;
    struct source_location place;
};

struct built_range {
    uint64_t begin;
    uint64_t end;
    uint32_t scope;
};

struct built_span {
    uint64_t address;
    uint32_t scope;
};

void code_table_builder_init(struct code_table_builder *builder)
{
    *builder = (struct code_table_builder){.result = 0};
    (void)code_table_builder_add_text(builder, "");
}

void code_table_builder_deinit(struct code_table_builder *builder)
{
    free(builder->lines.items);
    free(builder->ranges.items);
    free(builder->spans.items);
    free(builder->scopes.items);
    free(builder->files.items);
    free(builder->hashes.items);
    free(builder->texts.items);
    *builder = (struct code_table_builder){.result = 0};
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Room for so many more items; NULL: there is none, which is noted. */
static void *extend(struct code_table_builder *builder, struct code_table_list *list, size_t count, size_t item_bytes)
{
    void *items;

    if (builder->result == 0)
        builder->result = list->count + count > BYTES_MAX / item_bytes
                              ? -E2BIG
                              : growing_array_reserve(&list->items, &list->capacity, list->count + count, item_bytes);
    if (builder->result != 0)
        return NULL;
    items = (char *)list->items + list->count * item_bytes;
    list->count += count;
    return items;
}

uint32_t code_table_builder_add_text(struct code_table_builder *builder, const char *text)
{
    size_t place = builder->texts.count, bytes = strlen(text) + 1;
    char *room;

    if (place != 0 && bytes == 1)
        return 0;
    room = extend(builder, &builder->texts, bytes, 1);
    if (room == NULL)
        return 0;
    memcpy(room, text, bytes);
    return (uint32_t)place;
}

/* FNV-1a, 32 bits. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 0x811c9dc5;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193;
    return hash;
}

uint16_t code_table_builder_add_file(struct code_table_builder *builder, const char *path)
{
    const uint32_t *files = builder->files.items, *hashes = builder->hashes.items;
    uint32_t hash = hash_of(path), *room, *hash_room;

    for (size_t i = 0; i < builder->hashes.count; i++)
        if (hashes[i] == hash && strcmp((const char *)builder->texts.items + files[i], path) == 0)
            return (uint16_t)(i + 1);
    if (builder->files.count == UINT16_MAX)
        return 0;
    room = extend(builder, &builder->files, 1, sizeof(*room));
    hash_room = extend(builder, &builder->hashes, 1, sizeof(*hash_room));
    if (room == NULL || hash_room == NULL)
        return 0;
    *hash_room = hash;
    *room = code_table_builder_add_text(builder, path);
    return (uint16_t)builder->files.count;
}

void code_table_builder_add_line(struct code_table_builder *builder, uint64_t address, struct source_location place)
{
    struct built_line *room = extend(builder, &builder->lines, 1, sizeof(*room));

    if (room != NULL)
        *room = (struct built_line){address, builder->lines.count, place};
}

uint32_t code_table_builder_add_scope(struct code_table_builder *builder, struct code_name name, uint32_t parent,
                                      struct source_location place)
{
    struct code_scope *room = extend(builder, &builder->scopes, 1, sizeof(*room));

    if (room == NULL)
        return 0;
    *room = (struct code_scope){name.text, parent, place.line, place.file, place.column, name.is_plain};
    return (uint32_t)builder->scopes.count;
}

void code_table_builder_add_range(struct code_table_builder *builder, uint32_t scope, uint64_t begin, uint64_t end)
{
    struct built_range *room = begin >= end ? NULL : extend(builder, &builder->ranges, 1, sizeof(*room));

    if (room != NULL)
        *room = (struct built_range){begin, end, scope};
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Where one piece ends the next one may begin, which counts, whatever was added first. */
static int compare_lines(const void *left_line, const void *right_line)
{
    const struct built_line *left = left_line, *right = right_line;

    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if ((left->place.file == 0) != (right->place.file == 0))
        return left->place.file == 0 ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

static bool is_sorted(const struct built_line *lines, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (lines[i].address < lines[i - 1].address)
            return false;
    return true;
}

static bool is_same_place(struct source_location left, struct source_location right)
{
    return left.file == right.file && left.line == right.line && left.column == right.column;
}

/* Leaves one line where something changes. */
static void merge_lines(struct code_table_builder *builder)
{
    struct built_line *lines = builder->lines.items;
    size_t used = 0;

    if (!is_sorted(lines, builder->lines.count))
        qsort(lines, builder->lines.count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < builder->lines.count; i++) {
        if (used != 0 && lines[used - 1].address == lines[i].address)
            used--;
        if (used == 0 ? lines[i].place.file != 0 : !is_same_place(lines[used - 1].place, lines[i].place))
            lines[used++] = lines[i];
    }
    builder->lines.count = used;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static int compare_ranges(const void *left_range, const void *right_range)
{
    const struct built_range *left = left_range, *right = right_range;

    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    /* Parents were added before what is in them. */
    return left->scope < right->scope ? -1 : left->scope > right->scope;
}

/* Whether scopes are in order, so that a sort that leaves the order of equal ones alone is enough. */
static bool has_scopes_in_order(const struct built_range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (ranges[i].scope < ranges[i - 1].scope)
            return false;
    return true;
}

/* By some bits of the begin, from one list into another. */
static void sort_by_bits(const struct built_range *from, struct built_range *to, size_t count, uint64_t base,
                         unsigned shift)
{
    size_t places[1u << SORT_BITS] = {0}, place = 0;

    for (size_t i = 0; i < count; i++)
        places[(from[i].begin - base) >> shift & SORT_MASK]++;
    for (size_t i = 0; i <= SORT_MASK; i++) {
        size_t here = places[i];

        places[i] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[(from[i].begin - base) >> shift & SORT_MASK]++] = from[i];
}

/* Many, in little time: units have tens of thousands, all near each other. False: there is no memory for it. */
static bool sort_many(struct built_range *ranges, size_t count)
{
    struct built_range *other = malloc(count * sizeof(*other)), *from = ranges, *to = other;
    uint64_t base = UINT64_MAX, last = 0;

    if (other == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        base = ranges[i].begin < base ? ranges[i].begin : base;
        last = ranges[i].begin > last ? ranges[i].begin : last;
    }
    for (unsigned shift = 0; shift < 64 && (last - base) >> shift != 0; shift += SORT_BITS) {
        struct built_range *sorted = to;

        sort_by_bits(from, to, count, base, shift);
        to = from;
        from = sorted;
    }
    if (from != ranges)
        memcpy(ranges, from, count * sizeof(*ranges));
    free(other);
    return true;
}

static void sort_ranges(struct built_range *ranges, size_t count)
{
    if (count > SORT_MASK && has_scopes_in_order(ranges, count) && sort_many(ranges, count))
        return;
    if (count != 0)
        qsort(ranges, count, sizeof(*ranges), compare_ranges);
}

static void put_span(struct code_table_builder *builder, uint64_t address, uint32_t scope)
{
    struct built_span *spans = builder->spans.items, *room;

    if (builder->spans.count != 0 && spans[builder->spans.count - 1].address == address)
        builder->spans.count--;
    if (builder->spans.count == 0 ? scope == 0 : spans[builder->spans.count - 1].scope == scope)
        return;
    room = extend(builder, &builder->spans, 1, sizeof(*room));
    if (room != NULL)
        *room = (struct built_span){address, scope};
}

/* The open ranges are a stack at the front of the list: as many were read already. */
static void make_spans(struct code_table_builder *builder)
{
    struct built_range *ranges = builder->ranges.items;
    size_t open = 0, count = builder->ranges.count;

    sort_ranges(ranges, count);
    for (size_t i = 0; i <= count; i++) {
        struct built_range range = i < count ? ranges[i] : (struct built_range){.begin = UINT64_MAX};

        while (open > 0 && ranges[open - 1].end <= range.begin) {
            open--;
            put_span(builder, ranges[open].end, open == 0 ? 0 : ranges[open - 1].scope);
        }
        if (i == count)
            break;
        if (open > 0 && range.end > ranges[open - 1].end)
            range.end = ranges[open - 1].end;
        ranges[open++] = range;
        put_span(builder, range.begin, range.scope);
    }
}

/* ---- the block --------------------------------------------------------------------------------------------------- */

static uint64_t base_of(const struct code_table_builder *builder)
{
    const struct built_line *lines = builder->lines.items;
    const struct built_span *spans = builder->spans.items;
    uint64_t base = UINT64_MAX;

    if (builder->lines.count != 0)
        base = lines[0].address;
    if (builder->spans.count != 0 && spans[0].address < base)
        base = spans[0].address;
    return base;
}

/* Those that are too far from the base are left out; they are last. */
static void limit(struct code_table_builder *builder, uint64_t base)
{
    const struct built_line *lines = builder->lines.items;
    const struct built_span *spans = builder->spans.items;

    while (builder->lines.count != 0 && lines[builder->lines.count - 1].address - base > UINT32_MAX)
        builder->lines.count--;
    while (builder->spans.count != 0 && spans[builder->spans.count - 1].address - base > UINT32_MAX)
        builder->spans.count--;
}

static void *put(void *place, const struct code_table_list *list, size_t item_bytes)
{
    if (list->count != 0)
        memcpy(place, list->items, list->count * item_bytes);
    return (char *)place + list->count * item_bytes;
}

static void *put_lines(const struct code_table_builder *builder, uint64_t base, struct code_line *place)
{
    const struct built_line *line = builder->lines.items;

    for (size_t i = 0; i < builder->lines.count; i++, line++)
        *place++ = (struct code_line){(uint32_t)(line->address - base), line->place.line, line->place.file,
                                      line->place.column};
    return place;
}

static void *put_spans(const struct code_table_builder *builder, uint64_t base, struct code_span *place)
{
    const struct built_span *span = builder->spans.items;

    for (size_t i = 0; i < builder->spans.count; i++, span++)
        *place++ = (struct code_span){(uint32_t)(span->address - base), span->scope};
    return place;
}

int code_table_builder_finish(struct code_table_builder *builder, void **block_out, size_t *size_out)
{
    struct code_table_header *header;
    uint64_t base, size_bytes;
    void *place;

    merge_lines(builder);
    make_spans(builder);
    if (builder->result != 0)
        return builder->result;
    base = base_of(builder);
    limit(builder, base);
    size_bytes = sizeof(*header) + builder->lines.count * sizeof(struct code_line) +
                 builder->spans.count * sizeof(struct code_span) + builder->scopes.count * sizeof(struct code_scope) +
                 builder->files.count * sizeof(uint32_t) + builder->texts.count;
    header = size_bytes > BYTES_MAX ? NULL : malloc(size_bytes);
    if (header == NULL)
        return size_bytes > BYTES_MAX ? -E2BIG : -ENOMEM;
    *header = (struct code_table_header){base,
                                         (uint32_t)size_bytes,
                                         (uint32_t)builder->lines.count,
                                         (uint32_t)builder->spans.count,
                                         (uint32_t)builder->scopes.count,
                                         (uint32_t)builder->files.count,
                                         (uint32_t)builder->texts.count};
    place = put_lines(builder, base, (struct code_line *)(header + 1));
    place = put_spans(builder, base, place);
    place = put(place, &builder->scopes, sizeof(struct code_scope));
    place = put(place, &builder->files, sizeof(uint32_t));
    (void)put(place, &builder->texts, 1);
    *block_out = header;
    *size_out = size_bytes;
    return 0;
}
