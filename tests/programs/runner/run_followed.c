/* SPDX-License-Identifier: MIT */
/*
 * The main of each program in tests/programs, whose own was renamed. GAIT_TEST_MODE says how to run it: "native", or a
 * line of tests/programs/MODES. Nothing is printed unless the program cannot be followed at all.
 */
#include "programs/runner/disturbances.h"
#include "programs/runner/exclusions.h"
#include "programs/runner/failure.h"
#include "programs/runner/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_NOT_FOLLOWED 99

int program_main(int argc, char **argv, char **environment);

/* Programs that leave the engine without memory have this: they may end natively, but not behind its back. */
extern const char program_may_be_left;
#pragma weak program_may_be_left

_Noreturn void runner_fail(const char *what, const char *which)
{
    fflush(stdout);
    fprintf(stderr, "cannot run the program followed: %s %s\n", what, which);
    _exit(STATUS_NOT_FOLLOWED);
}

/* So that somebody can attach before the program begins. */
static void be_late(void)
{
    const char *late_ms = getenv("GAIT_TEST_LATE_MS");

    if (late_ms == NULL)
        return;
    usleep((useconds_t)atoi(late_ms) * 1000);
    /* Once, also for one that executes itself. */
    unsetenv("GAIT_TEST_LATE_MS");
}

int main(int argc, char **argv, char **environment)
{
    const char *line = getenv("GAIT_TEST_MODE");
    struct gait_stalker *stalker;
    struct gait_error err;
    static struct mode mode;
    int status;

    be_late();
    if (line == NULL || strcmp(line, "native") == 0)
        return program_main(argc, argv, environment);
    mode_read(line, &mode);
    if (gait_stalker_create(&mode.stalker, &stalker, &err) != 0)
        runner_fail("no stalker:", err.text);
    if (mode.exclude != NULL)
        exclude_objects(stalker, mode.exclude);
    disturbance_start(stalker, &mode);
    if (gait_stalker_follow_me(stalker, &mode.follow, &err) != 0)
        runner_fail("not followed:", err.text);
    status = program_main(argc, argv, environment);
    disturbance_stop();
    /* It must be followed still, unless somebody else unfollowed it on purpose, or it asked for that. */
    if (((mode.disturbance == NULL && &program_may_be_left == NULL) || gait_stalker_is_following_me(stalker)) &&
        gait_stalker_unfollow_me(stalker, &err) != 0)
        runner_fail("not unfollowed:", err.text);
    if (gait_stalker_is_following_me(stalker))
        runner_fail("it was left somewhere, and the engine", "did not notice");
    gait_stalker_destroy(stalker);
    return status;
}
