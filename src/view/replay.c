/* SPDX-License-Identifier: MIT */
/*
 * Each thread has the calls that are open, with the level at which they are shown. One that began before the time that
 * is shown waits there until something of its thread happens within that time: then all that are open are shown.
 */
#include "view/replay.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "trace/detail_text.h"
#include "trace/stream_reader.h"
#include "view/call_merge.h"
#include "view/detail_reader.h"
#include "view/joined_details.h"
#include "view/record_words.h"
#include "view/system_call_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_NAME_BYTES 600

/* From a receiver of calls: what follows is not wanted. */
#define ENOUGH    1

#define NOT_SHOWN UINT32_MAX

struct replayed_call {
    uint32_t function;
    uint32_t level; /* NOT_SHOWN: it is not part of what was asked for */
    bool is_told;
    bool is_own; /* no event tells of it, but the detail lane does */
    uint64_t begin;
    uint32_t flags;
    char *arguments; /* as long as it is not told */
    struct replay_ticket ticket;
};

/* A thread. */
struct replayed_lane {
    size_t thread;
    struct replayed_call *open;
    size_t open_count;
    size_t capacity;
    size_t waiting_count; /* of open calls that began before the time that is shown */
    struct joined_details *details;
    struct system_call_reader *system_calls;
    struct detail_reader *probes; /* of which others than probes are passed over */
    bool is_blocked;              /* what its details tell next has to wait for its events */
};

struct replay {
    const struct view_trace *trace;
    struct view_functions *functions;
    const struct replay_options *options;
    struct call_arguments arguments;
    struct replay_rows rows;
    struct replayed_lane *lanes; /* by the threads' indexes */
    const size_t *threads;       /* that are read now */
    size_t thread_count;
    uint64_t next_detail;      /* before that time no detail lane has something that no event tells of */
    uint64_t next_system_call; /* nor was one made */
    uint64_t next_probe;       /* nor was one passed */
    uint64_t last_time;
    int error; /* -ENOMEM */
};

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static int fail(struct replay *replay)
{
    replay->error = -ENOMEM;
    return ENOUGH;
}

static void release_lane(struct replayed_lane *lane)
{
    for (size_t i = 0; i < lane->open_count; i++)
        free(lane->open[i].arguments);
    free(lane->open);
    joined_details_destroy(lane->details);
    system_call_reader_destroy(lane->system_calls);
    detail_reader_destroy(lane->probes);
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

/* At which level a call is shown that begins within those that are open. */
static uint32_t level_of(const struct replay *replay, const struct replayed_lane *lane, uint32_t function)
{
    const struct replay_options *options = replay->options;
    const struct replayed_call *caller = lane->open_count == 0 ? NULL : &lane->open[lane->open_count - 1];

    if (caller != NULL && caller->level != NOT_SHOWN)
        return caller->level + 1;
    return options->choice == NULL || function_choice_has(options->choice, function) ? 0 : NOT_SHOWN;
}

static bool is_wanted(const struct replay *replay, uint32_t level)
{
    return level != NOT_SHOWN && (replay->options->depth == 0 || level < replay->options->depth);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void emit_begin(struct replay *replay, size_t thread, struct replayed_call *call)
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
static void emit_waiting(struct replay *replay, size_t thread, struct replayed_lane *lane)
{
    for (size_t i = 0; i < lane->open_count && lane->waiting_count != 0; i++)
        if (!lane->open[i].is_told && is_wanted(replay, lane->open[i].level))
            emit_begin(replay, thread, &lane->open[i]);
    lane->waiting_count = 0;
}

static char *copy_text(const struct detail_text *text)
{
    return strdup(text->bytes);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* A captured call has a time that was measured, whatever the thread's events have. */
static char *find_arguments(struct replay *replay, struct replayed_lane *lane, const struct view_call *call,
                            struct replayed_call *open)
{
    bool is_shown = is_wanted(replay, open->level);

    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;
    struct joined_details_begin begin;

    if (lane->details == NULL)
        return NULL;
    detail_text_init(&text, bytes, sizeof(bytes));
    begin = joined_details_begin(lane->details, call, &text);
    if (begin.is_known)
        open->flags &= ~(uint32_t)CALL_GUESSED;
    if (!is_shown || !begin.is_known)
        return NULL;
    if (begin.is_unsure && call->begin >= replay->options->from)
        replay_rows_put(&replay->rows,
                        &(struct replay_row){.kind = REPLAY_UNSURE, .thread = lane->thread, .time = call->begin});
    return text.used == 0 ? NULL : copy_text(&text);
}

/* A call that begins becomes the innermost one. The arguments become the lane's. */
static int open_call(struct replay *replay, struct replayed_lane *lane, const struct replayed_call *call)
{
    if (ARRAY_RESERVE(lane->open, lane->capacity, lane->open_count + 1) != 0) {
        free(call->arguments);
        return fail(replay);
    }
    lane->open[lane->open_count++] = *call;
    if (call->begin < replay->options->from)
        lane->waiting_count++;
    else if (is_wanted(replay, call->level))
        emit_begin(replay, lane->thread, &lane->open[lane->open_count - 1]);
    return replay->rows.result != 0 ? ENOUGH : 0;
}

/* The innermost call ends; what the row has of texts becomes the rows'. */
static void close_call(struct replay *replay, struct replayed_lane *lane, struct replay_row *row)
{
    struct replayed_call *open;

    if (row->time >= replay->options->from)
        emit_waiting(replay, lane->thread, lane);
    open = &lane->open[--lane->open_count];
    lane->waiting_count -= lane->waiting_count != 0;
    row->thread = lane->thread;
    row->function = open->function;
    row->level = open->level;
    if (open->is_told)
        replay_rows_end(&replay->rows, open->ticket, row);
    else
        free(row->result);
    free(open->arguments);
}

/* ---- calls that only the detail lane tells of -------------------------------------------------------------------- */

static int begin_own(struct replay *replay, struct replayed_lane *lane, const struct joined_details_own *own,
                     const struct detail_text *text)
{
    struct replayed_call open = {.begin = own->time, .is_own = true};

    if (own->time > replay->options->to)
        return 0;
    open.function = view_functions_number(replay->functions, replay->trace->threads[lane->thread].process,
                                          own->function, own->time);
    if (open.function == VIEW_NO_FUNCTION)
        return fail(replay);
    if (own->time >= replay->options->from)
        emit_waiting(replay, lane->thread, lane);
    open.level = level_of(replay, lane, open.function);
    open.arguments = own->is_known && is_wanted(replay, open.level) ? copy_text(text) : NULL;
    return open_call(replay, lane, &open);
}

/* Ends those that are innermost, up to the one that began at that time; 0: all of them. */
static void end_inner_own(struct replay *replay, struct replayed_lane *lane, uint64_t begin, uint64_t time,
                          uint32_t flags)
{
    while (lane->open_count != 0 && lane->open[lane->open_count - 1].is_own &&
           lane->open[lane->open_count - 1].begin != begin) {
        uint64_t began = lane->open[lane->open_count - 1].begin;

        close_call(replay, lane,
                   &(struct replay_row){.time = time, .flags = flags, .ticks = time > began ? time - began : 0});
    }
}

static void end_own(struct replay *replay, struct replayed_lane *lane, const struct joined_details_own *own,
                    const struct detail_text *text)
{
    struct replay_row row = {.time = own->time, .ticks = own->time > own->entered ? own->time - own->entered : 0};

    if (own->time > replay->options->to)
        return;
    end_inner_own(replay, lane, own->entered, own->time, CALL_NO_RETURN);
    if (lane->open_count == 0 || !lane->open[lane->open_count - 1].is_own)
        return;
    row.flags = own->is_cut ? CALL_CUT : own->is_unwound ? CALL_UNWOUND : 0;
    row.result = own->is_known ? copy_text(text) : NULL;
    close_call(replay, lane, &row);
}

static int emit_own(struct replay *replay, struct replayed_lane *lane, uint64_t time)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct joined_details_own own;
    struct detail_text text;
    int result = 0;

    detail_text_init(&text, bytes, sizeof(bytes));
    while (result == 0 && joined_details_take_own(lane->details, time, &own, &text)) {
        if (own.is_begin)
            result = begin_own(replay, lane, &own, &text);
        else
            end_own(replay, lane, &own, &text);
        detail_text_init(&text, bytes, sizeof(bytes));
    }
    return result;
}

/* ---- system calls ------------------------------------------------------------------------------------------------ */

/* The lane whose next one was made first, before that time; NULL: none was. */
static struct replayed_lane *first_system_call(struct replay *replay, uint64_t time)
{
    struct replayed_lane *first = NULL;

    replay->next_system_call = UINT64_MAX;
    for (size_t i = 0; i < replay->thread_count; i++) {
        struct replayed_lane *lane = &replay->lanes[replay->threads[i]];
        const struct view_system_call *call =
            lane->system_calls == NULL ? NULL : system_call_reader_peek(lane->system_calls);

        if (call == NULL || call->begin >= replay->next_system_call)
            continue;
        replay->next_system_call = call->begin;
        first = call->begin < time ? lane : NULL;
    }
    return first;
}

static void emit_system_call(struct replay *replay, struct replayed_lane *lane, const struct view_system_call *call)
{
    struct replay_row row = {
        .kind = REPLAY_SYSTEM_CALL, .thread = lane->thread, .time = call->begin, .ticks = call->end - call->begin};
    const struct replayed_call *caller;

    if (call->end < replay->options->from || call->begin > replay->options->to ||
        row.ticks < replay->options->min_ticks)
        return;
    emit_waiting(replay, lane->thread, lane);
    caller = lane->open_count == 0 ? NULL : &lane->open[lane->open_count - 1];
    if (caller == NULL ? replay->options->choice != NULL : caller->level == NOT_SHOWN)
        return;
    row.level = caller == NULL ? 0 : caller->level + 1;
    if (!is_wanted(replay, row.level))
        return;
    row.flags = call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED ? CALL_CUT : 0;
    row.arguments = system_call_words(call);
    if (row.arguments == NULL)
        (void)fail(replay);
    else
        replay_rows_put(&replay->rows, &row);
}

/* Those that were made before that time, of any thread. */
static int emit_system_calls(struct replay *replay, uint64_t time)
{
    struct replayed_lane *lane;

    if (time <= replay->next_system_call)
        return 0;
    while ((lane = first_system_call(replay, time)) != NULL && replay->error == 0 && replay->rows.result == 0) {
        const struct view_system_call *call = system_call_reader_peek(lane->system_calls);

        if (replay->last_time < call->end && time == UINT64_MAX)
            replay->last_time = call->end;
        emit_system_call(replay, lane, call);
        system_call_reader_pass(lane->system_calls);
    }
    return replay->error != 0 || replay->rows.result != 0 ? ENOUGH : 0;
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

static const struct detail_item *peek_probe(struct replayed_lane *lane)
{
    const struct detail_item *item;

    while ((item = lane->probes == NULL ? NULL : detail_reader_peek(lane->probes)) != NULL &&
           item->record.kind != DETAIL_PROBE)
        detail_reader_pass(lane->probes);
    return item;
}

/* The lane whose next one was passed first, before that time; NULL: none was. */
static struct replayed_lane *first_probe(struct replay *replay, uint64_t time)
{
    struct replayed_lane *first = NULL;

    if (time <= replay->next_probe)
        return NULL;
    replay->next_probe = UINT64_MAX;
    for (size_t i = 0; i < replay->thread_count; i++) {
        struct replayed_lane *lane = &replay->lanes[replay->threads[i]];
        const struct detail_item *item = peek_probe(lane);

        if (item == NULL || item->record.time >= replay->next_probe)
            continue;
        replay->next_probe = item->record.time;
        first = item->record.time < time ? lane : NULL;
    }
    return first;
}

/* "provider:name(arguments)"; NULL: no memory. */
static char *probe_words(const struct replay *replay, size_t thread, const struct detail_item *item)
{
    char name[PROBE_NAME_BYTES], bytes[DETAIL_TEXT_BYTES];
    struct detail_probe probe;
    struct detail_text text;

    memcpy(&probe, item->bytes, sizeof(probe));
    probe_names_put(replay->trace, replay->trace->threads[thread].process, probe.probe, name, sizeof(name));
    detail_text_init(&text, bytes, sizeof(bytes));
    detail_text_add(&text, name);
    detail_text_add(&text, "(");
    probe_text_put_arguments(&text, detail_record_values(item->bytes));
    detail_text_add(&text, ")");
    return copy_text(&text);
}

static void emit_probe(struct replay *replay, struct replayed_lane *lane, const struct detail_item *item)
{
    struct replay_row row = {.kind = REPLAY_PROBE, .thread = lane->thread, .time = item->record.time};
    const struct replayed_call *caller;

    if (row.time < replay->options->from || row.time > replay->options->to || replay->options->min_ticks != 0)
        return;
    emit_waiting(replay, lane->thread, lane);
    caller = lane->open_count == 0 ? NULL : &lane->open[lane->open_count - 1];
    if (caller == NULL ? replay->options->choice != NULL : caller->level == NOT_SHOWN)
        return;
    row.level = caller == NULL ? 0 : caller->level + 1;
    if (!is_wanted(replay, row.level))
        return;
    row.arguments = probe_words(replay, lane->thread, item);
    if (row.arguments == NULL)
        (void)fail(replay);
    else
        replay_rows_put(&replay->rows, &row);
}

/* Probes that were passed and system calls that were made before that time, of any thread, in their order. */
static int emit_others(struct replay *replay, uint64_t time)
{
    struct replayed_lane *lane;
    int result = 0;

    while (result == 0 && (lane = first_probe(replay, time)) != NULL) {
        const struct detail_item *item = peek_probe(lane);

        result = emit_system_calls(replay, item->record.time);
        if (result != 0)
            break;
        if (replay->last_time < item->record.time && time == UINT64_MAX)
            replay->last_time = item->record.time;
        emit_probe(replay, lane, item);
        detail_reader_pass(lane->probes);
        replay->next_probe = 0;
        result = replay->error != 0 || replay->rows.result != 0 ? ENOUGH : 0;
    }
    return result == 0 ? emit_system_calls(replay, time) : result;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* The lane that has the earliest details before that time, and until when it has; NULL: there is none. */
static struct replayed_lane *earliest_lane(struct replay *replay, uint64_t time, uint64_t *until_out)
{
    uint64_t first = time, second = time;
    struct replayed_lane *earliest = NULL;

    for (size_t i = 0; i < replay->thread_count; i++) {
        struct replayed_lane *lane = &replay->lanes[replay->threads[i]];
        uint64_t next = lane->details == NULL || lane->is_blocked ? time : joined_details_next_time(lane->details);

        if (next < first) {
            second = first;
            first = next;
            earliest = lane;
        } else if (next < second) {
            second = next;
        }
    }
    *until_out = second > first ? second : first + 1;
    return earliest;
}

/* What is left of all of them; where times are guesses, it is not known when it was. */
static int emit_rest(struct replay *replay)
{
    int result = 0;

    for (size_t i = 0; i < replay->thread_count && result == 0; i++)
        if (replay->lanes[replay->threads[i]].details != NULL)
            result = emit_own(replay, &replay->lanes[replay->threads[i]], UINT64_MAX);
    return result;
}

static void find_next_detail(struct replay *replay)
{
    replay->next_detail = UINT64_MAX;
    for (size_t i = 0; i < replay->thread_count; i++) {
        struct replayed_lane *lane = &replay->lanes[replay->threads[i]];
        uint64_t next = lane->details == NULL ? UINT64_MAX : joined_details_next_time(lane->details);

        lane->is_blocked = false;
        if (next < replay->next_detail)
            replay->next_detail = next;
    }
}

/* Tells what happened before that time, of any thread, the earliest first; UINT64_MAX: there are no more events. */
static int emit_details(struct replay *replay, uint64_t time)
{
    struct replayed_lane *lane;
    uint64_t until;
    int result = emit_others(replay, time);

    if (result != 0 || (time <= replay->next_detail && time != UINT64_MAX))
        return result;
    while (result == 0 && (lane = earliest_lane(replay, time, &until)) != NULL) {
        result = emit_own(replay, lane, until);
        lane->is_blocked = joined_details_next_time(lane->details) < until;
    }
    if (result == 0 && time == UINT64_MAX)
        result = emit_rest(replay);
    find_next_detail(replay);
    return result;
}

/* ---- calls that events tell of ----------------------------------------------------------------------------------- */

static int take_begin(void *context, size_t thread, const struct view_call *call)
{
    struct replay *replay = context;
    struct replayed_lane *lane = &replay->lanes[thread];
    struct replayed_call open = {.begin = call->begin, .flags = call->flags};
    int result = emit_details(replay, call->begin);

    if (result == 0 && lane->details != NULL) {
        joined_details_expect_begin(lane->details, call);
        result = emit_own(replay, lane, 0);
    }
    if (result != 0)
        return result;
    replay->last_time = call->begin;
    if (call->begin > replay->options->to)
        return ENOUGH;
    open.function =
        view_functions_number(replay->functions, replay->trace->threads[thread].process, call->function, call->begin);
    if (open.function == VIEW_NO_FUNCTION)
        return fail(replay);
    open.level = level_of(replay, lane, open.function);
    if (call->begin >= replay->options->from)
        emit_waiting(replay, thread, lane);
    open.arguments = find_arguments(replay, lane, call, &open);
    return open_call(replay, lane, &open);
}

/* What the detail lane knows of the end is better than what is guessed. */
static void add_details(struct replayed_lane *lane, const struct view_call *call, struct replay_row *row)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;
    struct joined_details_end end;

    if (lane->details == NULL)
        return;
    detail_text_init(&text, bytes, sizeof(bytes));
    end = joined_details_end(lane->details, call, &text);
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
    struct replayed_lane *lane = &replay->lanes[thread];
    struct replay_row row = {.flags = call->flags, .time = call->end, .ticks = view_call_ticks(call)};
    int result = emit_details(replay, call->end);

    if (result == 0 && lane->details != NULL) {
        joined_details_expect_end(lane->details, call);
        result = emit_own(replay, lane, 0);
    }
    if (result != 0)
        return result;
    replay->last_time = call->end;
    if (call->end > replay->options->to)
        return ENOUGH;
    end_inner_own(replay, lane, 0, call->end, call->flags & CALL_CUT ? CALL_CUT : CALL_NO_RETURN);
    if (lane->open_count == 0)
        return 0;
    add_details(lane, call, &row);
    close_call(replay, lane, &row);
    return replay->rows.result != 0 ? ENOUGH : 0;
}

static int take_gap(void *context, size_t thread, uint64_t time, uint64_t lost_bytes)
{
    struct replay *replay = context;
    int result = emit_details(replay, time);

    if (result != 0)
        return result;
    replay->last_time = time;
    if (time > replay->options->to)
        return ENOUGH;
    if (replay->lanes[thread].details != NULL)
        joined_details_lose(replay->lanes[thread].details);
    if (time >= replay->options->from)
        replay_rows_put(
            &replay->rows,
            &(struct replay_row){.kind = REPLAY_GAP, .thread = thread, .time = time, .lost_bytes = lost_bytes});
    return replay->rows.result != 0 ? ENOUGH : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int begin_lanes(struct replay *replay, const size_t *threads, size_t count)
{
    replay->threads = threads;
    replay->thread_count = count;
    replay->next_detail = replay->next_system_call = replay->next_probe = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        struct replayed_lane *lane = &replay->lanes[threads[i]];

        lane->thread = threads[i];
        if (joined_details_create(&lane->details, threads[i], replay->functions, &replay->arguments) != 0)
            return -ENOMEM;
        if (detail_reader_create(&lane->probes, replay->trace, threads[i]) != 0)
            return -ENOMEM;
        if (system_call_reader_create(&lane->system_calls, replay->trace, threads[i]) != 0)
            return -ENOMEM;
        if (lane->details != NULL)
            replay->next_detail = replay->next_system_call = replay->next_probe = 0;
    }
    return 0;
}

/* Behind the last event. */
static void end_lanes(struct replay *replay)
{
    if (emit_details(replay, UINT64_MAX) != 0)
        return;
    for (size_t i = 0; i < replay->thread_count; i++)
        end_inner_own(replay, &replay->lanes[replay->threads[i]], 0, replay->last_time, CALL_CUT);
}

static int read_threads(struct replay *replay, const size_t *threads, size_t count, struct gait_error *err)
{
    struct merged_receiver receiver = {take_begin, take_end, take_gap, replay, 0};
    uint64_t to = replay->options->to;
    int result = begin_lanes(replay, threads, count);

    if (result != 0)
        return result;
    /* Details are joined to calls in their order, from the first one on. */
    if (replay->next_detail == UINT64_MAX)
        receiver.skip_before = replay->options->from;
    result = call_merge_read(replay->trace, threads, count, &receiver, err);
    if (result == ENOUGH)
        result = 0;
    else
        end_lanes(replay);
    (void)!replay_rows_finish(&replay->rows, replay->last_time < to ? replay->last_time : to);
    return result;
}

static int read_each(struct replay *replay, struct gait_error *err)
{
    const struct replay_options *options = replay->options;
    int first_result = 0;

    for (size_t i = 0; i < options->thread_count && replay->rows.result == 0 && replay->error == 0; i++) {
        struct gait_error why = {.code = 0};
        int result;

        replay->last_time = 0;
        replay_rows_put(&replay->rows, &(struct replay_row){.kind = REPLAY_THREAD, .thread = options->threads[i]});
        result = read_threads(replay, &options->threads[i], 1, &why);
        first_result = first_result == 0 ? result : first_result;
        if (stream_error_outweighs(&why, err))
            *err = why;
    }
    return first_result;
}

static int begin(struct replay *replay)
{
    int result = call_arguments_init(&replay->arguments, &replay->functions->names);

    if (result != 0)
        return result;
    replay->lanes = calloc(replay->trace->thread_count + replay->trace->silent_count + 1, sizeof(*replay->lanes));
    if (replay->lanes != NULL)
        return 0;
    call_arguments_deinit(&replay->arguments);
    return -ENOMEM;
}

static void end(struct replay *replay)
{
    for (size_t i = 0; i < replay->trace->thread_count + replay->trace->silent_count; i++)
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
