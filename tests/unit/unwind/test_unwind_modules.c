/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "unwind/unwind_modules.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/frame_sections.h"
#include "support/plugin_modules.h"
#include "unwind/stack_walk.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static struct unwind_modules modules;
static struct plugin_modules plugins;

static void begin(void)
{
    CHECK_EQUAL(unwind_modules_init(&modules, &arch_host()->frame_registers), 0);
}

static uint64_t generation(void)
{
    return unwind_modules_view(&modules)->generation;
}

static bool knows(uint64_t pc)
{
    return unwind_rule_kind(unwind_view_rule(unwind_modules_view(&modules), pc)) != UNWIND_UNKNOWN;
}

/* ---- adding and removing ----------------------------------------------------------------------------------------- */

static void modules_are_known_while_they_are_added(void)
{
    struct loaded_frames libc = loaded_frames_of("libc.so"), own = loaded_frames_of("");
    uint64_t in_libc = (uintptr_t)&malloc, in_own = (uintptr_t)modules_are_known_while_they_are_added;
    struct eh_frame_entry entry;
    uint64_t before;

    begin();
    CHECK(!knows(in_libc));
    CHECK_EQUAL(unwind_modules_add(&modules, libc.base), 0);
    before = generation();
    CHECK_EQUAL(unwind_modules_add(&modules, libc.base), -EEXIST);
    CHECK_EQUAL(generation(), before);
    CHECK_EQUAL(unwind_modules_add(&modules, libc.base + 1), -ENOEXEC);
    CHECK_EQUAL(unwind_modules_add(&modules, own.base), 0);
    CHECK(generation() != before);
    CHECK(knows(in_own));
    CHECK(knows(libc.code_start + (libc.code_end - libc.code_start) / 2) || knows(libc.code_end - 64));
    CHECK(unwind_view_entry(unwind_modules_view(&modules), in_own, &entry));
    CHECK_EQUAL(entry.start, in_own);
    before = generation();
    CHECK_EQUAL(unwind_modules_remove(&modules, own.code_start, own.code_start + 1), 0);
    CHECK(generation() != before);
    CHECK(!knows(in_own));
    CHECK(!unwind_view_entry(unwind_modules_view(&modules), in_own, &entry));
    CHECK_EQUAL(unwind_modules_remove(&modules, 0, UINT64_MAX), 0);
    unwind_modules_deinit(&modules);
}

static void all_that_is_mapped_is_found(void)
{
    static struct loaded_frames loaded[LOADED_FRAMES_MAX];
    size_t count = loaded_frames_list(loaded);
    uint64_t before;

    begin();
    CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
    for (size_t i = 0; i < count; i++) {
        struct eh_frame_entry entry;
        size_t offset = 0;

        CHECK_EQUAL(eh_frame_next(&loaded[i].frame, &offset, &entry), 1);
        CHECK(knows(entry.start));
    }
    /* Nothing has changed. */
    before = generation();
    CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
    CHECK_EQUAL(generation(), before);
    unwind_modules_deinit(&modules);
}

static void who_does_not_wait_is_told(void)
{
    begin();
    mutex_lock(&modules.lock);
    CHECK_EQUAL(unwind_modules_refresh(&modules, false), -EBUSY);
    mutex_unlock(&modules.lock);
    CHECK_EQUAL(unwind_modules_refresh(&modules, false), 0);
    unwind_modules_deinit(&modules);
}

static void what_somebody_may_look_at_is_kept(void)
{
    struct loaded_frames libc = loaded_frames_of("libc.so");
    struct unwind_reader reader = {.activity = 0};
    const struct unwind_view *view;
    bool was_outside, nested;
    uint64_t before;

    begin();
    unwind_modules_add_reader(&modules, &reader);
    was_outside = unwind_modules_enter(&reader);
    CHECK(was_outside);
    view = unwind_modules_view(&modules);
    before = view->generation;
    CHECK_EQUAL(unwind_modules_add(&modules, libc.base), 0);
    CHECK_EQUAL(unwind_modules_remove(&modules, 0, UINT64_MAX), 0);
    CHECK(modules.retired != NULL);
    CHECK_EQUAL(view->generation, before);
    /* A signal handler in between does not end it. */
    nested = unwind_modules_enter(&reader);
    CHECK(!nested);
    unwind_modules_leave(&reader, nested);
    CHECK_EQUAL(unwind_modules_add(&modules, libc.base), 0);
    CHECK(modules.retired != NULL);
    unwind_modules_leave(&reader, was_outside);
    CHECK_EQUAL(unwind_modules_remove(&modules, 0, UINT64_MAX), 0);
    CHECK(modules.retired == NULL);
    unwind_modules_remove_reader(&modules, &reader);
    unwind_modules_deinit(&modules);
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

struct walking {
    struct stack_walker walker;
    uint64_t pcs[64];
    size_t count;
    uint64_t in_plugin; /* where the plugin goes on */
    uint64_t behind;    /* where the caller of the caller of the plugin does */
};

static __attribute__((noinline)) int walk_here(void *context)
{
    struct walking *walking = context;
    const uint64_t *frame = __builtin_frame_address(0);
    const struct stack_start start = {frame[1], (uintptr_t)(frame + 2), frame[0], true, NULL};
    struct stack_addresses addresses = {walking->pcs, 64, 0};

    CHECK_EQUAL(stack_walk(&modules, &walking->walker, &start, &addresses), 0);
    walking->count = addresses.count;
    walking->in_plugin = (uintptr_t)__builtin_return_address(0);
    return 1;
}

static __attribute__((noinline)) int call_plugin(const struct plugin *plugin, struct walking *walking)
{
    walking->behind = (uintptr_t)__builtin_return_address(0);
    return plugin->call(walk_here, walking) + 1;
}

static void walking_init(struct walking *walking, bool is_main_thread)
{
    stack_walker_init(&walking->walker, (uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_thread_pointer(),
                      is_main_thread);
    unwind_modules_add_reader(&modules, &walking->walker.reader);
}

static void check_walk(const struct walking *walking)
{
    CHECK(walking->count >= 4);
    CHECK_EQUAL(walking->pcs[0], walking->in_plugin);
    CHECK_EQUAL(walking->pcs[2], walking->behind);
}

static void modules_come_and_go_in_all_orders(void)
{
    static struct walking walking;
    unsigned reused = 0;
    uint64_t last_base = 0;

    begin();
    walking_init(&walking, true);
    for (unsigned number = 0; number < PLUGIN_ORDERS; number++) {
        unsigned order[PLUGIN_COUNT];

        plugin_order(number, order);
        for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
            struct plugin plugin = plugin_load(&plugins, order[i]);

            reused += plugin.base == last_base;
            last_base = plugin.base;
            CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
            for (unsigned again = 0; again < 3; again++) {
                CHECK_EQUAL(call_plugin(&plugin, &walking), 3);
                check_walk(&walking);
            }
            plugin_unload(&plugin);
        }
    }
    CHECK(reused > 0);
    CHECK(modules.retired == NULL);
    unwind_modules_remove_reader(&modules, &walking.walker.reader);
    unwind_modules_deinit(&modules);
}

/* Two at a time, in all orders, of which one stays: added and removed one by one. */
static void modules_are_told_apart_when_they_are_added_by_hand(void)
{
    static struct walking walking;

    begin();
    walking_init(&walking, true);
    CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
    for (unsigned number = 0; number < PLUGIN_ORDERS; number++) {
        unsigned order[PLUGIN_COUNT];
        struct plugin before = {.handle = NULL};

        plugin_order(number, order);
        for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
            struct plugin plugin = plugin_load(&plugins, order[i]);

            CHECK_EQUAL(unwind_modules_add(&modules, plugin.base), 0);
            CHECK_EQUAL(call_plugin(&plugin, &walking), 3);
            check_walk(&walking);
            if (before.handle != NULL) {
                CHECK_EQUAL(call_plugin(&before, &walking), 3);
                check_walk(&walking);
                CHECK_EQUAL(unwind_modules_remove(&modules, before.base, before.base + 0x2000), 0);
                plugin_unload(&before);
            }
            before = plugin;
        }
        CHECK_EQUAL(unwind_modules_remove(&modules, before.base, before.base + 0x2000), 0);
        plugin_unload(&before);
    }
    unwind_modules_remove_reader(&modules, &walking.walker.reader);
    unwind_modules_deinit(&modules);
}

/* Nobody says that they changed: stacks may be wrong, but nothing worse happens. */
static void modules_that_went_unnoticed_do_no_harm(void)
{
    static struct walking walking;

    begin();
    walking_init(&walking, true);
    for (unsigned number = 0; number < PLUGIN_ORDERS; number++) {
        unsigned order[PLUGIN_COUNT];

        plugin_order(number, order);
        for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
            struct plugin plugin = plugin_load(&plugins, order[i]);

            if (i == 0)
                CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
            CHECK_EQUAL(call_plugin(&plugin, &walking), 3);
            CHECK(walking.count >= 1);
            plugin_unload(&plugin);
        }
    }
    unwind_modules_remove_reader(&modules, &walking.walker.reader);
    unwind_modules_deinit(&modules);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static _Atomic bool is_over;

static __attribute__((noinline)) unsigned walk_deep(struct walking *walking, unsigned depth)
{
    unsigned result = depth == 0 ? (unsigned)walk_here(walking) : walk_deep(walking, depth - 1) + 1;

    __asm__ volatile("" : "+r"(result));
    return result;
}

static void *walk_all_the_time(void *context)
{
    struct walking *walking = context;
    uint64_t walks = 0, right = 0;

    walking_init(walking, false);
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        unsigned depth = (unsigned)(walks % 20);

        CHECK_EQUAL(walk_deep(walking, depth), depth + 1);
        /* With its modules there it has all frames, and libc's that began the thread. */
        right += walking->count > depth + 1;
        walks++;
    }
    unwind_modules_remove_reader(&modules, &walking->walker.reader);
    CHECK(right > 0);
    return NULL;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void threads_walk_while_modules_change(void)
{
    static struct walking walkings[3];
    struct loaded_frames libc = loaded_frames_of("libc.so"), own = loaded_frames_of("");
    pthread_t threads[3];
    double end = seconds() + 1.5;
    unsigned changes = 0;

    begin();
    atomic_store(&is_over, false);
    CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, walk_all_the_time, &walkings[i]), 0);
    while (seconds() < end) {
        struct plugin plugin = plugin_load(&plugins, changes % PLUGIN_COUNT);

        CHECK_EQUAL(unwind_modules_remove(&modules, libc.code_start, libc.code_end), 0);
        CHECK_EQUAL(unwind_modules_remove(&modules, own.code_start, own.code_end), 0);
        CHECK_EQUAL(unwind_modules_add(&modules, libc.base), 0);
        CHECK_EQUAL(unwind_modules_refresh(&modules, true), 0);
        plugin_unload(&plugin);
        changes++;
    }
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    CHECK(changes > 5);
    CHECK_EQUAL(unwind_modules_remove(&modules, 0, UINT64_MAX), 0);
    CHECK(modules.retired == NULL);
    unwind_modules_deinit(&modules);
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_are_known_while_they_are_added),
    CHECK_CASE(all_that_is_mapped_is_found),
    CHECK_CASE(who_does_not_wait_is_told),
    CHECK_CASE(what_somebody_may_look_at_is_kept),
    CHECK_CASE(modules_come_and_go_in_all_orders),
    CHECK_CASE(modules_are_told_apart_when_they_are_added_by_hand),
    CHECK_CASE(modules_that_went_unnoticed_do_no_harm),
    CHECK_CASE(threads_walk_while_modules_change),
};

int main(void)
{
    int status;

    plugin_modules_init(&plugins);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    plugin_modules_deinit(&plugins);
    return status;
}
