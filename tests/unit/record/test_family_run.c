/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Programs that are watched by nobody who wants what comes out of their rings. */
#include "record/family_run.h"

#include "inject/stop_signals.h"
#include "hosted/error.h"
#include "record/family.h"
#include "record/ring_drain.h"
#include "ring/event_record.h"
#include "ring/ring_layout.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct gait_error err;
static struct ring_drain drain;
static struct family family;
static unsigned looks;

static int process_came(void *context, struct drained_process *process, struct gait_error *why)
{
    (void)context;
    (void)process;
    (void)why;
    return 0;
}

static int records(struct drained_process *process, struct drained_lane *lane, const struct ring_piece *piece)
{
    (void)process;
    (void)lane;
    (void)piece;
    return 0;
}

static const struct drain_receiver receiver = {.process_came = process_came, .records = records};

static void begin(char *script, uint32_t children)
{
    char *arguments[] = {(char *)"/bin/sh", (char *)"-c", script, NULL};
    static struct agent_options agent;
    const struct family_options options = {.agent = &agent, .is_child = true};
    struct target target;

    agent_options_clear(&agent);
    agent.events = EVENTS_HOOKED;
    agent.new_threads = 1;
    agent.children = children;
    agent.overflow = RING_BLOCK;
    looks = 0;
    ring_drain_init(&drain, &receiver, NULL);
    CHECK_EQUAL(target_spawn(arguments, &agent, &target, &err), 0);
    CHECK_EQUAL(family_begin(&family, &drain, &options, &target, &err), 0);
    stop_signals_forget();
    stop_signals_take();
}

/* How the first one has ended. */
static int end(void)
{
    int status = -1;

    if (!family_is_over(&family))
        CHECK_EQUAL(family_detach(&family, &err), 0);
    family_wait_for_first(&family);
    CHECK(family_first_has_ended(&family, &status));
    family_end(&family);
    ring_drain_deinit(&drain);
    return status;
}

static void type_at_once(void *context)
{
    (void)context;
    if (looks++ == 0)
        CHECK_EQUAL(raise(SIGINT), 0);
}

static void send_at_once(void *context)
{
    (void)context;
    CHECK_EQUAL(raise(SIGTERM), 0);
}

static bool is_enough(void *context)
{
    return ++*(unsigned *)context == 3;
}

static int fail(void *context, struct gait_error *why)
{
    (void)context;
    return error_set(why, EIO, "it fails");
}

static void it_goes_on_until_all_have_ended(void)
{
    const struct family_run run = {.only_first = false};

    begin((char *)"(exit 3); (sleep 0.1; exit 4) & exit 5", AGENT_CHILDREN_ALL);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_OVER);
    CHECK_EQUAL(end(), 5 << 8);
}

static void others_need_not_be_waited_for(void)
{
    const struct family_run run = {.only_first = true};

    begin((char *)"sleep 1 & exit 5", AGENT_CHILDREN_ALL);
    CHECK(family_run(&family, &run, &err) != FAMILY_FAILED);
    CHECK_EQUAL(end(), 5 << 8);
}

static void what_is_typed_may_be_for_the_first(void)
{
    struct family_run run = {.typed_is_for_first = true, .before = type_at_once};

    begin((char *)"sleep 0.1; exit 6", AGENT_CHILDREN_EXECUTED);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_OVER);
    CHECK_EQUAL(end(), 6 << 8);
    run.typed_is_for_first = false;
    begin((char *)"sleep 0.1; exit 6", AGENT_CHILDREN_EXECUTED);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    CHECK_EQUAL(end(), 6 << 8);
}

static void it_can_be_ended(void)
{
    struct family_run run = {.typed_is_for_first = true, .before = send_at_once};

    begin((char *)"sleep 0.1; exit 7", AGENT_CHILDREN_EXECUTED);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    stop_signals_forget();
    run = (struct family_run){.is_to_end = is_enough, .context = &looks};
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    CHECK_EQUAL(looks, 3);
    run = (struct family_run){.behind = fail};
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_FAILED);
    CHECK_TEXT(err.text, "it fails");
    CHECK_EQUAL(end(), 7 << 8);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_goes_on_until_all_have_ended),
    CHECK_CASE(others_need_not_be_waited_for),
    CHECK_CASE(what_is_typed_may_be_for_the_first),
    CHECK_CASE(it_can_be_ended),
};

CHECK_MAIN(cases)
