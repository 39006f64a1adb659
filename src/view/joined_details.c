/* SPDX-License-Identifier: MIT */
/*
 * Calls and their records are in the same order, each in its own stream. What joins them is where the call returns to,
 * which a record has and which is right behind the call instruction. There are records of calls that nobody told, from
 * code that was left out or by a jump, so a call looks for its record among the next ones, but not beyond the end of a
 * call that is open. A stub calls nobody but jumps, so the record of what it jumps to is that of the call of the stub.
 * Times of records are exact. Those of events may be guesses, which may be wrong by as long as the thread has slept:
 * then only the order counts.
 */
#include "view/joined_details.h"

#include "gait/instruction.h"
#include "hosted/growing_array.h"
#include "trace/stream_reader.h"
#include "view/detail_reader.h"
#include "view/guessed_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes the call of a stub has, which says itself where it goes, on any CPU. */
#define DIRECT_CALL_MIN 4u
#define DIRECT_CALL_MAX 6u

/* Where times are guesses, and no more records can be looked at, the first one is nobody's if it is so much too early.
 */
#define GUESS_ERROR_NS 1e9

/* The same of the first record behind others that are missing: there is a mark every millisecond. */
#define MARK_ERROR_NS 2e6

/*
 * How much later than a call its record may be: on a busy machine the thread may have had no CPU in between. Less where
 * records are missing, so that it may well be another call's.
 */
#define LATE_NS     1e9
#define LATE_GAP_NS 2e7

/* How many records are looked at for a call's. */
#define AHEAD_MAX 1024u

/* Records ahead are counted by where their calls return to, in so many slots; a power of two. */
#define RETURN_SLOTS 4096u

struct ahead {
    bool is_behind_gap;
    uint32_t size_bytes;
    _Alignas(8) uint8_t bytes[];
};

struct joined_call {
    bool is_known; /* a record began it: */
    uint16_t depth;
    uint64_t entered_time;
};

struct joined_details {
    const struct view_trace *trace;
    size_t process;
    struct view_functions *functions;
    struct call_arguments *arguments;
    struct detail_reader *reader;
    bool has_gap;                   /* before a record that was passed over, since it is of no call */
    struct ahead *ahead[AHEAD_MAX]; /* a circle */
    size_t first;
    size_t ahead_count;
    uint16_t returns[RETURN_SLOTS];
    struct joined_call *open;
    size_t open_count;
    size_t capacity;
    uint64_t *own; /* of calls that no event tells of, and that are open: when they began */
    size_t own_count;
    size_t own_capacity;
    size_t own_ahead;     /* so many of the records ahead are not of calls that events tell of */
    bool is_guessed;      /* times of events are */
    uint64_t guess_error; /* ticks */
    uint64_t mark_error;  /* the same */
    uint64_t late;        /* the same */
    uint64_t late_gap;    /* the same */
    bool is_behind_loss;  /* events are missing before the next one */
    uint64_t now;         /* of the event that is expected */
    uint64_t own_until;   /* records before that time are not of calls that events tell of */
};

/* ---- records ahead ----------------------------------------------------------------------------------------------- */

static struct detail_item item_at(const struct joined_details *details, size_t which)
{
    const struct ahead *ahead = details->ahead[(details->first + which) % AHEAD_MAX];
    struct detail_item item = {.bytes = ahead->bytes, .is_behind_gap = ahead->is_behind_gap};

    memcpy(&item.record, ahead->bytes, sizeof(item.record));
    return item;
}

static uint16_t *slot_of(struct joined_details *details, uint64_t caller)
{
    return &details->returns[(caller * 0x9e3779b97f4a7c15u) >> 52];
}

/* The first one is nobody's any more. */
static void pass(struct joined_details *details)
{
    struct detail_item item = item_at(details, 0);

    if (item.record.kind == DETAIL_ENTER)
        --*slot_of(details, detail_item_enter(&item).caller);
    details->own_ahead -= details->own_ahead != 0;
    free(details->ahead[details->first]);
    details->first = (details->first + 1) % AHEAD_MAX;
    details->ahead_count--;
}

static void pass_many(struct joined_details *details, size_t count)
{
    while (count-- > 0)
        pass(details);
}

/* The next record of a call; those of system calls and probes are others' business. */
static const struct detail_item *peek(struct joined_details *details)
{
    const struct detail_item *item;

    while ((item = detail_reader_peek(details->reader)) != NULL && item->record.kind > DETAIL_STACK) {
        details->has_gap |= item->is_behind_gap;
        detail_reader_pass(details->reader);
    }
    return item;
}

/* Without memory, fewer are looked at. */
static void look_ahead(struct joined_details *details)
{
    const struct detail_item *item;

    while (details->ahead_count < AHEAD_MAX && (item = peek(details)) != NULL) {
        uint32_t size = item->record.size_bytes;
        struct ahead *ahead = malloc(sizeof(*ahead) + size);

        if (ahead == NULL)
            return;
        ahead->is_behind_gap = item->is_behind_gap || details->has_gap;
        details->has_gap = false;
        ahead->size_bytes = size;
        memcpy(ahead->bytes, item->bytes, size);
        if (item->record.kind == DETAIL_ENTER)
            ++*slot_of(details, detail_item_enter(item).caller);
        details->ahead[(details->first + details->ahead_count++) % AHEAD_MAX] = ahead;
        detail_reader_pass(details->reader);
    }
}

/* Whether one of them may return behind that call instruction. */
static bool may_return_behind(struct joined_details *details, uint64_t site)
{
    for (unsigned i = 1; i <= GAIT_INSTRUCTION_BYTES_MAX; i++)
        if (*slot_of(details, site + i) != 0)
            return true;
    return site == 0;
}

int joined_details_create(struct joined_details **details_out, size_t thread, struct view_functions *functions,
                          struct call_arguments *arguments)
{
    struct joined_details *details;
    struct detail_reader *reader;
    int result = detail_reader_create(&reader, functions->trace, thread);

    if (result != 0)
        return result;
    *details_out = NULL;
    if (reader == NULL)
        return 0;
    details = calloc(1, sizeof(*details));
    if (details == NULL) {
        detail_reader_destroy(reader);
        return -ENOMEM;
    }
    details->trace = functions->trace;
    details->process = functions->trace->threads[thread].process;
    details->functions = functions;
    details->arguments = arguments;
    details->reader = reader;
    details->is_guessed = guessed_times_of_thread(functions->trace, thread);
    details->guess_error = (uint64_t)(GUESS_ERROR_NS / view_clock_tick_ns(&functions->trace->clock));
    details->mark_error = (uint64_t)(MARK_ERROR_NS / view_clock_tick_ns(&functions->trace->clock));
    details->late = (uint64_t)(LATE_NS / view_clock_tick_ns(&functions->trace->clock));
    details->late_gap = (uint64_t)(LATE_GAP_NS / view_clock_tick_ns(&functions->trace->clock));
    *details_out = details;
    return 0;
}

void joined_details_destroy(struct joined_details *details)
{
    if (details == NULL)
        return;
    while (details->ahead_count > 0)
        pass(details);
    detail_reader_destroy(details->reader);
    free(details->open);
    free(details->own);
    free(details);
}

/* NULL: there is no memory to number it. */
static const struct view_function *function_at(struct joined_details *details, uint64_t address, uint64_t time)
{
    uint32_t number = view_functions_number(details->functions, details->process, address, time);

    return number == VIEW_NO_FUNCTION ? NULL : view_functions_at(details->functions, number);
}

static const struct recorded_module *module_of(struct joined_details *details, const struct detail_record *record)
{
    const struct view_function *function = function_at(details, record->function, record->time);

    return function == NULL ? NULL : function->module;
}

static bool is_stub(struct joined_details *details, const struct view_call *call)
{
    const struct view_function *function = function_at(details, call->function, call->begin);

    return function != NULL && strstr(function->name, "@plt") != NULL;
}

static bool is_of_call(struct joined_details *details, const struct view_call *call, const struct detail_item *item)
{
    uint64_t call_bytes = detail_item_enter(item).caller - call->site;

    if (item->record.function == call->function)
        return call->site == 0 || call_bytes - 1 < GAIT_INSTRUCTION_BYTES_MAX;
    /* Another call of a stub may follow within a few bytes, so this has to be more exact. */
    return call->site != 0 && call_bytes >= DIRECT_CALL_MIN && call_bytes <= DIRECT_CALL_MAX && is_stub(details, call);
}

static bool is_of_open_call(const struct joined_details *details, uint64_t entered_time)
{
    for (size_t i = details->open_count; i-- > 0;)
        if (details->open[i].is_known && details->open[i].entered_time == entered_time)
            return true;
    return false;
}

/* The place of one that no event tells of; own_count: it is none. */
static size_t find_own(const struct joined_details *details, uint64_t entered_time)
{
    for (size_t i = details->own_count; i-- > 0;)
        if (details->own[i] == entered_time)
            return i;
    return details->own_count;
}

static bool is_end(const struct detail_item *item)
{
    return item->record.kind == DETAIL_LEAVE || item->record.kind == DETAIL_LEFT;
}

/* Whether it ends a call that is open, so that what follows it is not within that. */
static bool is_barrier(const struct joined_details *details, const struct detail_item *item)
{
    uint64_t entered_time;

    if (!is_end(item))
        return false;
    entered_time = detail_item_leave(item).entered_time;
    return is_of_open_call(details, entered_time) || find_own(details, entered_time) < details->own_count;
}

/* Passes over what was before the call, and is nobody's that is open. */
static void pass_earlier(struct joined_details *details, const struct view_call *call)
{
    for (look_ahead(details); !details->is_guessed && details->ahead_count > 0; look_ahead(details)) {
        struct detail_item item = item_at(details, 0);

        if (item.record.time >= call->begin || is_barrier(details, &item))
            return;
        pass(details);
    }
}

/* Whether a record is too late to be of the call; where only the order counts, a gap in it has to be bridged by time.
 */
static bool is_too_late(const struct joined_details *details, const struct view_call *call,
                        const struct detail_item *item)
{
    if (details->is_guessed)
        return item->is_behind_gap && item->record.time > call->begin + details->mark_error;
    return item->record.time > call->begin + (item->is_behind_gap ? details->late_gap : details->late);
}

/* Finds the record of a call that begins: the first that fits. False: there is none. */
static bool find_enter(struct joined_details *details, const struct view_call *call, size_t *which_out)
{
    pass_earlier(details, call);
    if (!may_return_behind(details, call->site))
        return false;
    for (size_t i = 0; i < details->ahead_count; i++) {
        struct detail_item item = item_at(details, i);

        if (is_barrier(details, &item) || is_too_late(details, call, &item))
            return false;
        if (item.record.kind == DETAIL_ENTER && is_of_call(details, call, &item)) {
            *which_out = i;
            return true;
        }
    }
    return false;
}

/* The record is read, and passed over with those before it. */
static void take_enter(struct joined_details *details, size_t which, struct joined_call *open, struct detail_text *text)
{
    struct detail_item item = item_at(details, which);
    struct detail_enter enter = detail_item_enter(&item);

    *open = (struct joined_call){true, enter.record.depth, enter.record.time};
    call_arguments_put(details->arguments, module_of(details, &enter.record), &enter, item.bytes + sizeof(enter),
                       detail_record_values(item.bytes), text);
    pass_many(details, which + 1);
}

struct joined_details_begin joined_details_begin(struct joined_details *details, const struct view_call *call,
                                                 struct detail_text *text)
{
    struct joined_details_begin begin = {.is_known = false};
    size_t which;

    if (call->depth > details->open_count ||
        ARRAY_RESERVE(details->open, details->capacity, (size_t)call->depth + 1) != 0)
        return begin;
    details->open_count = call->depth;
    /* One that goes on has told its arguments when it began. */
    begin.is_known = !(call->flags & CALL_RESUMED) && find_enter(details, call, &which);
    details->open[details->open_count++] = (struct joined_call){.is_known = false};
    for (size_t i = 0; begin.is_known && i <= which; i++)
        begin.is_unsure |= item_at(details, i).is_behind_gap;
    if (begin.is_known)
        take_enter(details, which, &details->open[call->depth], text);
    return begin;
}

/* Finds the record of the end: the first one that is as deep as the call's, or less. False: that is another's. */
static bool find_leave(struct joined_details *details, const struct joined_call *call, size_t *which_out)
{
    look_ahead(details);
    for (size_t i = 0; i < details->ahead_count; i++) {
        struct detail_item item = item_at(details, i);

        if (item.record.kind == DETAIL_STACK)
            continue;
        if (item.record.kind != DETAIL_ENTER && detail_item_leave(&item).entered_time == call->entered_time) {
            *which_out = i;
            return true;
        }
        if (item.record.depth <= call->depth)
            return false;
    }
    return false;
}

static void take_leave(struct joined_details *details, size_t which, struct joined_details_end *end,
                       struct detail_text *text)
{
    struct detail_item item = item_at(details, which);
    struct detail_leave leave = detail_item_leave(&item);

    end->is_unwound = leave.record.kind == DETAIL_LEFT;
    end->ticks = leave.record.time > leave.entered_time ? leave.record.time - leave.entered_time : 0;
    if (!end->is_unwound)
        call_arguments_put_result(details->arguments, module_of(details, &leave.record), &leave,
                                  detail_record_values(item.bytes), text);
    pass_many(details, which + 1);
}

struct joined_details_end joined_details_end(struct joined_details *details, const struct view_call *call,
                                             struct detail_text *text)
{
    struct joined_details_end end = {.is_known = false};
    struct joined_call open;
    size_t which;

    if (call->depth >= details->open_count)
        return end;
    open = details->open[call->depth];
    details->open_count = call->depth;
    /* What was cut may go on, and so may its records. */
    end.is_known = open.is_known && !(call->flags & (CALL_CUT | CALL_SUSPENDED | CALL_ENTRY_ONLY)) &&
                   find_leave(details, &open, &which);
    if (end.is_known)
        take_leave(details, which, &end, text);
    return end;
}

/* ---- calls that no event tells of -------------------------------------------------------------------------------- */

uint64_t joined_details_next_time(struct joined_details *details)
{
    look_ahead(details);
    if (details->ahead_count == 0 || (details->is_guessed && details->ahead_count < AHEAD_MAX))
        return UINT64_MAX;
    return item_at(details, 0).record.time + (details->is_guessed ? details->guess_error : 0);
}

void joined_details_expect_begin(struct joined_details *details, const struct view_call *call)
{
    size_t which;

    details->now = call->begin;
    /* What is deeper has ended without a record. */
    if (details->open_count > call->depth)
        details->open_count = call->depth;
    /* The first event behind a gap has the time of its chunk, which is exact. */
    if (details->is_behind_loss)
        details->own_until = call->begin;
    details->is_behind_loss = false;
    if (details->is_guessed && !(call->flags & CALL_RESUMED) && call->begin > details->own_until &&
        find_enter(details, call, &which))
        details->own_ahead = which;
}

void joined_details_lose(struct joined_details *details)
{
    details->open_count = 0;
    details->is_behind_loss = true;
}

void joined_details_expect_end(struct joined_details *details, const struct view_call *call)
{
    size_t which;

    details->now = call->end;
    if (details->is_guessed && call->depth < details->open_count && details->open[call->depth].is_known &&
        !(call->flags & (CALL_CUT | CALL_SUSPENDED | CALL_ENTRY_ONLY)) &&
        find_leave(details, &details->open[call->depth], &which))
        details->own_ahead = which;
}

/* Records are missing next: what is open may go on, but nobody will tell. */
static bool is_cut(const struct joined_details *details)
{
    return details->own_count != 0 && details->ahead_count != 0 && item_at(details, 0).is_behind_gap;
}

static struct joined_details_own cut_own(struct joined_details *details)
{
    uint64_t entered = details->own[--details->own_count];

    return (struct joined_details_own){
        .is_cut = true, .entered = entered, .time = details->now > entered ? details->now : entered};
}

/* Behind the last event all is, wherever it stands. */
static bool has_own(struct joined_details *details, uint64_t time)
{
    uint64_t next = joined_details_next_time(details);

    if (details->ahead_count == 0)
        return false;
    return is_cut(details) || details->own_ahead != 0 || next < time || time == UINT64_MAX ||
           item_at(details, 0).record.time < details->own_until;
}

/* Without memory it is as if it had not begun. */
static bool add_own(struct joined_details *details, uint64_t entered_time)
{
    if (ARRAY_RESERVE(details->own, details->own_capacity, details->own_count + 1) != 0)
        return false;
    details->own[details->own_count++] = entered_time;
    return true;
}

static bool begin_own(struct joined_details *details, const struct detail_item *item, struct joined_details_own *own,
                      struct detail_text *text)
{
    struct detail_enter enter = detail_item_enter(item);

    if (!add_own(details, enter.record.time))
        return false;
    *own = (struct joined_details_own){.is_begin = true, .entered = enter.record.time};
    call_arguments_put(details->arguments, module_of(details, &enter.record), &enter, item->bytes + sizeof(enter),
                       detail_record_values(item->bytes), text);
    return true;
}

/* Those within it have ended as well, told or not. */
static bool end_own(struct joined_details *details, const struct detail_item *item, struct joined_details_own *own,
                    struct detail_text *text)
{
    struct detail_leave leave = detail_item_leave(item);
    size_t which = find_own(details, leave.entered_time);

    if (which == details->own_count)
        return false;
    details->own_count = which;
    *own = (struct joined_details_own){.is_unwound = leave.record.kind == DETAIL_LEFT, .entered = leave.entered_time};
    if (!own->is_unwound)
        call_arguments_put_result(details->arguments, module_of(details, &leave.record), &leave,
                                  detail_record_values(item->bytes), text);
    return true;
}

bool joined_details_take_own(struct joined_details *details, uint64_t time, struct joined_details_own *own_out,
                             struct detail_text *text)
{
    while (has_own(details, time)) {
        struct detail_item item = item_at(details, 0);
        bool is_own = false;

        if (is_cut(details)) {
            *own_out = cut_own(details);
            return true;
        }
        if (is_end(&item) && is_of_open_call(details, detail_item_leave(&item).entered_time))
            return false;
        if (item.record.kind == DETAIL_ENTER)
            is_own = begin_own(details, &item, own_out, text);
        else if (is_end(&item))
            is_own = end_own(details, &item, own_out, text);
        own_out->is_known = text->used != 0;
        own_out->function = item.record.function;
        own_out->time = item.record.time;
        pass(details);
        if (is_own)
            return true;
    }
    return false;
}
