/* SPDX-License-Identifier: MIT */
#include "ring/detail_record.h"

static size_t check_enter(const uint8_t *place, size_t size_bytes)
{
    struct detail_enter enter;

    if (size_bytes < sizeof(enter))
        return 0;
    __builtin_memcpy(&enter, place, sizeof(enter));
    return enter.stack_bytes > size_bytes - sizeof(enter) ? 0 : size_bytes;
}

size_t detail_record_check(const uint8_t *place, size_t available)
{
    struct detail_record record;

    if (available < sizeof(record))
        return 0;
    /* Acquire: pairs with the release of who wrote it. */
    record.size_bytes = __atomic_load_n((const uint32_t *)(const void *)place, __ATOMIC_ACQUIRE);
    if (record.size_bytes < sizeof(record) || record.size_bytes % 8 != 0 || record.size_bytes > available ||
        record.size_bytes > DETAIL_RECORD_BYTES_MAX)
        return 0;
    __builtin_memcpy(&record.kind, place + offsetof(struct detail_record, kind), sizeof(record.kind));
    switch (record.kind) {
    case DETAIL_ENTER:
        return check_enter(place, record.size_bytes);
    case DETAIL_LEAVE:
    case DETAIL_LEFT:
        return record.size_bytes == sizeof(struct detail_leave) ? record.size_bytes : 0;
    default:
        return 0;
    }
}

uint64_t detail_records_count(const uint8_t *place, size_t available)
{
    uint64_t count = 0;
    size_t size;

    for (; (size = detail_record_check(place, available)) != 0; count++) {
        place += size;
        available -= size;
    }
    return count;
}

const uint8_t *detail_records_end(const uint8_t *place, const uint8_t *end)
{
    size_t size;

    while ((size = detail_record_check(place, (size_t)(end - place))) != 0)
        place += size;
    return place;
}
