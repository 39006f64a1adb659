/* SPDX-License-Identifier: MIT */
#include "symbolize/named_code.h"

#include "base/partition_point.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (1ull << 30)

void named_code_init(struct named_code *code)
{
    *code = (struct named_code){.count = 0};
}

void named_code_deinit(struct named_code *code)
{
    free(code->ranges);
    free(code->texts);
    named_code_init(code);
}

static int make_room(struct named_code *code, size_t text_bytes)
{
    if (ARRAY_RESERVE(code->ranges, code->capacity, code->count + 1) != 0)
        return -ENOMEM;
    if (text_bytes > TEXT_BYTES_MAX - code->text_bytes)
        return -ENOMEM;
    return ARRAY_RESERVE(code->texts, code->text_capacity, code->text_bytes + text_bytes);
}

int named_code_add(struct named_code *code, const struct named_range *range, const char *name, size_t length)
{
    struct named_range *added;
    int result;

    if (range->end != 0 && range->end <= range->begin)
        return 0;
    result = make_room(code, length + 1);
    if (result != 0)
        return result;
    added = &code->ranges[code->count];
    *added = *range;
    added->order = code->count++;
    added->name = code->text_bytes;
    memcpy(code->texts + code->text_bytes, name, length);
    code->texts[code->text_bytes + length] = '\0';
    code->text_bytes += length + 1;
    return 0;
}

static int compare(const void *left_range, const void *right_range)
{
    const struct named_range *left = left_range, *right = right_range;

    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

void named_code_finish(struct named_code *code)
{
    uint64_t end = 0, next = UINT64_MAX;

    if (code->count != 0)
        qsort(code->ranges, code->count, sizeof(code->ranges[0]), compare);
    for (size_t i = code->count; i > 0; i--) {
        struct named_range *range = &code->ranges[i - 1];

        if (i < code->count && code->ranges[i].begin > range->begin)
            next = code->ranges[i].begin;
        if (range->end == 0)
            range->end = next;
    }
    for (size_t i = 0; i < code->count; i++) {
        end = code->ranges[i].end > end ? code->ranges[i].end : end;
        code->ranges[i].covered_end = end;
    }
}

/* Whether the first one came after the other. */
static int is_later(const struct named_range *left, const struct named_range *right)
{
    return left->time != right->time ? left->time > right->time : left->order > right->order;
}

const struct named_range *named_code_find(const struct named_code *code, uint64_t address, uint64_t time)
{
    const struct named_range *best = NULL;
    size_t low = PARTITION_POINT(code->count, i, code->ranges[i].begin <= address);

    for (; low > 0 && code->ranges[low - 1].covered_end > address; low--) {
        const struct named_range *range = &code->ranges[low - 1];

        if (range->end > address && range->time <= time && (best == NULL || is_later(range, best)))
            best = range;
    }
    return best;
}

const char *named_code_name(const struct named_code *code, const struct named_range *range)
{
    return code->texts + range->name;
}
