/* SPDX-License-Identifier: MIT */
#include "trace/trace_details.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct gait_error err;
static unsigned enters, leaves, frames, value_bytes;
static uint8_t last_stack;

static void on_enter(void *context, const struct detail_enter *enter, const uint8_t *stack, struct detail_values values)
{
    (void)context;
    value_bytes += values.size_bytes;
    enters++;
    last_stack = stack[enter->stack_bytes - 1];
}

static void on_leave(void *context, const struct detail_leave *leave, struct detail_values values)
{
    (void)context;
    value_bytes += values.size_bytes;
    leaves += leave->value == 7;
}

static void on_stack(void *context, const struct detail_stack *stack, const uint8_t *addresses)
{
    uint64_t last;

    (void)context;
    memcpy(&last, addresses + (stack->frame_count - 1) * sizeof(last), sizeof(last));
    CHECK_EQUAL(last, 0x4242);
    frames += stack->frame_count;
}

static const struct trace_details_receiver receiver = {
    .enter = on_enter, .leave = on_leave, .stack = on_stack, .context = NULL};

static void put(const struct trace_bytes *bytes, uint32_t kind, size_t piece_bytes)
{
    unlinkat(folder.fd, "detail.gait", 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "detail.gait",
                                                                 .header = {.kind = kind, .pid = 5, .tid = 6},
                                                                 .bytes = bytes,
                                                                 .piece_bytes = piece_bytes});
}

static void add_call(struct trace_bytes *bytes)
{
    struct detail_enter enter = {.record = {.size_bytes = sizeof(enter) + 8, .kind = DETAIL_ENTER}, .stack_bytes = 8};
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE}, .value = 7};

    trace_bytes_put(bytes, &enter, sizeof(enter));
    trace_bytes_put_long(bytes, 0x4200000000000000);
    trace_bytes_put(bytes, &leave, sizeof(leave));
}

static void values_and_stacks_are_handed_over(void)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter) + 16, .kind = DETAIL_ENTER}, .stack_bytes = 3, .values_bytes = 5};
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave) + 16, .kind = DETAIL_LEAVE}};
    const struct detail_leave_values behind = {.values_bytes = 8};
    struct detail_stack stack = {.record = {.size_bytes = sizeof(stack) + 16, .kind = DETAIL_STACK}, .frame_count = 2};
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_details_receiver others = receiver;
    struct trace_details_end end;

    value_bytes = 0;
    trace_bytes_put(&bytes, &enter, sizeof(enter));
    trace_bytes_put_long(&bytes, 0);
    trace_bytes_put_long(&bytes, 0);
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    trace_bytes_put(&bytes, &behind, sizeof(behind));
    trace_bytes_put_long(&bytes, 0);
    trace_bytes_put(&bytes, &stack, sizeof(stack));
    trace_bytes_put_long(&bytes, 0x1111);
    trace_bytes_put_long(&bytes, 0x4242);
    put(&bytes, TRACE_STREAM_DETAIL, 0);
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &receiver, &end, &err), 0);
    CHECK_EQUAL(value_bytes, 13);
    CHECK_EQUAL(frames, 2);
    CHECK_EQUAL(end.record_count, 3);
    /* Not everybody wants stacks. */
    others.stack = NULL;
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &others, &end, &err), 0);
    CHECK_EQUAL(frames, 2);
    CHECK_EQUAL(end.record_count, 3);
}

static uint64_t numbers;

static void on_system_call(void *context, const struct detail_system_call *call, struct detail_values values)
{
    (void)context;
    numbers += call->record.function + (uint64_t)call->result;
    value_bytes += values.size_bytes;
}

static void on_system_call_enter(void *context, const struct detail_system_call_enter *enter,
                                 struct detail_values values)
{
    (void)context;
    numbers += enter->record.function;
    value_bytes += values.size_bytes;
}

static void on_probe(void *context, const struct detail_probe *probe, struct detail_values values)
{
    (void)context;
    numbers += probe->probe;
    value_bytes += values.size_bytes;
}

static void system_calls_and_probes_are_handed_over_to_who_wants_them(void)
{
    struct detail_system_call_enter enter = {
        .record = {.size_bytes = sizeof(enter), .kind = DETAIL_SYSTEM_CALL_ENTER, .function = 1000}};
    struct detail_system_call call = {
        .record = {.size_bytes = sizeof(call) + 8, .kind = DETAIL_SYSTEM_CALL, .function = 100},
        .result = 7,
        .values_bytes = 5};
    struct detail_probe probe = {
        .record = {.size_bytes = sizeof(probe) + 8, .kind = DETAIL_PROBE}, .probe = 10000, .values_bytes = 8};
    struct trace_details_receiver others = receiver;
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_details_end end;

    trace_bytes_put(&bytes, &enter, sizeof(enter));
    trace_bytes_put(&bytes, &call, sizeof(call));
    trace_bytes_put_long(&bytes, 0);
    trace_bytes_put(&bytes, &probe, sizeof(probe));
    trace_bytes_put_long(&bytes, 0);
    put(&bytes, TRACE_STREAM_DETAIL, 0);
    enters = leaves = value_bytes = 0;
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &receiver, &end, &err), 0);
    CHECK_EQUAL(end.record_count, 3);
    CHECK_EQUAL(enters + leaves + value_bytes, 0);
    others.system_call = on_system_call;
    others.system_call_enter = on_system_call_enter;
    others.probe = on_probe;
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &others, &end, &err), 0);
    CHECK_EQUAL(numbers, 11107);
    CHECK_EQUAL(value_bytes, 13);
    CHECK_EQUAL(end.header.version, 3);
}

static void records_are_handed_over(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_details_end end;

    for (unsigned i = 0; i < 10; i++)
        add_call(&bytes);
    put(&bytes, TRACE_STREAM_DETAIL, bytes.size_bytes / 5);
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &receiver, &end, &err), 0);
    CHECK_EQUAL(enters, 10);
    CHECK_EQUAL(leaves, 10);
    CHECK_EQUAL(last_stack, 0x42);
    CHECK_EQUAL(end.record_count, 20);
    CHECK_EQUAL(end.bad_bytes, 0);
    CHECK_EQUAL(end.header.tid, 6);
    CHECK_EQUAL(end.stream.chunk_count, 5);
}

static void behind_what_is_no_record_reading_goes_on_with_the_next_chunk(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_details_end end;

    for (unsigned i = 0; i < 4; i++)
        add_call(&bytes);
    bytes.bytes[4] = 9;
    put(&bytes, TRACE_STREAM_DETAIL, bytes.size_bytes / 2);
    enters = leaves = 0;
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &receiver, &end, &err), 0);
    CHECK_EQUAL(enters, 2);
    CHECK_EQUAL(end.bad_bytes, bytes.size_bytes / 2);
    CHECK_EQUAL(end.first_bad_chunk, 0);
    put(&bytes, TRACE_STREAM_INDEX, 0);
    CHECK_EQUAL(trace_details_read(folder.fd, "detail.gait", &receiver, &end, &err), -EPROTO);
    CHECK(strstr(err.text, "not one of details") != NULL);
}

static void with_folder(void)
{
    trace_folder_init(&folder);
    records_are_handed_over();
    values_and_stacks_are_handed_over();
    system_calls_and_probes_are_handed_over_to_who_wants_them();
    behind_what_is_no_record_reading_goes_on_with_the_next_chunk();
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(with_folder),
};

CHECK_MAIN(cases)
