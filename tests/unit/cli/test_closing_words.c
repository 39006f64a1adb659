/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/closing_words.h"

#include "record/recording.h"
#include "support/check.h"

static void expect(const struct closing_words *words, void (*say)(const struct closing_words *, FILE *),
                   const char *expected)
{
    char *text = NULL;
    size_t text_bytes;
    FILE *stream = open_memstream(&text, &text_bytes);

    say(words, stream);
    fclose(stream);
    CHECK_TEXT(text, expected);
    free(text);
}

static void a_recording_without_loss_takes_a_line(void)
{
    struct closing_words words = {.path = "./traces/a", .event_count = 1, .file_bytes = 900, .duration_ns = 1500000000};

    expect(&words, closing_words_say, "gait: recorded 1 event in 1.500 s, nothing lost: 900 bytes in ./traces/a\n");
    words.event_count = 1002003;
    words.file_bytes = 3u << 19;
    expect(&words, closing_words_say,
           "gait: recorded 1,002,003 events in 1.500 s, nothing lost: 1.5 MiB in ./traces/a\n");
    words.event_count = 999;
    words.file_bytes = 2048;
    expect(&words, closing_words_say, "gait: recorded 999 events in 1.500 s, nothing lost: 2.0 KiB in ./traces/a\n");
    words.file_bytes = 5ull << 30;
    expect(&words, closing_words_say, "gait: recorded 999 events in 1.500 s, nothing lost: 5.0 GiB in ./traces/a\n");
}

static void pieces_that_are_gone_are_told(void)
{
    struct closing_words words = {.path = "t", .event_count = 2, .file_bytes = 10, .deleted_pieces = 1};

    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, nothing lost: 10 bytes in t\n"
           "gait: the oldest 1 piece was deleted, and the events in it\n");
    words.deleted_pieces = 7;
    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, nothing lost: 10 bytes in t\n"
           "gait: the oldest 7 pieces were deleted, and the events in them\n");
}

static void threads_that_were_left_are_told(void)
{
    struct closing_words words = {.path = "t", .event_count = 2, .file_bytes = 10, .left_count = 1};

    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, nothing lost: 10 bytes in t\n"
           "gait: 1 thread was not followed to the end; gait report says where and why\n");
    words.left_count = 3;
    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, nothing lost: 10 bytes in t\n"
           "gait: 3 threads were not followed to the end; gait report says where and why\n");
}

static void functions_that_were_asked_for_and_are_not_hooked_are_told(void)
{
    const struct recording_unhooked unhooked[RECORDING_UNHOOKED_MAX] = {
        {"app!_ZN2Sq4areaEv", "it is too short"}, {"libc.so.6!f", "its bytes are no instructions"}};
    struct closing_words words = {
        .path = "t", .event_count = 2, .file_bytes = 10, .unhooked_count = 1, .unhooked = unhooked};

    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, but not all that was asked for: 10 bytes in t\n"
           "gait: app!Sq::area() was not hooked: it is too short; gait spawn --follow call,ret records its calls\n");
    words.unhooked_count = 2;
    words.has_more_unhooked = true;
    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, but not all that was asked for: 10 bytes in t\n"
           "gait: app!Sq::area() was not hooked: it is too short; gait spawn --follow call,ret records its calls\n"
           "gait: libc.so.6!f was not hooked: its bytes are no instructions; gait spawn --follow call,ret records its "
           "calls\n"
           "gait: nor were others; gait report lists them\n");
}

static void losses_are_told_with_what_helps(void)
{
    struct closing_words words = {
        .path = "t", .event_count = 1000, .file_bytes = 1024, .duration_ns = 1000000, .lost_bytes = 2048};

    expect(&words, closing_words_say,
           "gait: recorded 1,000 events in 1.000 ms, some lost: 1.0 KiB in t\n"
           "gait: 2.0 KiB of event records were lost, because they came faster than they were written; --overflow "
           "block makes the program wait\n");
}

static void waits_are_told(void)
{
    struct closing_words words = {.wait_count = 0};

    expect(&words, closing_words_say_waits, "gait: no thread waited for the disk\n");
    words.wait_count = 1;
    words.waited_ns = 1234567890;
    expect(&words, closing_words_say_waits,
           "gait: threads waited 1.235 s for the disk, 1 time; a larger --buffer may help\n");
    words.wait_count = 4000;
    expect(&words, closing_words_say_waits,
           "gait: threads waited 1.235 s for the disk, 4,000 times; a larger --buffer may help\n");
}

static void what_could_not_be_written_is_told_by_thread(void)
{
    const struct recording_unwritten threads[RECORDING_UNWRITTEN_MAX] = {
        {7, "one", 2048}, {8, "two\033", 10}, {9, "three", 3}, {10, "four", 2}};
    struct closing_words words = {.path = "t",
                                  .event_count = 2,
                                  .file_bytes = 10,
                                  .lost_bytes = 2048,
                                  .unwritten_bytes = 2048,
                                  .unwritten_count = 1,
                                  .unwritten = threads,
                                  .is_cut = true};

    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, some lost: 10 bytes in t\n"
           "gait: 2.0 KiB of event records could not be written: 2.0 KiB of thread 7 (one)\n"
           "gait: what the program did after that was not recorded\n");
    words.unwritten_count = 6;
    words.lost_bytes = 2058;
    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, some lost: 10 bytes in t\n"
           "gait: 2.0 KiB of event records could not be written: 2.0 KiB of thread 7 (one), 10 bytes of thread 8 "
           "(two?), 3 bytes of thread 9 (three), 2 bytes of thread 10 (four) and those of 2 more\n"
           "gait: what the program did after that was not recorded\n"
           "gait: 10 bytes of event records were lost, because they came faster than they were written; --overflow "
           "block makes the program wait\n");
}

static void what_ended_early_has_not_lost_nothing(void)
{
    const struct closing_words words = {.path = "t", .event_count = 2, .file_bytes = 10, .is_cut = true};

    expect(&words, closing_words_say,
           "gait: recorded 2 events in 0 ns, but not to the end: 10 bytes in t\n"
           "gait: what the program did after that was not recorded\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(what_could_not_be_written_is_told_by_thread),
    CHECK_CASE(what_ended_early_has_not_lost_nothing),
    CHECK_CASE(a_recording_without_loss_takes_a_line),
    CHECK_CASE(pieces_that_are_gone_are_told),
    CHECK_CASE(threads_that_were_left_are_told),
    CHECK_CASE(functions_that_were_asked_for_and_are_not_hooked_are_told),
    CHECK_CASE(losses_are_told_with_what_helps),
    CHECK_CASE(waits_are_told),
};

CHECK_MAIN(cases)
