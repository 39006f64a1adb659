/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Forgetting translations, and making them ahead of time. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/code_page.h"
#include "support/followed_call.h"
#include "support/subject_thread.h"

#include <stdatomic.h>
#include <sys/mman.h>

static struct code_page page;
static struct gait_stalker *stalker;

static uint64_t at(uint64_t offset)
{
    return code_page_start(&page) + offset;
}

static bool is_ours(uint64_t address)
{
    return address >= at(0) && address < code_page_end(&page);
}

static void invalidate(uint64_t offset, uint64_t size_bytes)
{
    CHECK_EQUAL(gait_stalker_invalidate(stalker, at(offset), size_bytes, NULL), 0);
}

/* Adds `added` to rax before each instruction of the page, as often as `times` says. */
static atomic_int added, times;
static atomic_long transforms;
static gait_callout at_nop;

static void transform(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};
    uint8_t add_rax[] = {0x48, 0x8d, 0x40, (uint8_t)atomic_load(&added)}; /* lea rax, [rax+added] */
    bool first = true;

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (is_ours(instruction.address)) {
            atomic_fetch_add(&transforms, first);
            if (instruction.bytes[0] == 0x90 && at_nop != NULL)
                gait_iterator_put_callout(iterator, at_nop, NULL, GAIT_CALLOUT_ANY);
            for (int i = 0; instruction.flow == GAIT_FLOW_RETURN && i < atomic_load(&times); i++)
                gait_iterator_put_code(iterator, add_rax, sizeof(add_rax));
        }
        first = false;
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer transformer = {transform, NULL};

static void begin(int how_much, int how_often)
{
    stalker = followed_call_stalker();
    atomic_store(&added, how_much);
    atomic_store(&times, how_often);
    atomic_store(&transforms, 0);
    at_nop = NULL;
}

static uint64_t run(uint64_t a, uint64_t b)
{
    struct gait_follow_options options = followed_options();

    options.transformer = &transformer;
    return followed_call(stalker, &options, at(0), a, b);
}

/* mov eax, edi; nop; ret */
static void write_plain(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x89\xf8\x90\xc3");
}

static void code_is_translated_once_until_it_is_invalidated(void)
{
    write_plain();
    begin(1, 1);
    CHECK_EQUAL(run(5, 0), 6);
    atomic_store(&added, 2);
    CHECK_EQUAL(run(5, 0), 6);
    CHECK_EQUAL(atomic_load(&transforms), 1);
    invalidate(0, 1);
    CHECK_EQUAL(run(5, 0), 7);
    CHECK_EQUAL(run(5, 0), 7);
    CHECK_EQUAL(atomic_load(&transforms), 2);
    gait_stalker_destroy(stalker);
}

static void any_byte_of_a_block_will_do_and_no_other(void)
{
    write_plain();
    begin(0, 1);
    run(5, 0);
    for (int offset = 0; offset < 4; offset++) {
        atomic_store(&added, offset + 1);
        invalidate((uint64_t)offset, 1);
        CHECK_EQUAL(run(5, 0), 6 + offset);
    }
    atomic_store(&added, 100);
    invalidate(4, 100);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, at(0) - 10, 10, NULL), 0);
    CHECK_EQUAL(run(5, 0), 9);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, at(0) - 10, 11, NULL), 0);
    CHECK_EQUAL(run(5, 0), 105);
    gait_stalker_destroy(stalker);
}

/* Code that changes is translated anew, if somebody says so. */
static void changed_code_runs_after_it_is_invalidated(void)
{
    write_plain();
    begin(0, 0);
    CHECK_EQUAL(run(5, 0), 5);
    memcpy(page.bytes, "\x89\xf0", 2); /* mov eax, esi */
    invalidate(0, 2);
    CHECK_EQUAL(run(5, 9), 9);
    gait_stalker_destroy(stalker);
}

/*
 * mov byte ptr [rip], 1: changes the constant of the next instruction, mov eax, 0. Whether that has an effect at once
 * depends on the mapping, which was made writable without the engine's knowledge.
 */
static void what_was_known_of_a_mapping_is_forgotten_with_its_code(void)
{
    void *code = (void *)(uintptr_t)at(0);

    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xb8\x00\x00\x00\x00\xc3\x90\x90\xc6\x05\x01\x00\x00\x00\x01\xb8\x00\x00\x00\x00\xc3");
    begin(0, 0);
    CHECK_EQUAL(run(0, 0), 0);
    CHECK_EQUAL(mprotect(code, page.size_bytes, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    invalidate(0, page.size_bytes);
    CHECK_EQUAL(followed_call(stalker, NULL, at(8), 0, 0), 1);
    gait_stalker_destroy(stalker);
    code_page_deinit(&page);
    code_page_init(&page, 1 << 16);
}

static void a_block_may_grow_each_time(void)
{
    static const int sizes[] = {1, 200, 900, 1800, 10};

    write_plain();
    begin(1, 0);
    CHECK_EQUAL(run(5, 0), 5);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        atomic_store(&times, sizes[i]);
        invalidate(0, 4);
        CHECK_EQUAL(run(5, 0), 5 + sizes[i]);
        CHECK_EQUAL(run(6, 0), 6 + sizes[i]);
    }
    gait_stalker_destroy(stalker);
}

static int invalidations;

static void invalidate_here(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    invalidations++;
    atomic_fetch_add(&added, 1);
    invalidate(0, 4);
}

/* The block that is run goes on to its end; the next time it is another one. */
static void a_block_can_be_invalidated_from_inside(void)
{
    write_plain();
    begin(1, 1);
    at_nop = invalidate_here;
    invalidations = 0;
    for (int i = 1; i <= 100; i++)
        CHECK_EQUAL(run(5, 0), 5 + i);
    CHECK_EQUAL(invalidations, 100);
    CHECK_EQUAL(atomic_load(&transforms), 100);
    gait_stalker_destroy(stalker);
}

/* 0: mov eax, edi; 2: nop; dec edi; jnz 2; ret */
static void write_loop(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x89\xf8\x90\xff\xcf\x75\xfb\xc3");
}

static void a_loop_can_be_invalidated_in_each_round(void)
{
    write_loop();
    begin(0, 1);
    at_nop = invalidate_here;
    invalidations = 0;
    run(5000, 0);
    CHECK_EQUAL(invalidations, 5000);
    /* The block before the loop and the one behind it are translated once; the first round has a block of its own. */
    CHECK(atomic_load(&transforms) >= 5000);
    gait_stalker_destroy(stalker);
}

static uint64_t measure_blocks(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        invalidate(0, 4);
        CHECK_EQUAL(run((uint64_t)i, 0), (uint64_t)i + 1);
    }
    return followed_statistics(stalker).blocks;
}

static void a_thousand_invalidations_leave_as_many_blocks_as_one(void)
{
    uint64_t few, many;

    write_plain();
    begin(1, 1);
    run(5, 0);
    few = measure_blocks(1);
    many = measure_blocks(1000);
    CHECK_EQUAL(many, few);
    CHECK(followed_statistics(stalker).memory_bytes < 4 << 20);
    gait_stalker_destroy(stalker);
}

static void all_code_can_be_invalidated_while_it_runs(void)
{
    write_plain();
    begin(1, 1);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(gait_stalker_invalidate(stalker, 0, UINT64_MAX, NULL), 0);
        CHECK_EQUAL(followed_statistics(stalker).blocks, 0);
        CHECK_EQUAL(run(5, 0), 6);
    }
    gait_stalker_destroy(stalker);
}

/* ---- other threads ----------------------------------------------------------------------------------------------- */

static atomic_bool stop;
static atomic_long result_seen, loops;

static void spin_followed(void *context)
{
    struct gait_follow_options options = followed_options();
    struct gait_error err = {0};
    int failed;

    options.transformer = context;
    failed = gait_stalker_follow_me(stalker, &options, &err);
    followed_call_require(failed, &err);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        atomic_store_explicit(&result_seen, (long)native_call(at(0), 0, 0), memory_order_relaxed);
        atomic_fetch_add_explicit(&loops, 1, memory_order_relaxed);
    }
    failed = gait_stalker_unfollow_me(stalker, &err);
    followed_call_require(failed, &err);
}

static void threads_that_spin_see_the_new_translation(void)
{
    struct subject_thread threads[2];

    write_plain();
    begin(1, 1);
    atomic_store(&stop, false);
    for (size_t i = 0; i < 2; i++)
        subject_thread_start(&threads[i], spin_followed, (void *)&transformer);
    for (int i = 2; i < 100; i++) {
        long before;

        atomic_store(&added, i);
        invalidate(0, 4);
        while (atomic_load(&result_seen) != i)
            ;
        /* One thread has it; a thread that had the old result in its hands may still store that. */
        before = atomic_load(&loops);
        subject_thread_wait_count(&loops, before + 2);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 2; i++)
        subject_thread_join(&threads[i]);
    gait_stalker_destroy(stalker);
}

/* The loop is one linked block and never comes to the engine by itself. */
static void write_endless(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page,
                  "\x48\xff\x07\x90\x83\x3e\x00\x74\xf7\xc3"); /* inc [rdi]; 3: nop; cmp dword [rsi], 0; jz 0; ret */
}

static volatile uint64_t counted;
static volatile uint32_t ended;
static atomic_long callouts;

static void count_callout(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    atomic_fetch_add(&callouts, 1);
}

static void spin_endlessly(void *context)
{
    struct gait_follow_options options = followed_options();

    (void)context;
    options.transformer = &transformer;
    followed_call(stalker, &options, at(0), (uintptr_t)&counted, (uintptr_t)&ended);
}

static void a_thread_in_a_linked_loop_leaves_what_is_invalidated(void)
{
    struct subject_thread thread;

    write_endless();
    begin(0, 0);
    ended = 0;
    counted = 0;
    atomic_store(&callouts, 0);
    subject_thread_start(&thread, spin_endlessly, NULL);
    while (counted < 1000000)
        ;
    CHECK_EQUAL(atomic_load(&callouts), 0);
    at_nop = count_callout;
    invalidate(0, 8);
    subject_thread_wait_count(&callouts, 1000);
    ended = 1;
    subject_thread_join(&thread);
    gait_stalker_destroy(stalker);
}

/* ---- ahead of time ----------------------------------------------------------------------------------------------- */

static void prefetch_all(const struct gait_follow_options *options, const uint64_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct gait_error err = {0};

        CHECK_EQUAL(gait_stalker_prefetch(stalker, options, at(offsets[i]), &err), 0);
        CHECK_TEXT(err.text, "");
    }
}

static void what_was_translated_ahead_is_not_translated_again(void)
{
    static const uint64_t offsets[] = {0, 2, 7};
    struct gait_follow_options options = followed_options();
    long before;

    write_loop();
    begin(0, 0);
    options.transformer = &transformer;
    prefetch_all(&options, offsets, 3);
    before = atomic_load(&transforms);
    CHECK(before >= 3);
    prefetch_all(&options, offsets, 3);
    CHECK_EQUAL(run(1000, 0), 1000);
    CHECK_EQUAL(atomic_load(&transforms), before);
    gait_stalker_destroy(stalker);
}

static void following_again_translates_no_block(void)
{
    struct gait_follow_options options = followed_options();
    uint64_t blocks, code;

    write_loop();
    stalker = followed_call_stalker();
    /* Twice, since indirect branches that come to a block the second time get a landing. */
    for (int i = 0; i < 3; i++)
        followed_call(stalker, &options, at(0), 1000, 0);
    blocks = followed_statistics(stalker).blocks;
    code = followed_statistics(stalker).code_bytes;
    for (int i = 0; i < 100; i++)
        followed_call(stalker, &options, at(0), 1000, 0);
    CHECK_EQUAL(followed_statistics(stalker).blocks, blocks);
    CHECK_EQUAL(followed_statistics(stalker).code_bytes, code);
    gait_stalker_destroy(stalker);
}

static void ways_of_following_have_translations_of_their_own(void)
{
    struct gait_follow_options with_events = followed_options(), plain = followed_options();
    uint64_t blocks;

    write_loop();
    stalker = followed_call_stalker();
    with_events.events = GAIT_EVENT_BLOCK;
    CHECK_EQUAL(gait_stalker_prefetch(stalker, &plain, at(0), NULL), 0);
    blocks = followed_statistics(stalker).blocks;
    CHECK(blocks > 0);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, &with_events, at(0), NULL), 0);
    CHECK_EQUAL(followed_statistics(stalker).blocks, 2 * blocks);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, at(0), 8, NULL), 0);
    CHECK_EQUAL(followed_statistics(stalker).blocks, 0);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(code_is_translated_once_until_it_is_invalidated),
    CHECK_CASE(any_byte_of_a_block_will_do_and_no_other),
    CHECK_CASE(changed_code_runs_after_it_is_invalidated),
    CHECK_CASE(what_was_known_of_a_mapping_is_forgotten_with_its_code),
    CHECK_CASE(a_block_may_grow_each_time),
    CHECK_CASE(a_block_can_be_invalidated_from_inside),
    CHECK_CASE(a_loop_can_be_invalidated_in_each_round),
    CHECK_CASE(a_thousand_invalidations_leave_as_many_blocks_as_one),
    CHECK_CASE(all_code_can_be_invalidated_while_it_runs),
    CHECK_CASE(threads_that_spin_see_the_new_translation),
    CHECK_CASE(a_thread_in_a_linked_loop_leaves_what_is_invalidated),
    CHECK_CASE(what_was_translated_ahead_is_not_translated_again),
    CHECK_CASE(following_again_translates_no_block),
    CHECK_CASE(ways_of_following_have_translations_of_their_own),
};

int main(void)
{
    code_page_init(&page, 1 << 16);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
