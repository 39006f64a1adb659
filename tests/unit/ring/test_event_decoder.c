/* SPDX-License-Identifier: MIT */
#include "ring/event_decoder.h"

#include "ring/event_record.h"
#include "support/check.h"
#include "support/guarded_bytes.h"
#include "support/random.h"

#include <errno.h>

#define BLOCKS     8u
#define EVENTS_MAX 4096

static const uint8_t lengths[] = {1, 2, 5};

/* What was received of one run. */
static struct gait_event received[EVENTS_MAX];
static size_t received_count;

static int receive(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && received_count < EVENTS_MAX; i++)
        received[received_count++] = events[i];
    return 0;
}

/* Blocks of three instructions, 1, 2 and 5 bytes long. */
static bool find(const void *context, uint32_t number, struct event_block *block_out)
{
    (void)context;
    *block_out = (struct event_block){
        .start = 0x1000 * (number + 1),
        .call_target = 0x9000,
        .size_bytes = 8,
        .last_insn_bytes = 5,
        .insn_count = 3,
        .insn_lengths = lengths,
    };
    return number < BLOCKS;
}

static const struct event_blocks blocks = {find, NULL};
static struct event_decoder decoder;
static uint8_t bytes[8192];
static size_t size;

static void begin(uint32_t wanted, bool with_times)
{
    event_decoder_deinit(&decoder);
    decoder = (struct event_decoder){.wanted = wanted, .with_times = with_times, .receiver = {receive, NULL}};
    memset(bytes, 0, sizeof(bytes));
    size = 0;
    received_count = 0;
}

static void put(const void *value, size_t value_bytes)
{
    memcpy(bytes + size, value, value_bytes);
    size += value_bytes;
}

static void put_header(uint32_t number, enum event_record record)
{
    uint32_t header = event_header(number, record);

    put(&header, sizeof(header));
    if (event_format_of(decoder.wanted, decoder.with_times).is_wide)
        size += sizeof(header);
}

static void put_long(uint64_t value)
{
    put(&value, sizeof(value));
}

/* How many bytes were taken. */
static size_t run(int expected_error)
{
    int error;
    const uint8_t *place = event_decoder_run(&decoder, &blocks, bytes, bytes + sizeof(bytes), &error);

    CHECK_EQUAL(error, expected_error);
    return (size_t)(place - bytes);
}

static void reading_ends_where_nothing_is_written(void)
{
    begin(GAIT_EVENT_BLOCK, false);
    put_header(0, EVENT_RECORD_BLOCK);
    put_header(3, EVENT_RECORD_BLOCK);
    CHECK_EQUAL(run(0), 8);
    CHECK_EQUAL(received_count, 2);
    CHECK_EQUAL(received[1].location, 0x4000);
}

static void instructions_wait_for_what_comes_next(void)
{
    begin(GAIT_EVENT_EXEC, false);
    put_header(0, EVENT_RECORD_BLOCK);
    CHECK_EQUAL(run(0), 4);
    CHECK_EQUAL(received_count, 0);
    event_decoder_finish(&decoder);
    CHECK_EQUAL(received_count, 3);
    event_decoder_finish(&decoder);
    CHECK_EQUAL(received_count, 3);
}

static void a_block_that_is_cut_ends_there(void)
{
    static const size_t expected[] = {0, 1, 2, 2, 3, 3, 3, 3, 3};

    for (uint32_t ran = 0; ran <= 8; ran++) {
        begin(GAIT_EVENT_EXEC, false);
        put_header(0, EVENT_RECORD_BLOCK);
        put_header(ran, EVENT_RECORD_CUT);
        put_header(1, EVENT_RECORD_BLOCK);
        run(0);
        CHECK_EQUAL(received_count, expected[ran]);
        event_decoder_finish(&decoder);
        CHECK_EQUAL(received_count, expected[ran] + 3);
        CHECK_EQUAL(received[expected[ran]].location, 0x2000);
    }
}

static void put_hooked(uint32_t number, enum event_record record, uint32_t depth, uint64_t time)
{
    uint32_t words[2] = {event_header(number, record), depth};

    put(words, sizeof(words));
    put_long(time);
}

static void check_hooked(size_t i, uint32_t kind, uint64_t function, int32_t depth, uint64_t time)
{
    CHECK_EQUAL(received[i].kind, kind);
    CHECK_EQUAL(received[i].location, function);
    CHECK_EQUAL(received[i].depth, depth);
    CHECK_EQUAL(received[i].time, time);
}

static void hooked_functions_are_entered_and_left(void)
{
    begin(GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE, true);
    put_hooked(2, EVENT_RECORD_ENTER, 0, 100);
    put_hooked(0, EVENT_RECORD_ENTER, 1, 110);
    put_hooked(0, EVENT_RECORD_UNWOUND, 1, 120);
    put_hooked(2, EVENT_RECORD_LEAVE, 0, 130);
    CHECK_EQUAL(run(0), 4 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(received_count, 4);
    check_hooked(0, GAIT_EVENT_ENTER, 0x3000, 0, 100);
    check_hooked(1, GAIT_EVENT_ENTER, 0x1000, 1, 110);
    check_hooked(2, GAIT_EVENT_LEAVE, 0x1000, 1, 120);
    check_hooked(3, GAIT_EVENT_LEAVE, 0x3000, 0, 130);
    CHECK(!received[0].is_unwound && !received[1].is_unwound && received[2].is_unwound && !received[3].is_unwound);
}

static void functions_whose_end_is_not_seen_say_so(void)
{
    begin(GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE, true);
    put_hooked(0, EVENT_RECORD_ENTER, 3, 100);
    put_hooked(2, EVENT_RECORD_PASSED, 4, 101);
    put_hooked(0, EVENT_RECORD_LEAVE, 3, 102);
    CHECK_EQUAL(run(0), 3 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(received_count, 4);
    check_hooked(1, GAIT_EVENT_ENTER, 0x3000, 4, 101);
    check_hooked(2, GAIT_EVENT_LEAVE, 0x3000, 4, 101);
    check_hooked(3, GAIT_EVENT_LEAVE, 0x1000, 3, 102);
    CHECK(!received[1].is_entry_only && received[2].is_entry_only && !received[3].is_entry_only);
    CHECK(!received[2].is_unwound);
}

static void goroutines_have_numbers_of_more_than_a_word(void)
{
    begin(GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE, true);
    put_hooked(event_goroutine_high(0x123456789abcdef), EVENT_RECORD_GOROUTINE, 0x89abcdef, 100);
    put_hooked(0, EVENT_RECORD_ENTER, EVENT_HEIGHT | 64, 101);
    CHECK_EQUAL(run(0), 2 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(received_count, 2);
    CHECK_EQUAL(received[0].kind, GAIT_EVENT_GOROUTINE);
    CHECK_EQUAL(received[0].target, 0x123456789abcdef);
    CHECK_EQUAL(received[0].time, 100);
    CHECK_EQUAL((uint32_t)received[1].depth, EVENT_HEIGHT | 64);
}

static void changes_of_stacks_come_between_enters_and_leaves(void)
{
    begin(GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE, true);
    put_hooked(2, EVENT_RECORD_ENTER, 3, 100);
    put_hooked(2, EVENT_RECORD_SUSPENDED, 7u << EVENT_STACK_SHIFT | 3, 110);
    put_hooked(0, EVENT_RECORD_ENTER, 1, 115);
    put_hooked(2, EVENT_RECORD_RESUMED, 7u << EVENT_STACK_SHIFT | 5, 120);
    put_hooked(2, EVENT_RECORD_LEAVE, 5, 130);
    CHECK_EQUAL(run(0), 5 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(received_count, 5);
    check_hooked(1, GAIT_EVENT_SUSPEND, 0x3000, 3, 110);
    CHECK_EQUAL(received[1].target, 7);
    check_hooked(2, GAIT_EVENT_ENTER, 0x1000, 1, 115);
    check_hooked(3, GAIT_EVENT_RESUME, 0x3000, 5, 120);
    CHECK_EQUAL(received[3].target, 7);
    check_hooked(4, GAIT_EVENT_LEAVE, 0x3000, 5, 130);
}

static void what_is_hooked_and_what_is_followed_do_not_mix(void)
{
    begin(GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE, true);
    put_hooked(2, EVENT_RECORD_ENTER, 0, 100);
    put_hooked(2, EVENT_RECORD_BLOCK, 0, 100);
    CHECK_EQUAL(run(-EPROTO), EVENT_HOOK_BYTES);
    begin(GAIT_EVENT_BLOCK, true);
    put_hooked(2, EVENT_RECORD_BLOCK, 0, 100);
    put_hooked(2, EVENT_RECORD_LEAVE, 0, 100);
    CHECK_EQUAL(run(-EPROTO), EVENT_HOOK_BYTES);
    begin(GAIT_EVENT_ENTER, false);
    put_hooked(BLOCKS, EVENT_RECORD_ENTER, 0, 100);
    CHECK_EQUAL(run(-EPROTO), 0);
}

static void hooked_functions_need_not_all_be_wanted(void)
{
    begin(GAIT_EVENT_LEAVE, false);
    put_hooked(1, EVENT_RECORD_ENTER, 0, 100);
    put_hooked(1, EVENT_RECORD_LEAVE, 0, 110);
    CHECK_EQUAL(run(0), 2 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(received_count, 1);
    check_hooked(0, GAIT_EVENT_LEAVE, 0x2000, 0, 110);
}

static int receive_one_batch(void *context, const struct gait_event *events, size_t count)
{
    (void)receive(context, events, count);
    return 1;
}

/* More than are handed over at once; who has enough gets no more, and the rest is not taken. */
static void hooked_functions_come_in_batches(void)
{
    size_t first;

    for (int round = 0; round < 2; round++) {
        begin(GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE, true);
        for (uint32_t i = 0; i < 400; i++)
            put_hooked(i % BLOCKS, i % 2 == 0 ? EVENT_RECORD_ENTER : EVENT_RECORD_LEAVE, i, 1000 + i);
        if (round == 1)
            decoder.receiver.process = receive_one_batch;
        first = run(0) / EVENT_HOOK_BYTES;
        CHECK_EQUAL(first, received_count);
        CHECK_EQUAL(round == 0, received_count == 400);
        CHECK(received_count > 0);
        for (size_t i = 0; i < received_count; i++)
            check_hooked(i, i % 2 == 0 ? GAIT_EVENT_ENTER : GAIT_EVENT_LEAVE, 0x1000 * (i % BLOCKS + 1), (int32_t)i,
                         1000 + i);
    }
}

static void records_with_times_pass_them_on(void)
{
    begin(GAIT_EVENT_EXEC | GAIT_EVENT_RET | GAIT_EVENT_COMPILE, true);
    put_header(0, EVENT_RECORD_BLOCK);
    put_long(1000);
    put_header(3, EVENT_RECORD_CUT);
    put_header(2, EVENT_RECORD_COMPILED);
    put_long(2000);
    put_header(1, EVENT_RECORD_RETURN);
    put_long(0x777);
    put_long(3000);
    CHECK_EQUAL(run(0), size);
    CHECK_EQUAL(received_count, 2 + 1 + 3 + 1);
    CHECK_EQUAL(received[0].time, 1000);
    CHECK_EQUAL(received[1].time, 1000);
    CHECK_EQUAL(received[2].time, 2000);
    CHECK_EQUAL(received[3].time, 3000);
    CHECK_EQUAL(received[6].kind, GAIT_EVENT_RET);
    CHECK_EQUAL(received[6].target, 0x777);
    CHECK_EQUAL(received[6].time, 3000);
}

static void returns_that_nobody_called_lead_up_unless_all_is_known(void)
{
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        begin(GAIT_EVENT_CALL | GAIT_EVENT_RET, false);
        decoder.is_whole = is_whole;
        for (int i = 0; i < 3; i++) {
            put_header(0, EVENT_RECORD_RETURN);
            put_long(0x777);
        }
        put_header(1, EVENT_RECORD_CALL);
        put_long(0x5000);
        /* Called by somebody who does not tell, in the call that is told. */
        put_header(2, EVENT_RECORD_RETURN);
        put_long(0x888);
        put_header(3, EVENT_RECORD_RETURN);
        put_long(0x2008);
        CHECK_EQUAL(run(0), size);
        CHECK_EQUAL(received_count, 6);
        CHECK_EQUAL(received[0].depth, 0);
        CHECK_EQUAL(received[2].depth, is_whole ? 0 : -2);
        CHECK_EQUAL(received[3].depth, is_whole ? 0 : -3);
        CHECK_EQUAL(received[4].depth, is_whole ? 1 : -2);
        CHECK_EQUAL(received[5].depth, is_whole ? 1 : -2);
    }
}

static uint64_t moved_by;

/* The same blocks elsewhere. */
static bool find_moved(const void *context, uint32_t number, struct event_block *block_out)
{
    bool found = find(context, number, block_out);

    block_out->start += moved_by;
    return found;
}

static void numbers_mean_the_same_until_it_is_told(void)
{
    static const struct event_blocks moving = {find_moved, NULL};
    int error;

    begin(GAIT_EVENT_BLOCK, false);
    put_header(1, EVENT_RECORD_BLOCK);
    moved_by = 0;
    event_decoder_run(&decoder, &moving, bytes, bytes + size, &error);
    event_decoder_forget_blocks(&decoder);
    moved_by = 0x100000;
    event_decoder_run(&decoder, &moving, bytes, bytes + size, &error);
    CHECK_EQUAL(received_count, 2);
    CHECK_EQUAL(received[0].location, 0x2000);
    CHECK_EQUAL(received[1].location, 0x102000);
}

static void what_is_no_record_is_an_error(void)
{
    begin(GAIT_EVENT_BLOCK, false);
    put_header(0, EVENT_RECORD_BLOCK);
    put_header(0, EVENT_RECORD_KINDS);
    CHECK_EQUAL(run(-EPROTO), 4);
    begin(GAIT_EVENT_BLOCK, false);
    put_header(BLOCKS, EVENT_RECORD_BLOCK);
    CHECK_EQUAL(run(-EPROTO), 0);
    CHECK_EQUAL(received_count, 0);
}

/* Whatever stands there, nothing behind the end is read, and it ends. */
static void random_bytes_do_no_harm(void)
{
    struct guarded_bytes guarded;
    struct random random;
    uint8_t made[64];

    random_init(&random, 7);
    guarded_bytes_init(&guarded);
    for (unsigned round = 0; round < 20000; round++) {
        size_t length = random_below(&random, sizeof(made) / 4 + 1) * 4;
        const uint8_t *start, *place;
        int error;

        begin(0x1f, round & 1);
        random_fill(&random, made, sizeof(made));
        /* Headers of blocks that exist, mostly. */
        for (size_t i = 0; i < length; i += 4)
            if (random_chance(&random, 3, 4))
                made[i + 1] = made[i + 2] = made[i + 3] = 0;
        start = guarded_bytes_put(&guarded, made, length);
        place = event_decoder_run(&decoder, &blocks, start, start + length, &error);
        CHECK(place >= start && place <= start + length);
        CHECK(error == 0 || error == -EPROTO);
    }
    guarded_bytes_deinit(&guarded);
}

static const struct check_case cases[] = {
    CHECK_CASE(reading_ends_where_nothing_is_written),
    CHECK_CASE(instructions_wait_for_what_comes_next),
    CHECK_CASE(a_block_that_is_cut_ends_there),
    CHECK_CASE(records_with_times_pass_them_on),
    CHECK_CASE(hooked_functions_are_entered_and_left),
    CHECK_CASE(functions_whose_end_is_not_seen_say_so),
    CHECK_CASE(goroutines_have_numbers_of_more_than_a_word),
    CHECK_CASE(changes_of_stacks_come_between_enters_and_leaves),
    CHECK_CASE(what_is_hooked_and_what_is_followed_do_not_mix),
    CHECK_CASE(hooked_functions_need_not_all_be_wanted),
    CHECK_CASE(hooked_functions_come_in_batches),
    CHECK_CASE(what_is_no_record_is_an_error),
    CHECK_CASE(random_bytes_do_no_harm),
    CHECK_CASE(returns_that_nobody_called_lead_up_unless_all_is_known),
    CHECK_CASE(numbers_mean_the_same_until_it_is_told),
};

CHECK_MAIN(cases)
