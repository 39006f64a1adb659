/* SPDX-License-Identifier: MIT */
/* Who records a process is found by the ring that both have, also after one of them has died. */
#define _GNU_SOURCE
#include "inject/other_recorder.h"

#include "ring/ring_presence.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process with a ring, who reads it, and a child that has its parent's ring. */
struct scene {
    pid_t process;
    pid_t reader;
    pid_t child;
};

static void tell_and_wait(int pipe_end)
{
    char byte = 0;

    (void)!write(pipe_end, &byte, 1);
    for (;;)
        pause();
}

/* A process that says when it is ready, and then waits until it is killed. */
static pid_t fork_ready(void (*prepare)(void *context), void *context)
{
    int ends[2];
    char byte;
    pid_t child;

    CHECK_EQUAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prepare(context);
        tell_and_wait(ends[1]);
    }
    close(ends[1]);
    CHECK_EQUAL(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void nothing(void *context)
{
    (void)context;
}

static void be_reader(void *context)
{
    const struct ring_region *ring = context;
    int place;

    if (ring_presence_begin(ring->fd, &place) != 0)
        _exit(1);
}

static void be_process(void *context)
{
    const struct ring_options options = {.buffer_bytes = 4096, .buffer_count = 2};
    struct ring_region *ring;
    pid_t told[2];

    if (ring_region_create(&options, &ring) != 0)
        _exit(1);
    told[0] = fork_ready(be_reader, ring);
    told[1] = fork_ready(nothing, NULL);
    if (write(((int *)context)[1], told, sizeof(told)) != sizeof(told))
        _exit(1);
}

static struct scene begin(void)
{
    struct scene scene = {0, 0, 0};
    pid_t told[2] = {0, 0};
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    scene.process = fork_ready(be_process, ends);
    CHECK_EQUAL(read(ends[0], told, sizeof(told)), sizeof(told));
    close(ends[0]);
    close(ends[1]);
    scene.reader = told[0];
    scene.child = told[1];
    return scene;
}

/* With it those go that it has made. */
static void end(const struct scene *scene)
{
    kill(scene->process, SIGKILL);
    waitpid(scene->process, NULL, 0);
}

static void a_process_without_a_ring_is_recorded_by_nobody(void)
{
    pid_t child = fork_ready(nothing, NULL), reader = 0;

    CHECK_EQUAL(other_recorder_find(child, &reader), OTHER_RECORDER_NONE);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_EQUAL(other_recorder_find(child, &reader), OTHER_RECORDER_NONE);
}

static void who_reads_the_ring_is_found_and_named(void)
{
    struct scene scene = begin();
    struct gait_error err;
    pid_t reader = 0;
    char text[64];

    CHECK_EQUAL(other_recorder_find(scene.process, &reader), OTHER_RECORDER_LIVES);
    CHECK_EQUAL(reader, scene.reader);
    CHECK_EQUAL(other_recorder_explain(scene.process, reader, &err), -EALREADY);
    snprintf(text, sizeof(text), "recorded already, by process %d (", (int)scene.reader);
    CHECK(strstr(err.text, text) != NULL);
    CHECK(strstr(err.text, "test_other_recorder") != NULL);
    end(&scene);
}

static void who_reads_has_the_ring_and_is_not_its_process(void)
{
    struct scene scene = begin();
    pid_t reader = 0;

    CHECK_EQUAL(other_recorder_find(scene.reader, &reader), OTHER_RECORDER_NONE);
    CHECK_EQUAL(other_recorder_find(scene.child, &reader), OTHER_RECORDER_NONE);
    end(&scene);
}

static void who_has_died_is_known_to_be_dead(void)
{
    struct scene scene = begin();
    enum other_recorder found;
    pid_t reader = 0;

    kill(scene.reader, SIGKILL);
    /* It takes a moment. */
    while ((found = other_recorder_find(scene.process, &reader)) == OTHER_RECORDER_LIVES)
        usleep(1000);
    CHECK_EQUAL(found, OTHER_RECORDER_DIED);
    end(&scene);
}

static void who_cannot_be_seen_is_told_otherwise(void)
{
    struct gait_error err;

    CHECK_EQUAL(other_recorder_explain(1, 0, &err), -EALREADY);
    CHECK(strstr(err.text, "cannot be seen from here") != NULL);
    CHECK_EQUAL(other_recorder_explain(1, getpid(), &err), -EALREADY);
    CHECK(strstr(err.text, "named twice") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_process_without_a_ring_is_recorded_by_nobody), CHECK_CASE(who_reads_the_ring_is_found_and_named),
    CHECK_CASE(who_reads_has_the_ring_and_is_not_its_process),  CHECK_CASE(who_has_died_is_known_to_be_dead),
    CHECK_CASE(who_cannot_be_seen_is_told_otherwise),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
