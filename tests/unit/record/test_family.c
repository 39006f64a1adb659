/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "record/family.h"
#include "record/recording.h"

#include "gait/stalker.h"
#include "hosted/error_text.h"
#include "inject/stop_signals.h"
#include "ring/event_record.h"
#include "ring/ring_layout.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

static struct gait_error err;
static struct recording recording;
static struct family family;
static char output[] = "/tmp/gait-test-XXXXXX";

static void begin(char *script, bool with_children)
{
    static char *arguments[] = {"/bin/sh", "-c", NULL, NULL};
    struct recording_options wanted = {
        .output = output, .program = "sh", .arguments = arguments, .events = GAIT_EVENT_CALL};
    static struct agent_options agent;
    struct family_options options = {.agent = &agent, .is_child = true};
    struct target target;

    agent = (struct agent_options){
        .events = GAIT_EVENT_CALL, .new_threads = 1, .children = with_children, .overflow = RING_BLOCK};
    /* The manifest has them up to the end. */
    arguments[2] = script;
    strcpy(output, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(output) != NULL);
    CHECK_EQUAL(recording_create(&wanted, &recording, &err), 0);
    CHECK_EQUAL(target_spawn(arguments, &agent, &target, &err), 0);
    CHECK_EQUAL(family_begin(&family, &recording.drain, &options, &target, &err), 0);
}

static void run_all(void)
{
    const struct family_run_options run = {.only_first = false};

    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_OVER);
}

static void end(void)
{
    char command[64];

    family_end(&family);
    CHECK_EQUAL(recording_end(&recording, "exit", &err), 0);
    free(recording.path);
    snprintf(command, sizeof(command), "rm -r %s", output);
    CHECK_EQUAL(system(command), 0);
}

/* How many processes, and how many programs of the first one, are recorded. */
static size_t count(uint32_t *programs_out)
{
    const struct manifest *manifest = &recording.manifest;

    *programs_out = 0;
    for (size_t i = 0; i < manifest->process_count; i++)
        if (manifest->processes[i].pid == manifest->processes[0].pid)
            *programs_out = manifest->processes[i].image;
    return manifest->process_count;
}

static void children_and_programs_are_members(void)
{
    uint32_t programs;
    int status = -1;

    begin("(exit 3); (:) & wait; exec /bin/sh -c 'exit 4'", true);
    run_all();
    CHECK(family_first_has_ended(&family, &status));
    CHECK_EQUAL(status, 4 << 8);
    CHECK_EQUAL(count(&programs), 4);
    CHECK_EQUAL(programs, 2);
    CHECK_EQUAL(recording.manifest.processes[1].parent_pid, recording.manifest.processes[0].pid);
    end();
}

static void without_children_only_the_first_is(void)
{
    uint32_t programs;
    int status = -1;

    begin("(exit 3); /bin/true; exec /bin/sh -c 'exit 4'", false);
    run_all();
    CHECK(family_first_has_ended(&family, &status));
    CHECK_EQUAL(status, 4 << 8);
    CHECK_EQUAL(count(&programs), 1);
    end();
}

static bool is_enough(void *context)
{
    return ++*(unsigned *)context == 40;
}

static void all_can_be_left_at_any_time(void)
{
    unsigned looks = 0;
    const struct family_run_options run = {.is_to_end = is_enough, .context = &looks};
    int status = -1;

    begin("(while :; do :; done) & (while :; do :; done) & sleep 1; kill $! %1 2>/dev/null; kill $(jobs -p); exit 6",
          true);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    CHECK_EQUAL(family_detach(&family, &err), 0);
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    family_wait_for_first(&family);
    CHECK(family_first_has_ended(&family, &status));
    CHECK_EQUAL(status, 6 << 8);
    end();
}

/* ---- the loop, where nothing becomes of what comes out of rings ---------------------------------------------------
 */

static struct ring_drain drain;
static unsigned looks;

static int process_came(void *context, struct drained_process *process, struct gait_error *why)
{
    (void)context;
    (void)process;
    (void)why;
    return 0;
}

static int ignore_records(struct drained_process *process, struct drained_lane *lane, const struct ring_batch *batch)
{
    (void)process;
    (void)lane;
    (void)batch;
    return 0;
}

static const struct drain_receiver receiver = {.process_came = process_came, .records = ignore_records};

static void begin_alone(char *script, uint32_t children)
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
static int end_alone(void)
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

static bool is_third(void *context)
{
    return ++*(unsigned *)context == 3;
}

static int fail_at_once(void *context, struct gait_error *why)
{
    (void)context;
    return error_set(why, EIO, "it fails");
}

static void it_goes_on_until_all_have_ended(void)
{
    const struct family_run_options run = {.only_first = false};

    begin_alone((char *)"(exit 3); (sleep 0.1; exit 4) & exit 5", AGENT_CHILDREN_ALL);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_OVER);
    CHECK_EQUAL(end_alone(), 5 << 8);
}

static void others_need_not_be_waited_for(void)
{
    const struct family_run_options run = {.only_first = true};

    begin_alone((char *)"sleep 1 & exit 5", AGENT_CHILDREN_ALL);
    CHECK(family_run(&family, &run, &err) != FAMILY_FAILED);
    CHECK_EQUAL(end_alone(), 5 << 8);
}

static void what_is_typed_may_be_for_the_first(void)
{
    struct family_run_options run = {.typed_is_for_first = true, .before = type_at_once};

    begin_alone((char *)"sleep 0.1; exit 6", AGENT_CHILDREN_EXECUTED);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_OVER);
    CHECK_EQUAL(end_alone(), 6 << 8);
    run.typed_is_for_first = false;
    begin_alone((char *)"sleep 0.1; exit 6", AGENT_CHILDREN_EXECUTED);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    CHECK_EQUAL(end_alone(), 6 << 8);
}

static void it_can_be_ended(void)
{
    struct family_run_options run = {.typed_is_for_first = true, .before = send_at_once};

    begin_alone((char *)"sleep 0.1; exit 7", AGENT_CHILDREN_EXECUTED);
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    stop_signals_forget();
    run = (struct family_run_options){.is_to_end = is_third, .context = &looks};
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_STOPPED);
    CHECK_EQUAL(looks, 3);
    run = (struct family_run_options){.behind = fail_at_once};
    CHECK_EQUAL(family_run(&family, &run, &err), FAMILY_FAILED);
    CHECK_TEXT(err.text, "it fails");
    CHECK_EQUAL(end_alone(), 7 << 8);
}

static const struct check_case cases[] = {
    CHECK_CASE(children_and_programs_are_members),
    CHECK_CASE(without_children_only_the_first_is),
    CHECK_CASE(all_can_be_left_at_any_time),
    CHECK_CASE(it_goes_on_until_all_have_ended),
    CHECK_CASE(others_need_not_be_waited_for),
    CHECK_CASE(what_is_typed_may_be_for_the_first),
    CHECK_CASE(it_can_be_ended),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    puts("skipped: gait knows no other CPU's instructions yet");
    return 77;
}

#endif
