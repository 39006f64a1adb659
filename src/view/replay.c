/* SPDX-License-Identifier: MIT */
/*
 * Each thread has the calls that are open, with the level at which they are shown. One that began before the time that
 * is shown waits there until something of its thread happens within that time: then all that are open are shown.
 */
#include "view/replay.h"

#include "libgait/error.h"
#include "view/call_details.h"
#include "view/call_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_AT_FIRST 64u

/* From a receiver of calls: what follows is not wanted. */
#define ENOUGH 1

#define NOT_SHOWN UINT32_MAX

struct open_call {
    uint32_t function;
    uint32_t level; /* NOT_SHOWN: it is not part of what was asked for */
    bool is_told;
    uint64_t begin;
    uint32_t flags;
    char *arguments; /* as long as it is not told */
    struct replay_ticket ticket;
};

struct lane {
    struct open_call *open;
    size_t open_count;
    size_t capacity;
    size_t waiting_count; /* of open calls that began before the time that is shown */
    struct call_details *details;
    bool has_begun;
};

struct replay {
    const struct view_trace *trace;
    struct view_functions *functions;
    const struct replay_options *options;
    struct call_arguments arguments;
    struct replay_rows rows;
    struct lane *lanes; /* by the threads' indexes */
    uint64_t last_time;
    int error; /* -ENOMEM */
};

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static int fail(struct replay *replay)
{
    replay->error = -ENOMEM;
    return ENOUGH;
}

static bool make_room(struct lane *lane)
{
    size_t capacity = lane->capacity == 0 ? OPEN_AT_FIRST : 2 * lane->capacity;
    struct open_call *grown;

    if (lane->open_count < lane->capacity)
        return true;
    grown = realloc(lane->open, capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    lane->open = grown;
    lane->capacity = capacity;
    return true;
}

/* NULL: there is no memory. */
static struct lane *lane_of(struct replay *replay, size_t thread)
{
    struct lane *lane = &replay->lanes[thread];

    if (!lane->has_begun &&
        call_details_create(&lane->details, thread, replay->functions, &replay->arguments) != 0)
        return NULL;
    lane->has_begun = true;
    return lane;
}

static void release_lane(struct lane *lane)
{
    for (size_t i = 0; i < lane->open_count; i++)
        free(lane->open[i].arguments);
    free(lane->open);
    call_details_destroy(lane->details);
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

/* At which level a call is shown that begins within those that are open. */
static uint32_t level_of(const struct replay *replay, const struct lane *lane, uint32_t function)
{
    const struct replay_options *options = replay->options;
    const struct open_call *caller = lane->open_count == 0 ? NULL : &lane->open[lane->open_count - 1];

    if (caller != NULL && caller->level != NOT_SHOWN)
        return caller->level + 1;
    return options->choice == NULL || function_choice_has(options->choice, function) ? 0 : NOT_SHOWN;
}

static bool is_wanted(const struct replay *replay, uint32_t level)
{
    return level != NOT_SHOWN && (replay->options->depth == 0 || level < replay->options->depth);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void tell_begin(struct replay *replay, size_t thread, struct open_call *call)
{
    const struct replay_row row = {
        .thread = thread,
        .function = call->function,
        .level = call->level,
        .flags = call->flags,
        .time = call->begin,
        .arguments = call->arguments,
    };

    call->ticket = replay_rows_begin(&replay->rows, &row);
    call->arguments = NULL;
    call->is_told = true;
}

/* Something happens within the time that is shown: so does all that is open. */
static void tell_waiting(struct replay *replay, size_t thread, struct lane *lane)
{
    for (size_t i = 0; i < lane->open_count && lane->waiting_count != 0; i++)
        if (!lane->open[i].is_told && is_wanted(replay, lane->open[i].level))
            tell_begin(replay, thread, &lane->open[i]);
    lane->waiting_count = 0;
}

static char *copy_text(const struct detail_text *text)
{
    return strdup(text->bytes);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static char *find_arguments(struct replay *replay, size_t thread, struct lane *lane, const struct view_call *call,
                            bool is_shown)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;
    struct call_details_begin begin;

    if (lane->details == NULL)
        return NULL;
    detail_text_init(&text, bytes, sizeof(bytes));
    begin = call_details_begin(lane->details, call, &text);
    if (!is_shown || !begin.is_known)
        return NULL;
    if (begin.is_unsure && call->begin >= replay->options->from)
        replay_rows_put(&replay->rows,
                        &(struct replay_row){.kind = REPLAY_UNSURE, .thread = thread, .time = call->begin});
    return text.used == 0 ? NULL : copy_text(&text);
}

static int take_begin(void *context, size_t thread, const struct view_call *call)
{
    struct replay *replay = context;
    struct lane *lane = lane_of(replay, thread);
    struct open_call open = {.begin = call->begin, .flags = call->flags};

    replay->last_time = call->begin;
    if (call->begin > replay->options->to)
        return ENOUGH;
    if (lane == NULL || !make_room(lane))
        return fail(replay);
    open.function =
        view_functions_number(replay->functions, replay->trace->threads[thread].process, call->function, call->begin);
    if (open.function == VIEW_NO_FUNCTION)
        return fail(replay);
    open.level = level_of(replay, lane, open.function);
    if (call->begin >= replay->options->from)
        tell_waiting(replay, thread, lane);
    open.arguments = find_arguments(replay, thread, lane, call, is_wanted(replay, open.level));
    lane->open[lane->open_count++] = open;
    if (call->begin < replay->options->from)
        lane->waiting_count++;
    else if (is_wanted(replay, open.level))
        tell_begin(replay, thread, &lane->open[lane->open_count - 1]);
    return replay->rows.result != 0 ? ENOUGH : 0;
}

/* What the detail lane knows of the end is better than what is guessed. */
static void add_details(struct lane *lane, const struct view_call *call, struct replay_row *row)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;
    struct call_details_end end;

    if (lane->details == NULL)
        return;
    detail_text_init(&text, bytes, sizeof(bytes));
    end = call_details_end(lane->details, call, &text);
    if (!end.is_known)
        return;
    row->ticks = end.ticks;
    row->flags &= ~(uint32_t)(CALL_GUESSED | CALL_NO_RETURN);
    if (end.is_unwound)
        row->flags |= CALL_UNWOUND;
    row->result = text.used == 0 ? NULL : copy_text(&text);
}

static int take_end(void *context, size_t thread, const struct view_call *call)
{
    struct replay *replay = context;
    struct lane *lane = &replay->lanes[thread];
    struct replay_row row = {.thread = thread, .flags = call->flags, .time = call->end};
    struct open_call *open;

    replay->last_time = call->end;
    if (call->end > replay->options->to)
        return ENOUGH;
    if (lane->open_count == 0)
        return 0;
    if (call->end >= replay->options->from)
        tell_waiting(replay, thread, lane);
    row.ticks = call->end - call->begin;
    add_details(lane, call, &row);
    open = &lane->open[--lane->open_count];
    lane->waiting_count -= lane->waiting_count != 0;
    row.function = open->function;
    row.level = open->level;
    if (open->is_told)
        replay_rows_end(&replay->rows, open->ticket, &row);
    else
        free(row.result);
    free(open->arguments);
    return replay->rows.result != 0 ? ENOUGH : 0;
}

static int take_gap(void *context, size_t thread, uint64_t time, uint64_t lost_bytes)
{
    struct replay *replay = context;

    replay->last_time = time;
    if (time > replay->options->to)
        return ENOUGH;
    if (time >= replay->options->from)
        replay_rows_put(
            &replay->rows,
            &(struct replay_row){.kind = REPLAY_GAP, .thread = thread, .time = time, .lost_bytes = lost_bytes});
    return replay->rows.result != 0 ? ENOUGH : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int read_threads(struct replay *replay, const size_t *threads, size_t count, struct gait_error *err)
{
    const struct merged_receiver receiver = {take_begin, take_end, take_gap, replay};
    int result = call_merge_read(replay->trace, threads, count, &receiver, err);

    (void)!replay_rows_finish(&replay->rows, replay->last_time < replay->options->to ? replay->last_time
                                                                                     : replay->options->to);
    return result == ENOUGH ? 0 : result;
}

static int read_each(struct replay *replay, struct gait_error *err)
{
    const struct replay_options *options = replay->options;
    int first_result = 0;

    for (size_t i = 0; i < options->thread_count && replay->rows.result == 0 && replay->error == 0; i++) {
        int result;

        replay->last_time = 0;
        replay_rows_put(&replay->rows, &(struct replay_row){.kind = REPLAY_THREAD, .thread = options->threads[i]});
        result = read_threads(replay, &options->threads[i], 1, first_result == 0 ? err : NULL);
        if (first_result == 0)
            first_result = result;
    }
    return first_result;
}

static int begin(struct replay *replay)
{
    int result = call_arguments_init(&replay->arguments, &replay->functions->names);

    if (result != 0)
        return result;
    replay->lanes = calloc(replay->trace->thread_count + 1, sizeof(*replay->lanes));
    if (replay->lanes != NULL)
        return 0;
    call_arguments_deinit(&replay->arguments);
    return -ENOMEM;
}

static void end(struct replay *replay)
{
    for (size_t i = 0; i < replay->trace->thread_count; i++)
        release_lane(&replay->lanes[i]);
    free(replay->lanes);
    replay_rows_deinit(&replay->rows);
    call_arguments_deinit(&replay->arguments);
}

int replay_read(struct view_functions *functions, const struct replay_options *options,
                const struct replay_receiver *receiver, struct gait_error *err)
{
    struct replay replay = {.trace = functions->trace, .functions = functions, .options = options};
    int result = begin(&replay);

    if (result == 0) {
        replay_rows_init(&replay.rows, receiver, options->min_ticks);
        result = options->by_thread ? read_each(&replay, err)
                                    : read_threads(&replay, options->threads, options->thread_count, err);
        if (replay.error != 0 || replay.rows.result == -ENOMEM)
            result = -ENOMEM;
        end(&replay);
    }
    return result == -ENOMEM ? error_set(err, ENOMEM, "cannot replay the trace: there is no memory") : result;
}
