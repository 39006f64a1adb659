/* SPDX-License-Identifier: MIT */
/*
 * A list of rows in the order of time. Its first row is told as soon as it is certain what it is, which for a call that
 * begins takes the row behind it; a call that turns out to be too short leaves the list, wherever it stands.
 */
#include "view/replay_rows.h"

#include "view/call_tracker.h"

#include <errno.h>
#include <stdlib.h>

struct held_row {
    struct held_row *previous;
    struct held_row *next;
    struct replay_row row;
    uint64_t ticket;     /* of a call that begins, or ends; else 0 */
    bool is_begin;       /* it begins */
    bool may_be_dropped; /* it has not lasted long enough yet */
};

void replay_rows_init(struct replay_rows *rows, const struct replay_receiver *receiver, uint64_t min_ticks)
{
    *rows = (struct replay_rows){.receiver = *receiver, .min_ticks = min_ticks, .next_ticket = 1};
}

static void free_texts(struct replay_row *row)
{
    free(row->arguments);
    free(row->result);
    row->arguments = row->result = NULL;
}

static void take_out(struct replay_rows *rows, struct held_row *held)
{
    *(held->previous == NULL ? &rows->first : &held->previous->next) = held->next;
    *(held->next == NULL ? &rows->last : &held->next->previous) = held->previous;
    free_texts(&held->row);
    held->next = rows->spare;
    rows->spare = held;
}

void replay_rows_deinit(struct replay_rows *rows)
{
    while (rows->first != NULL)
        take_out(rows, rows->first);
    while (rows->spare != NULL) {
        struct held_row *held = rows->spare;

        rows->spare = held->next;
        free(held);
    }
}

/* NULL: there is no memory. */
static struct held_row *append(struct replay_rows *rows, const struct replay_row *row)
{
    struct held_row *held = rows->spare;

    if (held != NULL)
        rows->spare = held->next;
    else
        held = malloc(sizeof(*held));
    if (held == NULL) {
        struct replay_row lost = *row;

        free_texts(&lost);
        rows->result = -ENOMEM;
        return NULL;
    }
    *held = (struct held_row){.previous = rows->last, .row = *row};
    *(rows->last == NULL ? &rows->first : &rows->last->next) = held;
    rows->last = held;
    return held;
}

static void emit_first(struct replay_rows *rows)
{
    if (rows->result == 0)
        rows->result = rows->receiver.row(rows->receiver.context, &rows->first->row);
    take_out(rows, rows->first);
}

static void emit_leaf(struct replay_rows *rows)
{
    struct held_row *begin = rows->first, *end = begin->next;
    struct replay_row *row = &begin->row;

    row->kind = REPLAY_LEAF;
    row->ticks = end->row.ticks;
    row->flags = end->row.flags;
    row->result = end->row.result;
    end->row.result = NULL;
    take_out(rows, end);
    emit_first(rows);
}

/* Whether it is certain that the row stays. */
static bool is_certain(const struct replay_rows *rows, struct held_row *held, uint64_t time)
{
    if (held->may_be_dropped && time - held->row.time >= rows->min_ticks && time >= held->row.time)
        held->may_be_dropped = false;
    return !held->may_be_dropped;
}

/* Tells all of which it is certain at that time what they are. */
static void emit(struct replay_rows *rows, uint64_t time)
{
    struct held_row *first;

    while ((first = rows->first) != NULL && is_certain(rows, first, time)) {
        if (!first->is_begin) {
            emit_first(rows);
        } else if (first->next == NULL || !is_certain(rows, first->next, time)) {
            return;
        } else if (!first->next->is_begin && first->next->ticket == first->ticket) {
            emit_leaf(rows);
        } else {
            emit_first(rows);
        }
    }
}

struct replay_ticket replay_rows_begin(struct replay_rows *rows, const struct replay_row *row)
{
    struct replay_ticket ticket = {rows->next_ticket++, append(rows, row)};

    if (ticket.row == NULL)
        return ticket;
    ticket.row->row.kind = REPLAY_OPEN;
    ticket.row->ticket = ticket.number;
    ticket.row->is_begin = true;
    /* Of a guess it is not known whether it is long enough: it stays. */
    ticket.row->may_be_dropped = rows->min_ticks != 0 && !(row->flags & CALL_GUESSED);
    emit(rows, row->time);
    return ticket;
}

/* Calls are told in the order of their numbers. */
static bool is_held(const struct replay_rows *rows, struct replay_ticket ticket)
{
    const struct held_row *held = rows->first;

    while (held != NULL && !held->is_begin)
        held = held->next;
    return held != NULL && ticket.number >= held->ticket;
}

void replay_rows_end(struct replay_rows *rows, struct replay_ticket ticket, const struct replay_row *row)
{
    struct replay_row end = *row;
    struct held_row *held;

    if (ticket.row != NULL && is_held(rows, ticket)) {
        if (row->ticks < rows->min_ticks && ticket.row->may_be_dropped &&
            !(row->flags & (CALL_GUESSED | CALL_ENTRY_ONLY))) {
            take_out(rows, ticket.row);
            free_texts(&end);
            emit(rows, row->time);
            return;
        }
        ticket.row->may_be_dropped = false;
    }
    end.kind = REPLAY_CLOSE;
    held = append(rows, &end);
    if (held == NULL)
        return;
    held->ticket = ticket.number;
    emit(rows, row->time);
}

void replay_rows_put(struct replay_rows *rows, const struct replay_row *row)
{
    if (append(rows, row) != NULL)
        emit(rows, row->time);
}

int replay_rows_finish(struct replay_rows *rows, uint64_t time)
{
    for (struct held_row *held = rows->first, *next; held != NULL; held = next) {
        next = held->next;
        if (!is_certain(rows, held, time))
            take_out(rows, held);
    }
    emit(rows, time);
    while (rows->first != NULL)
        emit_first(rows);
    return rows->result;
}
