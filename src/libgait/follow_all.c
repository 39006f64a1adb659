/* SPDX-License-Identifier: MIT */
/* All threads at once, by their list: threads that come meanwhile are found by looking again until nothing is new. */
#include "gait/stalker.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "process/thread_list.h"

#include <errno.h>

#define ROUNDS_MAX 16

struct round {
    struct gait_stalker *stalker;
    const struct gait_follow_options *options;
    struct gait_error *err;
    size_t followed;
    int first_error;
};

static bool follow_one(void *context, int tid)
{
    struct round *round = context;
    struct gait_error error;
    int result;

    if (tid == thread_current())
        return true;
    result = gait_stalker_follow(round->stalker, tid, round->options, &error);
    if (result == 0)
        round->followed++;
    if (result == 0 || result == -EALREADY || result == -ESRCH)
        return true;
    if (round->first_error == 0 && round->err != NULL)
        *round->err = error;
    if (round->first_error == 0)
        round->first_error = result;
    return true;
}

EXPORT int gait_stalker_follow_all(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                   size_t *count_out, struct gait_error *err)
{
    struct round round = {.stalker = stalker, .options = options, .err = err};
    size_t followed = 0;

    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        int result = thread_list_visit(follow_one, &round);

        if (result != 0)
            return error_set(err, result, "cannot follow all threads: there is no list of them in /proc/self/task");
        if (round.followed == followed)
            break;
        followed = round.followed;
    }
    if (count_out != NULL)
        *count_out = round.followed;
    return round.first_error;
}

/* Does something with a thread that is followed. One that ended meanwhile is no error. */
static bool do_with_followed(struct round *round, int tid,
                             int (*function)(struct gait_stalker *stalker, int tid, struct gait_error *err))
{
    struct gait_error error;
    int result;

    if (!gait_stalker_is_following(round->stalker, tid))
        return true;
    result = function(round->stalker, tid, &error);
    if (result == 0 || result == -ESRCH || round->first_error != 0)
        return true;
    if (round->err != NULL)
        *round->err = error;
    round->first_error = result;
    return true;
}

static bool unfollow_one(void *round, int tid)
{
    return do_with_followed(round, tid, gait_stalker_unfollow);
}

static bool flush_one(void *round, int tid)
{
    return do_with_followed(round, tid, gait_stalker_flush_thread);
}

EXPORT int gait_stalker_unfollow_all(struct gait_stalker *stalker, struct gait_error *err)
{
    struct round round = {.stalker = stalker, .err = err};
    int result = thread_list_visit(unfollow_one, &round);

    if (result != 0)
        return error_set(err, result, "cannot unfollow all threads: there is no list of them in /proc/self/task");
    return round.first_error;
}

EXPORT int gait_stalker_flush_all(struct gait_stalker *stalker, struct gait_error *err)
{
    struct round round = {.stalker = stalker, .err = err};
    int result = thread_list_visit(flush_one, &round);

    if (result != 0)
        return error_set(err, result, "cannot flush all threads: there is no list of them in /proc/self/task");
    return round.first_error;
}
