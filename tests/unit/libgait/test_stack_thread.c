/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "libgait/stack_thread.h"

#include "gait/stack.h"
#include "support/check.h"
#include "support/plugin_modules.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plugin_modules plugins;

static size_t count_readers(void)
{
    size_t count = 0;

    mutex_lock(&stack_modules.lock);
    LIST_FOR_EACH (node, &stack_modules.readers)
        count++;
    mutex_unlock(&stack_modules.lock);
    return count;
}

static __attribute__((noinline)) size_t capture(uint64_t *pcs, size_t capacity)
{
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = capacity};

    CHECK_EQUAL(gait_stack_capture(&stack), 0);
    CHECK_EQUAL(stack.tid, gettid());
    return stack.count;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *take_stacks(void *context)
{
    size_t *count = context;
    uint64_t pcs[32];

    for (unsigned i = 0; i < 100; i++)
        *count = capture(pcs, 32);
    return NULL;
}

static void threads_give_back_what_they_had(void)
{
    uint64_t pcs[32];
    size_t readers;

    capture(pcs, 32);
    readers = count_readers();
    for (unsigned round = 0; round < 50; round++) {
        pthread_t threads[8];
        size_t counts[8];

        for (unsigned i = 0; i < 8; i++)
            CHECK_EQUAL(pthread_create(&threads[i], NULL, take_stacks, &counts[i]), 0);
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
            CHECK(counts[i] >= 3);
        }
        CHECK_EQUAL(count_readers(), readers);
    }
}

static pthread_key_t late_key;
static _Atomic int late_result;

/* Runs when the thread's stacks may be gone already: it comes again and again, until they are. */
static void capture_late(void *value)
{
    uint64_t pcs[8];
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = 8};
    int result = gait_stack_capture(&stack);

    if (result == 0 && (intptr_t)value < 3)
        pthread_setspecific(late_key, (void *)((intptr_t)value + 1));
    atomic_store(&late_result, result);
}

static void *use_late_key(void *context)
{
    uint64_t pcs[8];

    pthread_setspecific(late_key, (void *)1);
    capture(pcs, 8);
    return context;
}

static void threads_that_end_have_no_stacks_any_more(void)
{
    pthread_t thread;
    uint64_t pcs[8];

    capture(pcs, 8);
    CHECK_EQUAL(pthread_key_create(&late_key, capture_late), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, use_late_key, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(atomic_load(&late_result), -ESRCH);
    pthread_key_delete(late_key);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void *take_stack_in_child(void *context)
{
    uint64_t pcs[32];
    pid_t child = fork();
    int status;

    if (child == 0) {
        size_t before = capture(pcs, 32);
        size_t readers = count_readers();

        if (gait_stack_modules_changed() != 0 || before < 3 || readers != 1)
            _exit(2);
        _exit(check_failures == 0 && capture(pcs, 32) == before ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    return context;
}

static void children_take_stacks_too(void)
{
    pthread_t thread;
    uint64_t pcs[32];

    capture(pcs, 32);
    take_stack_in_child(NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, take_stack_in_child, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static uint64_t in_plugin, behind;
static uint64_t plugin_pcs[32];
static size_t plugin_count;

static __attribute__((noinline)) int capture_in_plugin(void *context)
{
    (void)context;
    in_plugin = (uintptr_t)__builtin_return_address(0);
    plugin_count = capture(plugin_pcs, 32);
    return 1;
}

static __attribute__((noinline)) int call_plugin(const struct plugin *plugin)
{
    behind = (uintptr_t)__builtin_return_address(0);
    return plugin->call(capture_in_plugin, NULL) + 1;
}

/* capture, capture_in_plugin, the plugin, call_plugin, ... */
static bool is_right(void)
{
    return plugin_count >= 6 && plugin_pcs[2] == in_plugin && plugin_pcs[4] == behind;
}

static void modules_that_come_are_noticed(void)
{
    uint64_t pcs[32];
    struct plugin first, second;

    capture(pcs, 32);
    usleep(200000);
    first = plugin_load(&plugins, 0);
    CHECK_EQUAL(call_plugin(&first), 3);
    CHECK(is_right());
    /* Not so soon again, by how long it takes here; but then. */
    usleep(200000);
    for (unsigned i = 0; i < 1500; i++) {
        second = plugin_load(&plugins, 1);
        CHECK_EQUAL(call_plugin(&second), 3);
        if (is_right())
            break;
        usleep(20000);
    }
    CHECK(is_right());
    plugin_unload(&first);
    plugin_unload(&second);
}

static void modules_that_change_places_are_told_apart(void)
{
    uint64_t last_base = 0;
    unsigned reused = 0;

    for (unsigned number = 0; number < PLUGIN_ORDERS; number++) {
        unsigned order[PLUGIN_COUNT];

        plugin_order(number, order);
        for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
            struct plugin plugin = plugin_load(&plugins, order[i]);

            reused += plugin.base == last_base;
            last_base = plugin.base;
            CHECK_EQUAL(gait_stack_modules_changed(), 0);
            CHECK_EQUAL(call_plugin(&plugin), 3);
            CHECK(is_right());
            plugin_unload(&plugin);
        }
    }
    CHECK(reused > 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_give_back_what_they_had),
    CHECK_CASE(threads_that_end_have_no_stacks_any_more),
    CHECK_CASE(children_take_stacks_too),
    CHECK_CASE(modules_that_come_are_noticed),
    CHECK_CASE(modules_that_change_places_are_told_apart),
};

int main(void)
{
    int status;

    plugin_modules_init(&plugins);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    plugin_modules_deinit(&plugins);
    return status;
}
