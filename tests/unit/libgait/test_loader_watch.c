/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "libgait/loader_watch.h"

#include "process/dynamic_loader.h"
#include "support/check.h"
#include "support/plugin_modules.h"

#include <errno.h>

static unsigned calls;

static void called(struct gait_invocation *invocation)
{
    CHECK(invocation->data == &calls);
    calls++;
}

static void loading_and_unloading_calls_it(void)
{
    struct plugin_modules plugins;
    struct dynamic_loader loader;
    struct loader_watch watch;
    struct gait_error error;
    struct plugin plugin;

    plugin_modules_init(&plugins);
    CHECK_EQUAL(dynamic_loader_find(&loader), 0);
    CHECK_EQUAL(loader_watch_begin(&watch, loader.notification, called, &calls, &error), 0);
    CHECK_EQUAL(calls, 0);
    plugin = plugin_load(&plugins, 0);
    /* Before and after. */
    CHECK_EQUAL(calls, 2);
    plugin_unload(&plugin);
    CHECK_EQUAL(calls, 4);
    loader_watch_end(&watch);
    loader_watch_end(&watch);
    plugin = plugin_load(&plugins, 0);
    plugin_unload(&plugin);
    CHECK_EQUAL(calls, 4);
    plugin_modules_deinit(&plugins);
}

static void what_cannot_be_hooked_is_refused(void)
{
    struct gait_error error;
    struct loader_watch watch;

    CHECK_EQUAL(loader_watch_begin(&watch, 0x10, called, &calls, &error), -EFAULT);
    loader_watch_end(&watch);
}

static const struct check_case cases[] = {
    CHECK_CASE(loading_and_unloading_calls_it),
    CHECK_CASE(what_cannot_be_hooked_is_refused),
};

CHECK_MAIN(cases)
