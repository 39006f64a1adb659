/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Translations that are replaced while threads run in them. */
#define _GNU_SOURCE

#include "gait/stalker.h"
#include "stalker/invalidate.h"
#include "support/check.h"
#include "support/code_page.h"
#include "support/followed_call.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

static struct code_page page;
static struct gait_stalker *stalker;
static atomic_int added;
static atomic_long transforms;

static uint64_t at(uint64_t offset)
{
    return code_page_start(&page) + offset;
}

/* Adds `added` to rax before each return of the page. */
static void transform(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};
    uint8_t add_rax[] = {0x48, 0x8d, 0x40, (uint8_t)atomic_load(&added)}; /* lea rax, [rax+added] */

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (instruction.address >= at(0) && instruction.address < code_page_end(&page)) {
            atomic_fetch_add(&transforms, instruction.address == at(0));
            if (instruction.flow == GAIT_FLOW_RETURN)
                gait_iterator_put_code(iterator, add_rax, sizeof(add_rax));
        }
        gait_iterator_keep(iterator);
    }
}

/* Two ways of following that differ only in which transformer it is. */
static const struct gait_transformer transformers[] = {{transform, NULL}, {transform, NULL}};

static struct gait_follow_options options_with(unsigned which)
{
    struct gait_follow_options options = followed_options();

    options.transformer = &transformers[which];
    return options;
}

static uint64_t run(unsigned which)
{
    struct gait_follow_options options = options_with(which);

    return followed_call(stalker, &options, at(0), 5, 0);
}

static int recompile(unsigned which, uint64_t address)
{
    struct gait_follow_options options = options_with(which);

    return gait_stalker_recompile(stalker, &options, address, NULL);
}

/* mov eax, edi; nop; ret */
static void begin(int how_much)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x89\xf8\x90\xc3");
    stalker = followed_call_stalker();
    atomic_store(&added, how_much);
    atomic_store(&transforms, 0);
}

static void the_transformer_is_asked_again_at_once(void)
{
    begin(1);
    CHECK_EQUAL(run(0), 6);
    for (int i = 2; i < 100; i++) {
        atomic_store(&added, i);
        CHECK_EQUAL(recompile(0, at(0)), 0);
        CHECK_EQUAL(atomic_load(&transforms), i);
        CHECK_EQUAL(run(0), 5 + i);
        CHECK_EQUAL(atomic_load(&transforms), i);
    }
    gait_stalker_destroy(stalker);
}

static void other_ways_of_following_keep_their_translation(void)
{
    begin(1);
    CHECK_EQUAL(run(0), 6);
    CHECK_EQUAL(run(1), 6);
    atomic_store(&added, 2);
    CHECK_EQUAL(recompile(0, at(0)), 0);
    CHECK_EQUAL(run(0), 7);
    CHECK_EQUAL(run(1), 6);
    gait_stalker_destroy(stalker);
}

static void what_is_not_translated_is_not_recompiled(void)
{
    struct gait_follow_options options = options_with(0);
    struct gait_error err = {0};
    char text[300];

    begin(1);
    CHECK_EQUAL(gait_stalker_recompile(stalker, &options, at(0), &err), -ENOENT);
    snprintf(text, sizeof(text),
             "cannot translate 0x%" PRIx64 " again: no block that begins there is translated for these events and this "
             "transformer; gait_stalker_prefetch does that",
             at(0));
    CHECK_TEXT(err.text, text);
    run(0);
    CHECK_EQUAL(recompile(0, at(2)), -ENOENT);
    CHECK_EQUAL(recompile(1, at(0)), -ENOENT);
    CHECK_EQUAL(recompile(0, 0), -ENOENT);
    CHECK_EQUAL(atomic_load(&transforms), 1);
    CHECK_EQUAL(recompile(0, at(0)), 0);
    options.events = 1u << 30;
    CHECK_EQUAL(gait_stalker_recompile(stalker, &options, at(0), NULL), -EINVAL);
    CHECK_EQUAL(gait_stalker_recompile(NULL, NULL, at(0), &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot translate code again: there is no stalker, it is NULL");
    gait_stalker_destroy(stalker);
}

/* Not by a followed thread: the engine would have forgotten it. */
static void code_that_is_gone_is_not_recompiled(void)
{
    struct gait_follow_options options = followed_options();
    uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int result;

    begin(0);
    code[0] = 0xc3;
    CHECK_EQUAL(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, &options, (uintptr_t)code, NULL), 0);
    CHECK_EQUAL(gait_stalker_recompile(stalker, &options, (uintptr_t)code, NULL), 0);
    /* A followed thread tells the engine that mappings change. */
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, NULL), 0);
    result = munmap(code, 4096);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(result, 0);
    result = gait_stalker_recompile(stalker, &options, (uintptr_t)code, NULL);
    CHECK(result == -ENOENT || result == -EFAULT);
    gait_stalker_destroy(stalker);
}

/* ---- other threads ----------------------------------------------------------------------------------------------- */

struct spinner {
    struct subject_thread thread;
    unsigned which;
    atomic_long seen, rounds;
};

static atomic_bool stop;

static void spin(void *context)
{
    struct spinner *self = context;
    struct gait_follow_options options = options_with(self->which);
    struct gait_error err = {0};
    int failed = gait_stalker_follow_me(stalker, &options, &err);

    followed_call_require(failed, &err);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        atomic_store_explicit(&self->seen, (long)native_call(at(0), 0, 0), memory_order_relaxed);
        atomic_fetch_add_explicit(&self->rounds, 1, memory_order_relaxed);
    }
    failed = gait_stalker_unfollow_me(stalker, &err);
    followed_call_require(failed, &err);
}

static void start(struct spinner *spinners, unsigned count)
{
    atomic_store(&stop, false);
    for (unsigned i = 0; i < count; i++) {
        spinners[i] = (struct spinner){.which = i};
        subject_thread_start(&spinners[i].thread, spin, &spinners[i]);
        subject_thread_wait_count(&spinners[i].rounds, 1000);
    }
}

static void join(struct spinner *spinners, unsigned count)
{
    atomic_store(&stop, true);
    for (unsigned i = 0; i < count; i++)
        subject_thread_join(&spinners[i].thread);
    gait_stalker_destroy(stalker);
}

static void wait_for(struct spinner *spinner, long value)
{
    while (atomic_load(&spinner->seen) != value)
        subject_thread_wait_count(&spinner->rounds, atomic_load(&spinner->rounds) + 1);
}

static void threads_that_run_get_the_new_translation(void)
{
    struct spinner spinner;

    begin(1);
    start(&spinner, 1);
    for (int i = 2; i < 100; i++) {
        atomic_store(&added, i);
        CHECK_EQUAL(recompile(0, at(0)), 0);
        wait_for(&spinner, i);
    }
    join(&spinner, 1);
}

static void invalidate_for(struct spinner *spinner)
{
    CHECK_EQUAL(gait_stalker_invalidate_for(stalker, spinner->thread.tid, at(0), 4, NULL), 0);
}

static void code_is_invalidated_for_one_thread_and_not_for_another(void)
{
    struct spinner spinners[2];

    begin(1);
    start(spinners, 2);
    for (int i = 2; i < 100; i++) {
        atomic_store(&added, i);
        invalidate_for(&spinners[0]);
        wait_for(&spinners[0], i);
        subject_thread_wait_count(&spinners[1].rounds, atomic_load(&spinners[1].rounds) + 10);
        CHECK_EQUAL(atomic_load(&spinners[1].seen), 1);
    }
    invalidate_for(&spinners[1]);
    wait_for(&spinners[1], 99);
    join(spinners, 2);
}

static void nothing_is_invalidated_for_a_thread_that_is_not_followed(void)
{
    struct gait_error err = {0};

    begin(1);
    CHECK_EQUAL(gait_stalker_invalidate_for(stalker, 1, at(0), 4, &err), -ESRCH);
    CHECK_TEXT(err.text, "cannot invalidate code for thread 1: it is not followed");
    CHECK_EQUAL(gait_stalker_invalidate_for(stalker, 1, at(0), 0, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_invalidate_for(stalker, 1, UINT64_MAX, 2, &err), -EINVAL);
    CHECK_EQUAL(gait_stalker_invalidate_for(NULL, 1, at(0), 4, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot invalidate code: there is no stalker, it is NULL");
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_transformer_is_asked_again_at_once),
    CHECK_CASE(other_ways_of_following_keep_their_translation),
    CHECK_CASE(what_is_not_translated_is_not_recompiled),
    CHECK_CASE(code_that_is_gone_is_not_recompiled),
    CHECK_CASE(threads_that_run_get_the_new_translation),
    CHECK_CASE(code_is_invalidated_for_one_thread_and_not_for_another),
    CHECK_CASE(nothing_is_invalidated_for_a_thread_that_is_not_followed),
};

int main(void)
{
    code_page_init(&page, 1 << 16);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
