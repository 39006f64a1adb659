/* SPDX-License-Identifier: MIT */
#include "kernel/perf_sample.h"

#include "support/check.h"

static struct {
    struct perf_event_header header;
    uint64_t words[32];
} record;

static struct perf_sample sample;

static void begin(uint32_t type, size_t words)
{
    record.header = (struct perf_event_header){.type = type, .size = (uint16_t)(8 + 8 * words)};
}

static void the_least_there_is(void)
{
    const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_COMMON};
    uint64_t id;

    begin(PERF_RECORD_SAMPLE, 3);
    record.words[0] = 77;
    record.words[1] = 5 | 6ull << 32;
    record.words[2] = 123456;
    CHECK(perf_sample_id(&record.header, &id));
    CHECK_EQUAL(id, 77);
    CHECK(perf_sample_read(&record.header, &attr, &sample));
    CHECK_EQUAL(sample.pid, 5);
    CHECK_EQUAL(sample.tid, 6);
    CHECK_EQUAL(sample.time, 123456);
    CHECK_EQUAL(sample.raw_bytes + sample.register_count + sample.kernel_frame_count, 0);
    begin(PERF_RECORD_SAMPLE, 2);
    CHECK(!perf_sample_read(&record.header, &attr, &sample));
    begin(PERF_RECORD_SAMPLE, 0);
    CHECK(!perf_sample_id(&record.header, &id));
}

static void all_parts_are_found(void)
{
    const struct perf_event_attr attr = {
        .sample_type = PERF_SAMPLE_COMMON | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
                       PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER,
        .sample_regs_user = 0x21,
    };
    const uint64_t words[] = {1,
                              0xabc,
                              2,
                              3,
                              0xdef,
                              6,
                              (uint64_t)PERF_CONTEXT_KERNEL,
                              0x10,
                              0x20,
                              (uint64_t)PERF_CONTEXT_USER,
                              0x30,
                              0x40,
                              12 | 0x6f77ull << 32,
                              0x6472,
                              PERF_SAMPLE_REGS_ABI_64,
                              100,
                              200};
    size_t count = sizeof(words) / sizeof(words[0]);

    memcpy(record.words, words, sizeof(words));
    begin(PERF_RECORD_SAMPLE, count);
    CHECK(perf_sample_read(&record.header, &attr, &sample));
    CHECK_EQUAL(sample.ip, 0xabc);
    CHECK_EQUAL(sample.address, 0xdef);
    CHECK_EQUAL(sample.kernel_frame_count, 2);
    CHECK_EQUAL(sample.kernel_frames[1], 0x20);
    CHECK_EQUAL(sample.user_frame_count, 2);
    CHECK_EQUAL(sample.user_frames[0], 0x30);
    CHECK_EQUAL(sample.raw_bytes, 12);
    CHECK_EQUAL(memcmp(sample.raw, "wo", 2), 0);
    CHECK_EQUAL(sample.register_count, 2);
    CHECK_EQUAL(sample.registers[1], 200);
    /* However much is cut off, nothing is read behind it. */
    for (size_t i = 0; i < count; i++) {
        begin(PERF_RECORD_SAMPLE, i);
        CHECK(!perf_sample_read(&record.header, &attr, &sample));
    }
    record.words[5] = UINT64_MAX;
    begin(PERF_RECORD_SAMPLE, count);
    CHECK(!perf_sample_read(&record.header, &attr, &sample));
}

static void other_records_end_with_their_time(void)
{
    uint64_t time;

    begin(PERF_RECORD_COMM, 5);
    record.words[3] = 999;
    CHECK(perf_record_time(&record.header, &time));
    CHECK_EQUAL(time, 999);
    begin(PERF_RECORD_COMM, 2);
    CHECK(!perf_record_time(&record.header, &time));
    begin(PERF_RECORD_SAMPLE, 5);
    CHECK(!perf_record_time(&record.header, &time));
}

static void stacks_are_copied_as_far_as_they_go(void)
{
    const struct perf_event_attr attr = {
        .sample_type = PERF_SAMPLE_COMMON | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR,
        .sample_regs_user = 1,
    };
    /* Room for two words, of which one is used. */
    const uint64_t words[] = {1, 2, 3, PERF_SAMPLE_REGS_ABI_64, 100, 16, 0x77, 0, 8, PERF_SAMPLE_REGS_ABI_NONE};

    memcpy(record.words, words, sizeof(words));
    begin(PERF_RECORD_SAMPLE, sizeof(words) / sizeof(words[0]));
    CHECK(perf_sample_read(&record.header, &attr, &sample));
    CHECK_EQUAL(sample.register_count, 1);
    CHECK_EQUAL(sample.stack_bytes, 8);
    CHECK_EQUAL(sample.stack[0], 0x77);
    /* More is used than there is room for. */
    record.words[8] = 24;
    CHECK(perf_sample_read(&record.header, &attr, &sample));
    CHECK_EQUAL(sample.stack_bytes, 0);
    /* A thread of the kernel has none. */
    record.words[5] = 0;
    record.words[6] = PERF_SAMPLE_REGS_ABI_NONE;
    begin(PERF_RECORD_SAMPLE, 7);
    CHECK(perf_sample_read(&record.header, &attr, &sample));
    CHECK(sample.stack == NULL);
    /* Cut off. */
    record.words[5] = 1 << 20;
    CHECK(!perf_sample_read(&record.header, &attr, &sample));
}

static const struct check_case cases[] = {
    CHECK_CASE(stacks_are_copied_as_far_as_they_go),
    CHECK_CASE(the_least_there_is),
    CHECK_CASE(all_parts_are_found),
    CHECK_CASE(other_records_end_with_their_time),
};

CHECK_MAIN(cases)
