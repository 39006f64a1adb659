/* SPDX-License-Identifier: MIT */
#include "ring/detail_record.h"

#include "support/check.h"
#include "support/random.h"

static _Alignas(8) uint8_t bytes[4 * DETAIL_RECORD_BYTES_MAX];

static size_t put_enter(size_t at, uint32_t stack_bytes)
{
    struct detail_enter enter = {.record = {.kind = DETAIL_ENTER}, .stack_bytes = stack_bytes};

    enter.record.size_bytes = (uint32_t)(sizeof(enter) + ((stack_bytes + 7) & ~7u));
    memcpy(bytes + at, &enter, sizeof(enter));
    return at + enter.record.size_bytes;
}

static size_t put_leave(size_t at, uint16_t kind)
{
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = kind}};

    memcpy(bytes + at, &leave, sizeof(leave));
    return at + sizeof(leave);
}

static size_t put_stack(size_t at, uint32_t frame_count)
{
    struct detail_stack stack = {.record = {.kind = DETAIL_STACK}, .frame_count = frame_count};

    stack.record.size_bytes = (uint32_t)(sizeof(stack) + frame_count * sizeof(uint64_t));
    memcpy(bytes + at, &stack, sizeof(stack));
    return at + stack.record.size_bytes;
}

static size_t put_system_call(size_t at, uint32_t values_bytes)
{
    struct detail_system_call call = {.record = {.kind = DETAIL_SYSTEM_CALL}, .values_bytes = values_bytes};

    call.record.size_bytes = (uint32_t)(sizeof(call) + ((values_bytes + 7) & ~7u));
    memcpy(bytes + at, &call, sizeof(call));
    return at + call.record.size_bytes;
}

static size_t put_system_call_enter(size_t at, uint32_t values_bytes)
{
    struct detail_system_call_enter enter = {.record = {.kind = DETAIL_SYSTEM_CALL_ENTER},
                                             .values_bytes = values_bytes};

    enter.record.size_bytes = (uint32_t)(sizeof(enter) + ((values_bytes + 7) & ~7u));
    memcpy(bytes + at, &enter, sizeof(enter));
    return at + enter.record.size_bytes;
}

static size_t put_probe(size_t at, uint32_t values_bytes)
{
    struct detail_probe probe = {.record = {.kind = DETAIL_PROBE}, .values_bytes = values_bytes};

    probe.record.size_bytes = (uint32_t)(sizeof(probe) + ((values_bytes + 7) & ~7u));
    memcpy(bytes + at, &probe, sizeof(probe));
    return at + probe.record.size_bytes;
}

static void check_values_behind(size_t (*put)(size_t at, uint32_t values_bytes), size_t fixed_bytes, size_t at)
{
    static const uint32_t wrong[] = {0, 8, 17, DETAIL_VALUES_BYTES_MAX + 1, UINT32_MAX - 6, UINT32_MAX};
    struct detail_record *record = (struct detail_record *)(void *)bytes;

    memset(bytes, 0, sizeof(bytes));
    CHECK_EQUAL(put(0, 0), fixed_bytes);
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), fixed_bytes);
    CHECK_EQUAL(detail_record_values(bytes).size_bytes, 0);
    record->size_bytes -= 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    CHECK_EQUAL(put(0, 13), fixed_bytes + 16);
    CHECK_EQUAL(detail_record_check(bytes, fixed_bytes + 16), fixed_bytes + 16);
    CHECK_EQUAL(detail_record_check(bytes, fixed_bytes + 15), 0);
    CHECK(detail_record_values(bytes).bytes == bytes + fixed_bytes);
    CHECK_EQUAL(detail_record_values(bytes).size_bytes, 13);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        memcpy(bytes + at, &wrong[i], sizeof(wrong[i]));
        CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    }
    CHECK_EQUAL(put(0, DETAIL_VALUES_BYTES_MAX), detail_record_check(bytes, sizeof(bytes)));
    put(0, DETAIL_VALUES_BYTES_MAX + 8);
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
}

static void system_calls_and_probes_end_with_values(void)
{
    check_values_behind(put_system_call, sizeof(struct detail_system_call),
                        offsetof(struct detail_system_call, values_bytes));
    check_values_behind(put_system_call_enter, sizeof(struct detail_system_call_enter),
                        offsetof(struct detail_system_call_enter, values_bytes));
    check_values_behind(put_probe, sizeof(struct detail_probe), offsetof(struct detail_probe, values_bytes));
}

static void values_are_found_behind_the_rest(void)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter) + 32, .kind = DETAIL_ENTER}, .stack_bytes = 13, .values_bytes = 11};
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave) + 24, .kind = DETAIL_LEAVE}};
    struct detail_leave_values behind = {.values_bytes = 13};

    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, &enter, sizeof(enter));
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), sizeof(enter) + 32);
    CHECK(detail_record_values(bytes).bytes == bytes + sizeof(enter) + 16);
    CHECK_EQUAL(detail_record_values(bytes).size_bytes, 11);
    enter.values_bytes = 17;
    memcpy(bytes, &enter, sizeof(enter));
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    memcpy(bytes, &leave, sizeof(leave));
    memcpy(bytes + sizeof(leave), &behind, sizeof(behind));
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), sizeof(leave) + 24);
    CHECK(detail_record_values(bytes).bytes == bytes + sizeof(leave) + 8);
    CHECK_EQUAL(detail_record_values(bytes).size_bytes, 13);
    behind.values_bytes = 17;
    memcpy(bytes + sizeof(leave), &behind, sizeof(behind));
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    /* Without values, and as they were before there were any. */
    put_leave(0, DETAIL_LEAVE);
    CHECK_EQUAL(detail_record_values(bytes).size_bytes, 0);
}

static void stacks_have_as_many_frames_as_fit(void)
{
    struct detail_stack *stack = (struct detail_stack *)(void *)bytes;

    memset(bytes, 0, sizeof(bytes));
    CHECK_EQUAL(put_stack(0, DETAIL_STACK_FRAMES_MAX), detail_record_check(bytes, sizeof(bytes)));
    CHECK_EQUAL(detail_record_values(bytes).size_bytes, 0);
    stack->frame_count++;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    stack->frame_count = UINT32_MAX;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    stack->record.size_bytes = sizeof(*stack) - 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
}

static void records_end_at_the_first_that_is_not_written(void)
{
    size_t used;

    memset(bytes, 0, sizeof(bytes));
    CHECK(detail_records_end(bytes, bytes + sizeof(bytes)) == bytes);
    used = put_leave(put_leave(put_enter(put_enter(0, 512), 13), DETAIL_LEAVE), DETAIL_LEFT);
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), sizeof(struct detail_enter) + 512);
    CHECK(detail_records_end(bytes, bytes + sizeof(bytes)) == bytes + used);
    CHECK(detail_records_end(bytes, bytes + used) == bytes + used);
    CHECK_EQUAL(detail_records_count(bytes, used), detail_records_count(bytes, sizeof(bytes)));
    CHECK_EQUAL(detail_records_count(bytes, used - 8), detail_records_count(bytes, used) - 1);
    CHECK_EQUAL(detail_records_count(bytes, 8), 0);
    /* The last one is not all there. */
    CHECK(detail_records_end(bytes, bytes + used - 8) == bytes + used - sizeof(struct detail_leave));
}

static void what_cannot_be_is_no_record(void)
{
    struct detail_enter *enter = (struct detail_enter *)(void *)bytes;

    memset(bytes, 0, sizeof(bytes));
    put_enter(0, 16);
    enter->stack_bytes = 17;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->stack_bytes = 16;
    CHECK(detail_record_check(bytes, sizeof(bytes)) != 0);
    enter->record.kind = 0;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.kind = DETAIL_LEAVE;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.kind = DETAIL_ENTER;
    enter->record.size_bytes = sizeof(*enter) - 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.size_bytes = DETAIL_RECORD_BYTES_MAX + 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.size_bytes = sizeof(*enter) + 20;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    put_enter(0, 16);
    enter->record.kind = DETAIL_PROBE + 1;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    /* More than 512 bytes of stack and values together. */
    put_enter(0, DETAIL_STACK_BYTES_MAX);
    CHECK(detail_record_check(bytes, sizeof(bytes)) != 0);
    enter->values_bytes = 8;
    enter->record.size_bytes += 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
}

static size_t put_any(struct random *random, size_t at)
{
    switch (random_below(random, 6)) {
    case 0:
        return put_leave(at, DETAIL_LEAVE);
    case 1:
        return put_stack(at, (uint32_t)random_below(random, 65));
    case 2:
        return put_system_call(at, (uint32_t)random_below(random, 100));
    case 3:
        return put_system_call_enter(at, (uint32_t)random_below(random, 100));
    case 4:
        return put_probe(at, (uint32_t)random_below(random, 100));
    default:
        return put_enter(at, (uint32_t)random_below(random, 512));
    }
}

/* Whatever stands there, nothing behind the end is looked at. */
static void anything_may_stand_there(void)
{
    struct random random;

    random_init(&random, 1);
    for (unsigned round = 0; round < 20000; round++) {
        size_t size = random_below(&random, 256) * 8;
        const uint8_t *end;

        for (size_t at = 0; at < size;)
            at = put_any(&random, at);
        for (unsigned i = 0; i < 4 && size > 0; i++) {
            uint32_t word = (uint32_t)random_edge(&random);

            memcpy(bytes + random_below(&random, size / 4) * 4, &word, sizeof(word));
        }
        end = detail_records_end(bytes, bytes + size);
        CHECK(end >= bytes && end <= bytes + size);
        for (const uint8_t *at = bytes; at < end; at += detail_record_check(at, (size_t)(end - at))) {
            struct detail_values values = detail_record_values(at);

            CHECK(values.bytes + values.size_bytes <= at + detail_record_check(at, (size_t)(end - at)));
        }
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(system_calls_and_probes_end_with_values),
    CHECK_CASE(values_are_found_behind_the_rest),
    CHECK_CASE(stacks_have_as_many_frames_as_fit),
    CHECK_CASE(records_end_at_the_first_that_is_not_written),
    CHECK_CASE(what_cannot_be_is_no_record),
    CHECK_CASE(anything_may_stand_there),
};

CHECK_MAIN(cases)
