/* SPDX-License-Identifier: MIT */
/* What the public functions say to wrong arguments, without following anybody: under sanitizers too. */
#include "gait/stalker.h"

#include "support/check.h"
#include "support/followed_call.h"

#include <errno.h>
#include <unistd.h>

static struct gait_stalker *stalker;

static void ignore_call(struct gait_call *call, void *data)
{
    (void)call;
    (void)data;
}

static void a_stalker_is_made_with_and_without_options(void)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options)};
    struct gait_stalker *other = NULL;
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_create(&options, &other, &err), 0);
    CHECK(other != NULL && other != stalker);
    CHECK_TEXT(err.text, "");
    gait_stalker_destroy(other);
    gait_stalker_destroy(NULL);
}

static void many_stalkers_come_and_go(void)
{
    struct gait_stalker *others[20];

    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 20; i++)
            CHECK_EQUAL(gait_stalker_create(NULL, &others[i], NULL), 0);
        for (size_t i = 0; i < 20; i++)
            gait_stalker_destroy(others[i]);
    }
}

static void wrong_options_of_a_stalker_are_explained(void)
{
    struct {
        struct gait_stalker_options options;
        uint64_t later;
    } larger = {.options.size_bytes = sizeof(larger), .later = 1};
    struct gait_stalker_options options = {0};
    struct gait_stalker *other = stalker;
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_create(&options, &other, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot make a stalker: size_bytes of the options is 0; set it to sizeof(struct "
                         "gait_stalker_options)");
    CHECK_EQUAL(gait_stalker_create(&larger.options, &other, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot make a stalker: an option is set that this version of gait does not know; use the "
                         "library that belongs to the header");
    CHECK(other == stalker);
    CHECK_EQUAL(gait_stalker_create(NULL, NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot make a stalker: nowhere to put it, stalker_out is NULL");
    CHECK_EQUAL(gait_stalker_create(NULL, NULL, NULL), -EINVAL);
}

static void following_is_refused(const struct gait_follow_options *options, const char *text)
{
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_follow_me(stalker, options, &err), -EINVAL);
    CHECK_EQUAL(err.code, EINVAL);
    CHECK_TEXT(err.text, text);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, options, (uintptr_t)ignore_call, &err), -EINVAL);
    CHECK_TEXT(err.text, text);
    CHECK(!gait_stalker_is_following_me(stalker));
}

static void unknown_events_are_refused(void)
{
    for (unsigned bit = 5; bit < 32; bit++) {
        struct gait_follow_options options = followed_options();
        char text[200];

        options.events = 1u << bit | GAIT_EVENT_CALL;
        snprintf(text, sizeof(text),
                 "cannot follow a thread: events is 0x%x, which has bits that are none of enum gait_event_kind",
                 options.events);
        following_is_refused(&options, text);
    }
}

static void sinks_and_transformers_without_a_function_are_refused(void)
{
    static const struct gait_event_sink sink;
    static const struct gait_transformer transformer;
    struct gait_follow_options options = followed_options();

    options.sink = &sink;
    following_is_refused(&options, "cannot follow a thread: the sink has no process function");
    options.sink = NULL;
    options.transformer = &transformer;
    following_is_refused(&options, "cannot follow a thread: the transformer has no transform function");
}

static void options_without_a_size_are_refused(void)
{
    struct gait_follow_options options = {.events = GAIT_EVENT_CALL};

    following_is_refused(&options, "cannot follow a thread: size_bytes of the options is 0; set it to sizeof(struct "
                                   "gait_follow_options)");
}

static void nobody_can_be_unfollowed_who_is_not_followed(void)
{
    struct gait_error err = {0};
    char text[200];

    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), -ESRCH);
    snprintf(text, sizeof(text), "cannot unfollow thread %d: it is not followed", getpid());
    CHECK_TEXT(err.text, text);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), -ESRCH);
    CHECK(!gait_stalker_is_following_me(stalker));
    CHECK(!gait_stalker_is_following(stalker, getpid()));
    CHECK(!gait_stalker_is_following(stalker, 0));
    CHECK(!gait_stalker_is_following(stalker, -1));
}

static void probes_are_added_and_removed(void)
{
    uint32_t first = 0, second = 0;

    CHECK_EQUAL(gait_stalker_add_call_probe(stalker, 0x1000, ignore_call, NULL, &first, NULL), 0);
    CHECK_EQUAL(gait_stalker_add_call_probe(stalker, 0x1000, ignore_call, NULL, &second, NULL), 0);
    CHECK(first != second);
    CHECK_EQUAL(gait_stalker_add_call_probe(stalker, 0x2000, ignore_call, NULL, NULL, NULL), 0);
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, first, NULL), 0);
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, first, NULL), -ENOENT);
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, second, NULL), 0);
}

static void wrong_probes_are_explained(void)
{
    struct gait_error err = {0};
    uint32_t id = 77;

    CHECK_EQUAL(gait_stalker_add_call_probe(stalker, 0xabc, NULL, NULL, &id, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot probe calls of 0xabc: there is no probe, it is NULL");
    CHECK_EQUAL(id, 77);
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, 4711, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot remove call probe 4711: there is none, or not any more");
}

static void what_is_no_range_cannot_be_invalidated(void)
{
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_invalidate(stalker, 0x1000, 0, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot invalidate code: 0x1000 with 0 bytes is no range");
    CHECK_EQUAL(gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot invalidate code: 0x1000 with 18446744073709551615 bytes is no range");
    CHECK_EQUAL(gait_stalker_invalidate(stalker, 0, UINT64_MAX, NULL), 0);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, 0x1000, 1, NULL), 0);
}

static void data_cannot_be_translated_ahead(void)
{
    static uint64_t data;
    struct gait_error err = {0};
    char text[200];

    snprintf(text, sizeof(text), "cannot translate 0x%llx ahead of time: no code can be read there",
             (unsigned long long)(uintptr_t)&data);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, NULL, (uintptr_t)&data, &err), -EFAULT);
    CHECK_TEXT(err.text, text);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, NULL, 0, NULL), -EFAULT);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, NULL, UINT64_MAX, NULL), -EFAULT);
}

static void figures_need_a_place_and_a_size(void)
{
    struct gait_stalker_statistics statistics = {0};
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_read_statistics(stalker, NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot report the stalker's figures: nowhere to put them");
    CHECK_EQUAL(gait_stalker_read_statistics(stalker, &statistics, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot report the stalker's figures: size_bytes of the options is 0; set it to sizeof(struct "
                         "gait_stalker_statistics)");
}

static void figures_of_an_older_header_are_not_overrun(void)
{
    struct gait_stalker_statistics statistics;

    memset(&statistics, 0xa5, sizeof(statistics));
    statistics.size_bytes = offsetof(struct gait_stalker_statistics, blocks);
    CHECK_EQUAL(gait_stalker_read_statistics(stalker, &statistics, NULL), 0);
    CHECK_EQUAL(statistics.size_bytes, offsetof(struct gait_stalker_statistics, blocks));
    CHECK_EQUAL(statistics.threads, 0);
    CHECK_EQUAL(statistics.blocks, 0xa5a5a5a5a5a5a5a5);
}

/* A reader does not have to zero what is about to be overwritten. */
static void figures_of_a_newer_header_are_filled_as_far_as_they_are_known(void)
{
    struct {
        struct gait_stalker_statistics statistics;
        uint64_t later;
    } larger;

    memset(&larger, 0xa5, sizeof(larger));
    larger.statistics.size_bytes = sizeof(larger);
    CHECK_EQUAL(gait_stalker_read_statistics(stalker, &larger.statistics, NULL), 0);
    CHECK_EQUAL(larger.statistics.size_bytes, sizeof(larger));
    CHECK_EQUAL(larger.statistics.event_bytes_lost, 0);
    CHECK_EQUAL(larger.later, 0);
}

static void a_new_stalker_has_done_nothing(void)
{
    struct gait_stalker *other = followed_call_stalker();
    struct gait_stalker_statistics statistics = followed_statistics(other);

    CHECK_EQUAL(statistics.size_bytes, sizeof(statistics));
    CHECK_EQUAL(statistics.threads, 0);
    CHECK_EQUAL(statistics.blocks, 0);
    CHECK_EQUAL(statistics.code_bytes, 0);
    CHECK_EQUAL(statistics.event_bytes_lost, 0);
    CHECK_EQUAL(gait_stalker_flush(other, NULL), 0);
    gait_stalker_destroy(other);
}

static void a_stalker_that_is_null_is_refused(void)
{
    struct gait_stalker_statistics statistics = {.size_bytes = sizeof(statistics)};
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_follow_me(NULL, NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot follow a thread: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_unfollow_me(NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot unfollow a thread: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_add_call_probe(NULL, 1, ignore_call, NULL, NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot probe calls: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_remove_call_probe(NULL, 1, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot remove a call probe: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_invalidate(NULL, 1, 1, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot invalidate code: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_prefetch(NULL, NULL, 1, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot translate code ahead of time: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_flush(NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot hand over events: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_read_statistics(NULL, &statistics, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot report the stalker's figures: there is no stalker, it is NULL");
    CHECK(!gait_stalker_is_following(NULL, getpid()));
    CHECK(!gait_stalker_is_following_me(NULL));
}

static void nothing_crashes_without_a_stalker_or_with_tiny_slabs(void)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options), .slab_bytes = 100};
    struct gait_stalker *other = NULL;
    struct gait_error err;

    CHECK_EQUAL(gait_stalker_create(&options, &other, &err), -EINVAL);
    CHECK(strstr(err.text, "slab_bytes is 100") != NULL);
    CHECK_EQUAL(gait_stalker_follow(NULL, 1, NULL, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot follow a thread: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_unfollow(NULL, 1, NULL), -EINVAL);
    CHECK_EQUAL(gait_stalker_exclude(NULL, 0x1000, 1, NULL), -EINVAL);
    CHECK_EQUAL(gait_stalker_activate(NULL, NULL), -EINVAL);
    CHECK_EQUAL(gait_stalker_deactivate(NULL, NULL), -EINVAL);
    CHECK_EQUAL(gait_stalker_collect(NULL), 0);
    gait_stalker_set_observer(NULL, NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_crashes_without_a_stalker_or_with_tiny_slabs),
    CHECK_CASE(a_stalker_is_made_with_and_without_options),
    CHECK_CASE(many_stalkers_come_and_go),
    CHECK_CASE(wrong_options_of_a_stalker_are_explained),
    CHECK_CASE(unknown_events_are_refused),
    CHECK_CASE(sinks_and_transformers_without_a_function_are_refused),
    CHECK_CASE(options_without_a_size_are_refused),
    CHECK_CASE(nobody_can_be_unfollowed_who_is_not_followed),
    CHECK_CASE(probes_are_added_and_removed),
    CHECK_CASE(wrong_probes_are_explained),
    CHECK_CASE(what_is_no_range_cannot_be_invalidated),
    CHECK_CASE(data_cannot_be_translated_ahead),
    CHECK_CASE(figures_need_a_place_and_a_size),
    CHECK_CASE(figures_of_an_older_header_are_not_overrun),
    CHECK_CASE(figures_of_a_newer_header_are_filled_as_far_as_they_are_known),
    CHECK_CASE(a_new_stalker_has_done_nothing),
    CHECK_CASE(a_stalker_that_is_null_is_refused),
};

int main(void)
{
    stalker = followed_call_stalker();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
