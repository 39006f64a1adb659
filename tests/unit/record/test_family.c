/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "record/family.h"
#include "record/recording.h"

#include "gait/stalker.h"
#include "ring/ring_layout.h"
#include "support/check.h"

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

static void run(void)
{
    while (!family_is_over(&family)) {
        CHECK_EQUAL(family_step(&family, &err), 0);
        family_wait(&family, 5);
    }
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
    run();
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
    run();
    CHECK(family_first_has_ended(&family, &status));
    CHECK_EQUAL(status, 4 << 8);
    CHECK_EQUAL(count(&programs), 1);
    end();
}

static void all_can_be_left_at_any_time(void)
{
    int status = -1;

    begin("(while :; do :; done) & (while :; do :; done) & sleep 1; kill $! %1 2>/dev/null; kill $(jobs -p); exit 6",
          true);
    for (unsigned i = 0; i < 40; i++) {
        CHECK_EQUAL(family_step(&family, &err), 0);
        family_wait(&family, 5);
    }
    CHECK_EQUAL(family_detach(&family, &err), 0);
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    family_wait_for_first(&family);
    CHECK(family_first_has_ended(&family, &status));
    CHECK_EQUAL(status, 6 << 8);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(children_and_programs_are_members),
    CHECK_CASE(without_children_only_the_first_is),
    CHECK_CASE(all_can_be_left_at_any_time),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    puts("skipped: gait knows no other CPU's instructions yet");
    return 77;
}

#endif
