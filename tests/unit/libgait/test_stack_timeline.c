/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/*
 * Four libraries that are alike but for the size of a frame are loaded and unloaded in all orders, so that the same
 * addresses mean one after the other. Stacks through them are taken as raw addresses. Afterwards, what was loaded where
 * and when says of each address whose it was, and stacks are right at once, without anybody having said anything.
 */
#define _GNU_SOURCE
#include "gait/process.h"
#include "gait/stack.h"

#include "support/check.h"
#include "support/plugin_modules.h"
#include "support/random.h"

#include <errno.h>
#include <pthread.h>

#define EVENTS_MAX 20000u
#define STACKS_MAX 20000u
#define FRAMES_MAX 16u

static struct gait_error error;

/* ---- when what was loaded where ---------------------------------------------------------------------------------- */

static struct event {
    bool is_load;
    uint64_t base;
    uint64_t end;
    uint64_t time;
    char letter; /* of the plugin; 0: something else */
} events[EVENTS_MAX];
static _Atomic unsigned event_count;

static void note(const struct gait_module *module, uint64_t time, bool is_load)
{
    const char *slash = strrchr(module->path, '/');
    bool is_plugin = slash != NULL && strlen(slash) == 5 && strcmp(slash + 2, ".so") == 0;

    if (event_count < EVENTS_MAX)
        events[event_count++] =
            (struct event){is_load, module->base, module->end, time, is_plugin ? slash[1] : (char)0};
}

static void loaded(void *context, const struct gait_module *module, uint64_t time)
{
    (void)context;
    note(module, time, true);
}

static void unloaded(void *context, const struct gait_module *module, uint64_t time)
{
    (void)context;
    note(module, time, false);
}

/* Whose an address was at a time: '?' if it was nobody's. */
static char resolve(uint64_t address, uint64_t time)
{
    char letter = '?';

    for (unsigned i = 0; i < event_count && events[i].time <= time; i++)
        if (address >= events[i].base && address < events[i].end)
            letter = events[i].is_load ? events[i].letter : '?';
    return letter;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static struct taken {
    char letter; /* through which plugin */
    uint64_t time;
    size_t count;
    uint64_t pcs[FRAMES_MAX];
    uint64_t behind; /* where the plugin's caller goes on */
} taken[STACKS_MAX];
static _Atomic unsigned taken_count;

struct call {
    struct taken *taken;
};

static int take(void *context)
{
    struct call *call = context;
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = call->taken->pcs, .capacity = FRAMES_MAX};

    CHECK_EQUAL(gait_stack_capture(&stack), 0);
    call->taken->time = stack.time;
    call->taken->count = stack.count;
    return 1;
}

/* Its own frame is what the plugin returns to. */
static __attribute__((noinline)) void call_plugin(const struct plugin *plugin, struct call *call)
{
    call->taken->behind = (uintptr_t)__builtin_return_address(0);
    CHECK_EQUAL(plugin->call(take, call), 2);
    __asm__ volatile("" ::: "memory");
}

static void take_through(const struct plugin *plugin, unsigned which)
{
    unsigned place = taken_count++;
    struct call call = {.taken = &taken[place % STACKS_MAX]};

    call.taken->letter = (char)('a' + which);
    call_plugin(plugin, &call);
}

/* take, the plugin, call_plugin, and what called that. */
static void check_taken(void)
{
    unsigned of_own = 0;

    for (unsigned i = 0; i < taken_count; i++) {
        CHECK(taken[i].count >= 4);
        CHECK_EQUAL(resolve(taken[i].pcs[1] - 1, taken[i].time), taken[i].letter);
        CHECK_EQUAL(taken[i].pcs[3], taken[i].behind);
        of_own += resolve(taken[i].pcs[0] - 1, taken[i].time) == 0;
    }
    CHECK_EQUAL(of_own, taken_count);
}

/* How many pairs of neighbours have the same address, and mean another library. */
static unsigned count_reused(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < taken_count; i++)
        for (unsigned j = i > 40 ? i - 40 : 0; j < i; j++)
            count += taken[i].pcs[1] == taken[j].pcs[1] && taken[i].letter != taken[j].letter;
    return count;
}

static struct gait_module_observer *observer;

static void begin(void)
{
    static const struct gait_module_listener listener = {sizeof(listener), NULL, loaded, unloaded};
    bool is_automatic = false;

    event_count = taken_count = 0;
    CHECK_EQUAL(gait_module_observer_create(&listener, &observer, &is_automatic, &error), 0);
    if (!is_automatic || gait_stack_watch_modules(&error) != 0)
        check_skip("the loader cannot be hooked");
}

static void end(void)
{
    gait_module_observer_destroy(observer);
}

/* Three are loaded; one of them goes, and the fourth takes its place; then the one that went comes back elsewhere. */
static void one_in_the_place_of_another(void)
{
    struct plugin_modules modules;
    unsigned order[PLUGIN_COUNT];

    plugin_modules_init(&modules);
    begin();
    for (unsigned number = 0; number < PLUGIN_ORDERS; number++) {
        struct plugin plugins[PLUGIN_COUNT];

        plugin_order(number, order);
        for (unsigned i = 0; i < 3; i++)
            plugins[order[i]] = plugin_load(&modules, order[i]);
        for (unsigned i = 0; i < 3; i++)
            take_through(&plugins[order[i]], order[i]);
        plugin_unload(&plugins[order[1]]);
        plugins[order[3]] = plugin_load(&modules, order[3]);
        take_through(&plugins[order[3]], order[3]);
        plugins[order[1]] = plugin_load(&modules, order[1]);
        take_through(&plugins[order[1]], order[1]);
        for (unsigned i = 0; i < PLUGIN_COUNT; i++)
            plugin_unload(&plugins[order[i]]);
    }
    check_taken();
    CHECK(count_reused() >= PLUGIN_ORDERS);
    end();
    plugin_modules_deinit(&modules);
}

/* Loaded and unloaded at random, by one thread or by several at once. */
static struct plugin_modules shared;

static void *load_at_random(void *context)
{
    struct plugin plugins[PLUGIN_COUNT] = {{.handle = NULL}};
    struct random random;

    random_init(&random, (uintptr_t)context);
    for (unsigned i = 0; i < 400; i++) {
        unsigned which = (unsigned)random_below(&random, PLUGIN_COUNT);

        if (plugins[which].handle == NULL)
            plugins[which] = plugin_load(&shared, which);
        else if (random_below(&random, 2) == 0)
            plugin_unload(&plugins[which]);
        if (plugins[which].handle != NULL)
            take_through(&plugins[which], which);
    }
    for (unsigned i = 0; i < PLUGIN_COUNT; i++)
        if (plugins[i].handle != NULL)
            plugin_unload(&plugins[i]);
    return NULL;
}

static void any_order(void)
{
    plugin_modules_init(&shared);
    begin();
    load_at_random((void *)1);
    check_taken();
    CHECK(count_reused() >= 20);
    end();
    plugin_modules_deinit(&shared);
}

static void several_threads_at_once(void)
{
    pthread_t threads[3];

    plugin_modules_init(&shared);
    begin();
    for (uintptr_t i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, load_at_random, (void *)(i + 5)), 0);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    check_taken();
    end();
    plugin_modules_deinit(&shared);
}

static const struct check_case cases[] = {
    CHECK_CASE(one_in_the_place_of_another),
    CHECK_CASE(any_order),
    CHECK_CASE(several_threads_at_once),
};

CHECK_MAIN(cases)
