/* SPDX-License-Identifier: MIT */
/* The modules that there are: an observer of the core's that looks once. Stateless. */
#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/process_module.h"
#include "process/module_observer.h"

#include <errno.h>
#include <string.h>

struct module_search {
    gait_module_visit visit;
    void *context;
    uint64_t start; /* only modules that have addresses from here */
    uint64_t end;   /* up to here */
    size_t found;
    bool is_ended;
};

static bool has_address(const struct gait_module *module, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < module->segment_count; i++)
        if (module->segments[i].start < end && module->segments[i].end > start)
            return true;
    return false;
}

static void visit_module(void *context, const struct module *module, uint64_t time)
{
    struct module_search *search = context;
    struct process_module found;

    (void)time;
    if (search->is_ended)
        return;
    process_module_fill(module, &found);
    if (!has_address(&found.module, search->start, search->end))
        return;
    search->found++;
    search->is_ended = !search->visit(search->context, &found.module);
}

static int visit_modules(struct module_search *search, struct gait_error *err)
{
    const struct module_listener listener = {.context = search, .loaded = visit_module};
    struct module_observer observer;
    int result;

    if (search->visit == NULL)
        return error_set(err, EINVAL, "cannot list modules: visit is NULL");
    module_observer_init(&observer, &listener);
    result = module_observer_notice(&observer);
    module_observer_deinit(&observer);
    if (result != 0)
        return error_set(err, result, "cannot list modules: %s", strerror(-result));
    return 0;
}

EXPORT int gait_process_modules(gait_module_visit visit, void *context, struct gait_error *err)
{
    struct module_search search = {.visit = visit, .context = context, .start = 0, .end = UINT64_MAX};

    return visit_modules(&search, err);
}

EXPORT int gait_process_module_at(uint64_t address, gait_module_visit visit, void *context, struct gait_error *err)
{
    struct module_search search = {.visit = visit, .context = context, .start = address, .end = address + 1};
    int result = visit_modules(&search, err);

    if (result == 0 && search.found == 0)
        return error_set(err, ENOENT, "no module has the address 0x%llx", (unsigned long long)address);
    return result;
}
