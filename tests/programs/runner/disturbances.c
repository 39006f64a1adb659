/* SPDX-License-Identifier: MIT */
/*
 * A thread beside the program that does things to the engine at random moments. It takes no signals, and ends after a
 * bounded time by itself: a process whose main thread ended must be able to end, too.
 */
#define _GNU_SOURCE
#include "programs/runner/disturbances.h"

#include "programs/runner/failure.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_PAUSE_US 1000
#define LIMIT_S          5

/* Modes that need what the library does not have yet are not in MODES; the others must link. */
#pragma weak gait_stalker_follow
#pragma weak gait_stalker_unfollow
#pragma weak gait_stalker_invalidate

static pthread_t thread;
static atomic_bool stopping;
static struct gait_stalker *disturbed;
static const struct mode *chosen;
static int main_tid;
static unsigned random_state = 1;

static unsigned random_below(unsigned limit)
{
    return (unsigned)rand_r(&random_state) % limit;
}

static int invalidate_segments(struct dl_phdr_info *object, size_t size, void *stalker)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        int result = 0;

        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && random_below(3) == 0)
            result = gait_stalker_invalidate(stalker, object->dlpi_addr + segment->p_vaddr, segment->p_memsz, NULL);
        if (result != 0)
            runner_fail("code cannot be invalidated:", strerror(-result));
    }
    return 0;
}

static void invalidate(struct gait_stalker *stalker, const struct mode *mode, int tid)
{
    (void)mode;
    (void)tid;
    dl_iterate_phdr(invalidate_segments, stalker);
}

static void refollow(struct gait_stalker *stalker, const struct mode *mode, int tid)
{
    if (gait_stalker_unfollow(stalker, tid, NULL) != 0)
        return;
    usleep(random_below(LONGEST_PAUSE_US));
    (void)gait_stalker_follow(stalker, tid, &mode->follow, NULL);
}

static const struct {
    const char *name;
    mode_disturbance disturbance;
} disturbances[] = {{"invalidate", invalidate}, {"refollow", refollow}};

mode_disturbance disturbance_find(const char *name)
{
    for (size_t i = 0; i < sizeof(disturbances) / sizeof(disturbances[0]); i++)
        if (strcmp(disturbances[i].name, name) == 0)
            return disturbances[i].disturbance;
    return NULL;
}

static void *disturb(void *unused)
{
    time_t end = time(NULL) + LIMIT_S;

    while (!atomic_load_explicit(&stopping, memory_order_relaxed) && time(NULL) < end) {
        chosen->disturbance(disturbed, chosen, main_tid);
        usleep(random_below(LONGEST_PAUSE_US));
    }
    return unused;
}

void disturbance_start(struct gait_stalker *stalker, const struct mode *mode)
{
    sigset_t all, old;

    if (mode->disturbance == NULL)
        return;
    disturbed = stalker;
    chosen = mode;
    main_tid = gettid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&thread, NULL, disturb, NULL) != 0)
        runner_fail("a thread cannot be made for", "the disturbance");
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void disturbance_stop(void)
{
    if (disturbed == NULL)
        return;
    atomic_store_explicit(&stopping, true, memory_order_relaxed);
    pthread_join(thread, NULL);
}
