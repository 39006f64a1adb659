/* SPDX-License-Identifier: MIT */
#include "ring/detail_record.h"

#include "base/alignment.h"

static size_t check_enter(const uint8_t *place, size_t size_bytes)
{
    struct detail_enter enter;

    if (size_bytes < sizeof(enter))
        return 0;
    __builtin_memcpy(&enter, place, sizeof(enter));
    if (enter.stack_bytes > DETAIL_STACK_BYTES_MAX || enter.values_bytes > DETAIL_STACK_BYTES_MAX ||
        size_bytes > DETAIL_ENTER_BYTES_MAX)
        return 0;
    return sizeof(enter) + align_up(enter.stack_bytes, 8) + align_up(enter.values_bytes, 8) == size_bytes ? size_bytes
                                                                                                          : 0;
}

static size_t check_leave(const uint8_t *place, size_t size_bytes)
{
    struct detail_leave_values values;

    if (size_bytes == sizeof(struct detail_leave))
        return size_bytes;
    if (size_bytes < sizeof(struct detail_leave) + sizeof(values))
        return 0;
    __builtin_memcpy(&values, place + sizeof(struct detail_leave), sizeof(values));
    if (values.values_bytes > DETAIL_STACK_BYTES_MAX)
        return 0;
    return sizeof(struct detail_leave) + sizeof(values) + align_up(values.values_bytes, 8) == size_bytes ? size_bytes
                                                                                                         : 0;
}

static size_t check_stack(const uint8_t *place, size_t size_bytes)
{
    struct detail_stack stack;

    if (size_bytes < sizeof(stack))
        return 0;
    __builtin_memcpy(&stack, place, sizeof(stack));
    if (stack.frame_count > DETAIL_STACK_FRAMES_MAX)
        return 0;
    return sizeof(stack) + (size_t)stack.frame_count * sizeof(uint64_t) == size_bytes ? size_bytes : 0;
}

/* Of records that only values follow; `at` is where the record says how many bytes. */
static size_t check_values(const uint8_t *place, size_t size_bytes, size_t fixed_bytes, size_t at)
{
    uint32_t values_bytes;

    if (size_bytes < fixed_bytes)
        return 0;
    __builtin_memcpy(&values_bytes, place + at, sizeof(values_bytes));
    if (values_bytes > DETAIL_VALUES_BYTES_MAX)
        return 0;
    return fixed_bytes + align_up(values_bytes, 8) == size_bytes ? size_bytes : 0;
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
        return check_leave(place, record.size_bytes);
    case DETAIL_STACK:
        return check_stack(place, record.size_bytes);
    case DETAIL_SYSTEM_CALL:
        return check_values(place, record.size_bytes, sizeof(struct detail_system_call),
                            offsetof(struct detail_system_call, values_bytes));
    case DETAIL_SYSTEM_CALL_ENTER:
        return check_values(place, record.size_bytes, sizeof(struct detail_system_call_enter),
                            offsetof(struct detail_system_call_enter, values_bytes));
    case DETAIL_PROBE:
        return check_values(place, record.size_bytes, sizeof(struct detail_probe),
                            offsetof(struct detail_probe, values_bytes));
    default:
        return 0;
    }
}

static struct detail_values values_behind(const uint8_t *place, size_t fixed_bytes, size_t at)
{
    struct detail_values values = {.bytes = place + fixed_bytes};

    __builtin_memcpy(&values.size_bytes, place + at, sizeof(values.size_bytes));
    return values;
}

static struct detail_values values_of_enter(const uint8_t *place)
{
    struct detail_enter enter;

    __builtin_memcpy(&enter, place, sizeof(enter));
    return (struct detail_values){place + sizeof(enter) + align_up(enter.stack_bytes, 8), enter.values_bytes};
}

static struct detail_values values_of_leave(const uint8_t *place, uint32_t size_bytes)
{
    if (size_bytes == sizeof(struct detail_leave))
        return (struct detail_values){place, 0};
    return values_behind(place, sizeof(struct detail_leave) + sizeof(struct detail_leave_values),
                         sizeof(struct detail_leave) + offsetof(struct detail_leave_values, values_bytes));
}

struct detail_values detail_record_values(const uint8_t *place)
{
    struct detail_record record;

    __builtin_memcpy(&record, place, sizeof(record));
    switch (record.kind) {
    case DETAIL_ENTER:
        return values_of_enter(place);
    case DETAIL_LEAVE:
    case DETAIL_LEFT:
        return values_of_leave(place, record.size_bytes);
    case DETAIL_SYSTEM_CALL:
        return values_behind(place, sizeof(struct detail_system_call),
                             offsetof(struct detail_system_call, values_bytes));
    case DETAIL_SYSTEM_CALL_ENTER:
        return values_behind(place, sizeof(struct detail_system_call_enter),
                             offsetof(struct detail_system_call_enter, values_bytes));
    case DETAIL_PROBE:
        return values_behind(place, sizeof(struct detail_probe), offsetof(struct detail_probe, values_bytes));
    default:
        return (struct detail_values){place, 0};
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
