/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "gait/process.h"

#include "base/time_counter.h"
#include "support/check.h"
#include "support/plugin_modules.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOLD_MAX 4000u

static struct gait_error error;
static struct gait_module_observer *observer;
static struct told {
    bool is_load;
    uint64_t base;
    uint64_t time;
    char name[64];
} told[TOLD_MAX];
static unsigned told_count;

static void note(const struct gait_module *module, uint64_t time, bool is_load)
{
    const char *slash = strrchr(module->path, '/');

    CHECK_EQUAL(module->size_bytes, sizeof(*module));
    CHECK_EQUAL(module->segment_count != 0, is_load);
    if (told_count == TOLD_MAX)
        return;
    told[told_count] = (struct told){.is_load = is_load, .base = module->base, .time = time};
    snprintf(told[told_count].name, sizeof(told[0].name), "%s", slash == NULL ? module->path : slash + 1);
    told_count++;
}

static void loaded(void *context, const struct gait_module *module, uint64_t time)
{
    CHECK(context == told);
    note(module, time, true);
}

static void unloaded(void *context, const struct gait_module *module, uint64_t time)
{
    CHECK(context == told);
    note(module, time, false);
}

static const struct gait_module_listener listener = {sizeof(listener), told, loaded, unloaded};

static void begin(void)
{
    bool is_automatic = false;

    told_count = 0;
    CHECK_EQUAL(gait_module_observer_create(&listener, &observer, &is_automatic, &error), 0);
    if (!is_automatic)
        check_skip("the loader cannot be hooked");
}

static void all_are_told_and_what_changes_then(void)
{
    struct plugin_modules plugins;
    unsigned at_first;

    plugin_modules_init(&plugins);
    begin();
    at_first = told_count;
    CHECK(at_first >= 4);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t before = time_counter();
        struct plugin plugin = plugin_load(&plugins, i % PLUGIN_COUNT);
        char name[] = "a.so";

        name[0] = (char)('a' + i % PLUGIN_COUNT);
        CHECK_EQUAL(told_count, at_first + 2 * i + 1);
        CHECK(told[told_count - 1].is_load);
        CHECK_EQUAL(told[told_count - 1].base, plugin.base);
        CHECK_TEXT(told[told_count - 1].name, name);
        CHECK(told[told_count - 1].time > before);
        plugin_unload(&plugin);
        CHECK_EQUAL(told_count, at_first + 2 * i + 2);
        CHECK(!told[told_count - 1].is_load);
        CHECK_TEXT(told[told_count - 1].name, name);
    }
    CHECK_EQUAL(gait_module_observer_look(observer, &error), 0);
    CHECK_EQUAL(told_count, at_first + 40);
    gait_module_observer_destroy(observer);
    at_first = told_count;
    struct plugin plugin = plugin_load(&plugins, 0);

    plugin_unload(&plugin);
    CHECK_EQUAL(told_count, at_first);
    plugin_modules_deinit(&plugins);
}

static void *load_and_unload(void *context)
{
    for (unsigned i = 0; i < 200; i++) {
        struct plugin plugin = plugin_load(context, i % PLUGIN_COUNT);

        plugin_unload(&plugin);
    }
    return NULL;
}

static void observers_come_and_go_while_others_load(void)
{
    struct plugin_modules plugins;
    pthread_t threads[2];

    plugin_modules_init(&plugins);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, load_and_unload, &plugins), 0);
    for (unsigned i = 0; i < 20; i++) {
        int balance = 0;

        begin();
        CHECK_EQUAL(gait_module_observer_look(observer, &error), 0);
        gait_module_observer_destroy(observer);
        for (unsigned j = 0; j < told_count; j++)
            balance += told[j].is_load ? 1 : -1;
        CHECK(balance >= 4);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    plugin_modules_deinit(&plugins);
}

static void children_go_on_observing(void)
{
    struct plugin_modules plugins;
    int status = -1;
    pid_t child;

    plugin_modules_init(&plugins);
    begin();
    child = fork();
    if (child == 0) {
        unsigned before = told_count;
        struct plugin plugin = plugin_load(&plugins, 1);

        CHECK_EQUAL(told_count, before + 1);
        plugin_unload(&plugin);
        CHECK_EQUAL(told_count, before + 2);
        fflush(stdout);
        _exit(check_failures != 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    gait_module_observer_destroy(observer);
    plugin_modules_deinit(&plugins);
}

static void wrong_arguments_are_refused(void)
{
    const struct gait_module_listener without_size = {.size_bytes = 0};

    CHECK_EQUAL(gait_module_observer_create(&without_size, &observer, NULL, &error), -EINVAL);
    CHECK_EQUAL(gait_module_observer_look(NULL, &error), -EINVAL);
    gait_module_observer_destroy(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_are_told_and_what_changes_then),
    CHECK_CASE(observers_come_and_go_while_others_load),
    CHECK_CASE(children_go_on_observing),
    CHECK_CASE(wrong_arguments_are_refused),
};

CHECK_MAIN(cases)
