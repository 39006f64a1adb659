/* SPDX-License-Identifier: MIT */
/*
 * Executable memory near code: pieces that run, in reach, and chunks that go when nobody is in them. Sanitizers take
 * most addresses for themselves.
 * configurations: debug-*
 */
#include "process/near_memory.h"

#include "base/address.h"
#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>

/* mov eax, 42; ret */
static const uint8_t answer[] = {0xb8, 42, 0, 0, 0, 0xc3};

static struct near_memory memory;
static struct near_piece *forgotten[4];
static size_t forgotten_count;

static void forget(void *context, struct near_piece *piece)
{
    (void)context;
    forgotten[forgotten_count++] = piece;
}

static void put_piece(struct near_piece *piece, uint64_t near)
{
    struct near_chunk *chunk;

    CHECK_EQUAL(near_memory_begin(&memory, near, sizeof(answer), &chunk), 0);
    code_writer_put_bytes(&chunk->writer, answer, sizeof(answer));
    CHECK_EQUAL(near_memory_end(chunk, piece), 0);
}

static uint64_t here(void)
{
    return (uintptr_t)put_piece;
}

static void pieces_run_and_are_in_reach(enum code_view_mode mode)
{
    struct near_piece pieces[3];

    near_memory_init(&memory, mode, 0);
    for (int i = 0; i < 3; i++)
        put_piece(&pieces[i], here());
    CHECK_EQUAL(near_memory_commit(&memory), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(((int (*)(void))(uintptr_t)pieces[i].start)(), 42);
        CHECK_EQUAL(pieces[i].size_bytes, sizeof(answer));
        CHECK_EQUAL(pieces[i].start % 16, 0);
        CHECK(address_fits_rel32(here(), pieces[i].start));
        CHECK(near_memory_contains(&memory, pieces[i].start));
    }
    CHECK(!near_memory_contains(&memory, here()));
    put_piece(&pieces[0], here());
    CHECK_EQUAL(near_memory_commit(&memory), 0);
    CHECK_EQUAL(((int (*)(void))(uintptr_t)pieces[0].start)(), 42);
    CHECK_EQUAL(((int (*)(void))(uintptr_t)pieces[1].start)(), 42);
    near_memory_deinit(&memory);
}

static void pieces_run_in_all_modes(void)
{
    pieces_run_and_are_in_reach(CODE_VIEW_AUTO);
    pieces_run_and_are_in_reach(CODE_VIEW_DUAL);
    pieces_run_and_are_in_reach(CODE_VIEW_FREEZE);
}

static void places_far_from_each_other_get_chunks_of_their_own(void)
{
    struct near_piece pieces[3];
    uint64_t far = here() < (UINT64_C(1) << 45) ? UINT64_C(1) << 46 : UINT64_C(1) << 44;

    near_memory_init(&memory, CODE_VIEW_AUTO, 0);
    put_piece(&pieces[0], here());
    put_piece(&pieces[1], far);
    put_piece(&pieces[2], here());
    CHECK(pieces[0].chunk != pieces[1].chunk);
    CHECK(pieces[0].chunk == pieces[2].chunk);
    CHECK(address_fits_rel32(far, pieces[1].start));
    CHECK_EQUAL(near_memory_commit(&memory), 0);
    near_memory_deinit(&memory);
}

static void a_piece_that_was_cancelled_leaves_no_trace(void)
{
    struct near_piece piece, next;
    struct near_chunk *chunk;

    near_memory_init(&memory, CODE_VIEW_AUTO, 0);
    put_piece(&piece, here());
    CHECK_EQUAL(near_memory_begin(&memory, here(), 100, &chunk), 0);
    code_writer_put_u64(&chunk->writer, 0);
    near_memory_cancel(chunk);
    put_piece(&next, here());
    CHECK_EQUAL(next.start - piece.start, 16);
    CHECK_EQUAL(near_memory_begin(&memory, here(), (size_t)1 << 30, &chunk), -EINVAL);
    CHECK_EQUAL(near_memory_commit(&memory), 0);
    near_memory_deinit(&memory);
}

static bool everybody_is_there(uint64_t start, uint64_t end)
{
    return start < end;
}

static void a_chunk_goes_when_all_is_released_and_nobody_is_in_it(void)
{
    struct near_piece pieces[2];
    uint64_t low, high;

    near_memory_init(&memory, CODE_VIEW_AUTO, 0);
    forgotten_count = 0;
    put_piece(&pieces[0], here());
    put_piece(&pieces[1], here());
    CHECK_EQUAL(near_memory_commit(&memory), 0);
    near_memory_release(&pieces[0]);
    near_memory_release(&pieces[0]);
    CHECK(!near_memory_begin_reclaim(&memory, &low, &high));
    near_memory_release(&pieces[1]);
    CHECK(near_memory_begin_reclaim(&memory, &low, &high));
    CHECK(low <= pieces[0].start && high > pieces[1].start);
    near_memory_note_busy(&memory, pieces[0].start + 2);
    CHECK_EQUAL(near_memory_end_reclaim(&memory, forget, NULL), 0);
    CHECK(near_memory_begin_reclaim(&memory, &low, &high));
    near_memory_ask_busy(&memory, everybody_is_there);
    CHECK_EQUAL(near_memory_end_reclaim(&memory, forget, NULL), 0);
    CHECK(near_memory_begin_reclaim(&memory, &low, &high));
    near_memory_note_all_busy(&memory);
    CHECK_EQUAL(near_memory_end_reclaim(&memory, forget, NULL), 0);
    CHECK_EQUAL(((int (*)(void))(uintptr_t)pieces[0].start)(), 42);
    CHECK(near_memory_begin_reclaim(&memory, &low, &high));
    near_memory_note_busy(&memory, low - 1);
    CHECK_EQUAL(near_memory_end_reclaim(&memory, forget, NULL), 1);
    CHECK_EQUAL(forgotten_count, 2);
    CHECK(forgotten[0] == &pieces[0] && forgotten[1] == &pieces[1]);
    CHECK(!near_memory_contains(&memory, low));
    near_memory_deinit(&memory);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(pieces_run_in_all_modes),
        CHECK_CASE(places_far_from_each_other_get_chunks_of_their_own),
        CHECK_CASE(a_piece_that_was_cancelled_leaves_no_trace),
        CHECK_CASE(a_chunk_goes_when_all_is_released_and_nobody_is_in_it),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
