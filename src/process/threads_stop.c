/* SPDX-License-Identifier: MIT */
/*
 * Stopping all threads by way of one helper process. The caller lists the threads, the helper stops those of the list,
 * and this goes on until a list has no new thread on it: a thread that stands still starts no other. Threads are asked
 * all at once and waited for afterwards, so that they stop side by side.
 *
 * Memory for both is made for some more threads than there are. Should even more come, all go on and it is
 * tried again with more of it. The helper does not give up once it has reported that all stand still: half a change
 * would be worse than a caller who takes long.
 *
 * Neighbours: tracing_helper.c, the helper's life and the lock; thread_tracing.c, what it does to a thread.
 */
#include "process/threads_stop.h"

#include "process/futex.h"
#include "process/thread_list.h"
#include "process/thread_tracing.h"
#include "process/tracing_helper.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define STOP_TIMEOUT_MS 2000u
#define PATIENCE        5u
#define END_TIMEOUT_MS  10000u
#define ROOM_FOR_MORE   32u

/* No errno numbers: what nobody outside gets to see. */
#define CROWDED   (-4096)
#define NO_ANSWER (-4097)

enum hold {
    HOLD_WANTED, /* the helper is to stop it */
    HOLD_SEIZED,
    HOLD_STOPPED,
    HOLD_REFUSED, /* it may not be traced, perhaps because it is ending; the caller finds out */
    HOLD_GONE,
};

struct held_thread {
    struct traced_thread traced;
    struct stopped_thread shown;
    enum hold hold;
};

struct threads_exchange {
    struct tracing_helper helper;
    size_t capacity;
    size_t count;
    struct stopped_thread *shown; /* the same threads for `change`, without those that are gone */
    struct held_thread threads[];
};

/* ---- the helper ------------------------------------------------------------------------------------------------- */

/* Asks the caller for help, once in each round. */
UNSANITIZED static int seize(struct threads_exchange *exchange, struct held_thread *thread)
{
    struct tracing_helper *helper = &exchange->helper;
    int result = thread_tracing_seize(&thread->traced, helper->process);
    uint32_t phase = atomic_load_explicit(&helper->phase, memory_order_relaxed);

    if (result != -EPERM || phase == CALLER_RETRY)
        return result;
    (void)tracing_helper_set_phase(helper, phase, HELPER_REFUSED);
    if (tracing_helper_wait(helper, HELPER_REFUSED, STOP_TIMEOUT_MS) != CALLER_RETRY)
        return -EPERM;
    return thread_tracing_seize(&thread->traced, helper->process);
}

UNSANITIZED static int ask(struct threads_exchange *exchange, struct held_thread *thread)
{
    int result = seize(exchange, thread);

    if (result == 0)
        result = thread_tracing_interrupt(&thread->traced);
    thread->hold = result == -ESRCH ? HOLD_GONE : result == -EPERM ? HOLD_REFUSED : HOLD_SEIZED;
    return result == -ESRCH || result == -EPERM ? 0 : result;
}

UNSANITIZED static int await(struct held_thread *thread)
{
    int result = thread_tracing_wait(&thread->traced);

    if (result == 0)
        result = thread_tracing_read(&thread->traced);
    thread->hold = result == -ESRCH ? HOLD_GONE : HOLD_STOPPED;
    if (result == -ESRCH)
        thread_tracing_bury(&thread->traced);
    return result == -ESRCH ? 0 : result;
}

UNSANITIZED static int stop_wanted(struct threads_exchange *exchange)
{
    int result = 0;

    for (size_t i = 0; i < exchange->count && result == 0; i++)
        if (exchange->threads[i].hold == HOLD_WANTED)
            result = ask(exchange, &exchange->threads[i]);
    for (size_t i = 0; i < exchange->count && result == 0; i++)
        if (exchange->threads[i].hold == HOLD_SEIZED)
            result = await(&exchange->threads[i]);
    return result;
}

/* Tells the caller and waits for what it wants. */
UNSANITIZED static uint32_t show(struct tracing_helper *helper)
{
    uint32_t phase = atomic_load_explicit(&helper->phase, memory_order_relaxed);

    (void)tracing_helper_set_phase(helper, phase, HELPER_STOPPED);
    return tracing_helper_wait(helper, HELPER_STOPPED, 0);
}

/* The first error, after all have been written. A thread that was killed meanwhile needs no registers. */
UNSANITIZED static int write_changed(struct threads_exchange *exchange)
{
    int result = 0;

    for (size_t i = 0; i < exchange->count; i++) {
        struct held_thread *thread = &exchange->threads[i];

        if (thread->hold == HOLD_STOPPED && thread->shown.is_changed) {
            int written = thread_tracing_write(&thread->traced);

            if (result == 0 && written != -ESRCH)
                result = written;
        }
    }
    return result;
}

UNSANITIZED static void stop_and_show(struct tracing_helper *helper)
{
    struct threads_exchange *exchange = (struct threads_exchange *)helper;
    uint32_t phase;
    int result;

    do {
        result = stop_wanted(exchange);
        phase = result == 0 ? show(helper) : (uint32_t)HELPER_GONE;
    } while (phase == CALLER_MORE);
    if (phase == CALLER_WRITE)
        result = write_changed(exchange);
    helper->outcome = result;
    for (size_t i = 0; i < exchange->count; i++)
        thread_tracing_release(&exchange->threads[i].traced);
}

/* ---- the caller ------------------------------------------------------------------------------------------------- */

struct thread_listing {
    struct threads_exchange *exchange;
    int self;
    size_t visited_count;
    size_t new_count;
    bool is_doubtful; /* somebody on it is ending, so others may be missing */
};

static bool is_known(const struct threads_exchange *exchange, int tid)
{
    for (size_t i = 0; i < exchange->count; i++)
        if (exchange->threads[i].traced.tid == tid && exchange->threads[i].hold != HOLD_GONE)
            return true;
    return false;
}

/* A tid that is gone may be listed for a moment more, or be another thread's by now. */
static bool has_gone(const struct threads_exchange *exchange, int tid)
{
    for (size_t i = 0; i < exchange->count; i++)
        if (exchange->threads[i].traced.tid == tid)
            return !thread_exists(tid);
    return false;
}

/* A main thread that has ended stays on the list as long as the process lives. */
static bool add_if_new(void *context, int tid)
{
    struct thread_listing *listing = context;
    struct threads_exchange *exchange = listing->exchange;

    listing->visited_count++;
    if (tid == listing->self || is_known(exchange, tid))
        return true;
    if (has_gone(exchange, tid)) {
        listing->is_doubtful |= tid != exchange->helper.process;
        return true;
    }
    listing->new_count++;
    if (exchange->count == exchange->capacity)
        return false;
    thread_tracing_init(&exchange->threads[exchange->count].traced, tid);
    exchange->threads[exchange->count].hold = HOLD_WANTED;
    exchange->count++;
    return true;
}

/* A thread that is ending may not be traced; then it is gone. */
static int look_at_refused(struct threads_exchange *exchange)
{
    for (size_t i = 0; i < exchange->count; i++) {
        struct held_thread *thread = &exchange->threads[i];

        if (thread->hold != HOLD_REFUSED)
            continue;
        if (thread_exists(thread->traced.tid))
            return -EPERM;
        thread->hold = HOLD_GONE;
    }
    return 0;
}

/*
 * When a thread ends while the kernel is listing it, the list may end there. A list is whole if there are no more
 * threads than it has, and none of it is ending: all that it has stand still, so they were there to be counted.
 */
static int is_whole(const struct thread_listing *listing, bool *whole_out)
{
    size_t count;
    int result = thread_list_count(&count);

    if (result == 0)
        *whole_out = count == listing->visited_count && !listing->is_doubtful;
    return result;
}

/* Adds those that nobody has stopped yet; how many there are. CROWDED: there is no room for all; -ETIMEDOUT. */
static int list_new(struct threads_exchange *exchange, size_t *new_out)
{
    struct futex_deadline deadline = futex_deadline_after(STOP_TIMEOUT_MS);
    size_t before = exchange->count;
    bool whole = false;

    do {
        struct thread_listing listing = {.exchange = exchange, .self = thread_current()};
        int result = thread_list_visit(add_if_new, &listing);

        *new_out = listing.new_count;
        if (result == 0 && listing.new_count > 0)
            return exchange->count - before < listing.new_count ? CROWDED : 0;
        if (result == 0)
            result = is_whole(&listing, &whole);
        if (result != 0 || whole)
            return result;
    } while (!futex_deadline_passed(&deadline));
    return -ETIMEDOUT;
}

static size_t collect_shown(struct threads_exchange *exchange)
{
    size_t count = 0;

    for (size_t i = 0; i < exchange->count; i++) {
        struct held_thread *thread = &exchange->threads[i];

        if (thread->hold == HOLD_STOPPED)
            exchange->shown[count++] = (struct stopped_thread){thread->traced.tid, false, &thread->traced.registers};
    }
    return count;
}

static void take_over_marks(struct threads_exchange *exchange)
{
    size_t shown = 0;

    for (size_t i = 0; i < exchange->count; i++)
        if (exchange->threads[i].hold == HOLD_STOPPED)
            exchange->threads[i].shown.is_changed = exchange->shown[shown++].is_changed;
}

/* Whether one that is asked for waits for something that nobody can interrupt. */
static bool is_hopeless(const struct threads_exchange *exchange)
{
    for (size_t i = 0; i < exchange->count; i++) {
        enum thread_state state;

        if (exchange->threads[i].hold == HOLD_SEIZED &&
            thread_state_read(exchange->threads[i].traced.tid, &state) == 0 && state == THREAD_UNINTERRUPTIBLE)
            return true;
    }
    return false;
}

/* On a system with too much to do, stopping takes its time. */
static uint32_t wait_for_stop(struct threads_exchange *exchange, enum helper_phase from)
{
    struct tracing_helper *helper = &exchange->helper;
    uint32_t phase = from;

    for (unsigned i = 0; i < PATIENCE && phase == from; i++) {
        phase = tracing_helper_wait(helper, from, STOP_TIMEOUT_MS);
        if (phase == from && is_hopeless(exchange))
            break;
    }
    return phase == HELPER_REFUSED ? tracing_helper_allow(helper, STOP_TIMEOUT_MS) : phase;
}

/* Until a listing has nobody new. CROWDED: there is no room for all; NO_ANSWER: ask the helper why. */
static int stop_all(struct threads_exchange *exchange)
{
    struct tracing_helper *helper = &exchange->helper;
    uint32_t phase = wait_for_stop(exchange, HELPER_STARTING);

    while (phase == HELPER_STOPPED) {
        size_t new_count = 0;
        int result = look_at_refused(exchange);

        if (result == 0)
            result = list_new(exchange, &new_count);
        if (result != 0 || new_count == 0)
            return result;
        (void)tracing_helper_set_phase(helper, HELPER_STOPPED, CALLER_MORE);
        phase = wait_for_stop(exchange, CALLER_MORE);
    }
    return NO_ANSWER;
}

static int stop_and_change(struct threads_exchange *exchange, threads_change change, void *context)
{
    struct tracing_helper *helper = &exchange->helper;
    int result = stop_all(exchange);
    int outcome;

    if (result != 0) {
        (void)tracing_helper_set_phase(helper, HELPER_STOPPED, CALLER_LEAVE);
        outcome = tracing_helper_end(helper, result == NO_ANSWER ? 0 : END_TIMEOUT_MS);
        return result == NO_ANSWER ? outcome : result;
    }
    result = change(context, exchange->shown, collect_shown(exchange));
    take_over_marks(exchange);
    (void)tracing_helper_set_phase(helper, HELPER_STOPPED, CALLER_WRITE);
    outcome = tracing_helper_end(helper, END_TIMEOUT_MS);
    return result != 0 ? result : outcome;
}

static int create(size_t capacity, struct threads_exchange **exchange_out)
{
    size_t threads_bytes = capacity * sizeof(struct held_thread);
    size_t struct_bytes = sizeof(struct threads_exchange) + threads_bytes + capacity * sizeof(struct stopped_thread);
    struct tracing_helper *helper;
    int result = tracing_helper_create(struct_bytes, &helper);

    if (result != 0)
        return result;
    *exchange_out = (struct threads_exchange *)helper;
    (*exchange_out)->capacity = capacity;
    (*exchange_out)->shown = (struct stopped_thread *)(void *)((uint8_t *)(*exchange_out)->threads + threads_bytes);
    return 0;
}

/* CROWDED: there were more threads than `capacity`. */
static int try_with_room(size_t capacity, threads_change change, void *context)
{
    struct threads_exchange *exchange;
    size_t new_count;
    int result = create(capacity, &exchange);

    if (result != 0)
        return result;
    result = list_new(exchange, &new_count);
    if (result == 0 && new_count > 0) {
        result = tracing_helper_start(&exchange->helper, stop_and_show);
        return result != 0 ? result : stop_and_change(exchange, change, context);
    }
    tracing_helper_discard(&exchange->helper);
    return result != 0 ? result : change(context, NULL, 0);
}

static int stop_locked(threads_change change, void *context)
{
    size_t count;
    int result;

    do {
        result = thread_list_read(NULL, 0, &count);
        if (result == 0)
            result = try_with_room(count + count / 2 + ROOM_FOR_MORE, change, context);
    } while (result == CROWDED);
    return result;
}

int threads_stop(threads_change change, void *context)
{
    uint64_t signals;
    int result = tracing_helper_enter(&signals);

    if (result != 0)
        return result;
    result = stop_locked(change, context);
    tracing_helper_leave(signals);
    return result;
}
