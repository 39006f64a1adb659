/* SPDX-License-Identifier: MIT */
#include "trace/modules.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;

static void put(const struct trace_bytes *bytes, uint32_t kind)
{
    unlinkat(folder.fd, "modules.gait", 0);
    trace_folder_put_stream(
        &folder, &(struct trace_stream_plan){.name = "modules.gait", .header = {.kind = kind}, .bytes = bytes});
}

static void change(struct trace_bytes *bytes, uint32_t what, uint64_t time, uint64_t start, const char *path)
{
    struct trace_module module = {.change = what, .time = time, .start = start, .end = start + 0x1000};

    trace_bytes_put_module(bytes, &module, path);
}

static const char *path_at(const struct modules *modules, uint64_t address, uint64_t first, uint64_t last)
{
    const struct recorded_module *module = modules_find(modules, address, first, last);

    return module == NULL ? "" : module->path;
}

static void modules_are_found_by_address_and_time(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct modules modules;

    change(&bytes, TRACE_MODULE_LOADED, 10, 0x1000, "a");
    change(&bytes, TRACE_MODULE_LOADED, 20, 0x2000, "/a/longer/path");
    change(&bytes, TRACE_MODULE_UNLOADED, 30, 0x1000, "a");
    change(&bytes, TRACE_MODULE_LOADED, 40, 0x1000, "b");
    change(&bytes, TRACE_MODULE_LOADED, 50, 0x1800, "over b");
    change(&bytes, TRACE_MODULE_UNLOADED, 60, 0x7000, "never seen");
    put(&bytes, TRACE_STREAM_MODULES);
    CHECK_EQUAL(modules_read(&modules, folder.fd, "modules.gait", NULL), 0);
    CHECK_EQUAL(modules.count, 4);
    CHECK_TEXT(path_at(&modules, 0x1000, 9, 9), "");
    CHECK_TEXT(path_at(&modules, 0x1000, 10, 10), "a");
    CHECK_TEXT(path_at(&modules, 0x1fff, 29, 29), "a");
    CHECK_TEXT(path_at(&modules, 0x1000, 30, 39), "");
    CHECK_TEXT(path_at(&modules, 0x1000, 29, 39), "a");
    CHECK_TEXT(path_at(&modules, 0x1000, 0, UINT64_MAX), "b");
    CHECK_TEXT(path_at(&modules, 0x1900, 45, 45), "b");
    CHECK_TEXT(path_at(&modules, 0x1900, 55, 55), "over b");
    CHECK_TEXT(path_at(&modules, 0x0fff, 45, 45), "");
    CHECK_TEXT(path_at(&modules, 0x2fff, 45, 45), "/a/longer/path");
    CHECK_TEXT(path_at(&modules, 0x3000, 45, 45), "");
    modules_deinit(&modules);
}

/* A file may be mapped over another one. */
static void what_is_covered_has_ended(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct modules modules;

    change(&bytes, TRACE_MODULE_LOADED, 10, 0x1000, "a");
    change(&bytes, TRACE_MODULE_LOADED, 20, 0x1000, "b");
    change(&bytes, TRACE_MODULE_UNLOADED, 30, 0x1000, "b");
    put(&bytes, TRACE_STREAM_MODULES);
    CHECK_EQUAL(modules_read(&modules, folder.fd, "modules.gait", NULL), 0);
    CHECK_EQUAL(modules.modules[0].unloaded, 20);
    CHECK_EQUAL(modules.modules[1].unloaded, 30);
    CHECK_TEXT(path_at(&modules, 0x1000, 40, 40), "");
    modules_deinit(&modules);
}

static void names_are_of_all_modules_that_were_there(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct modules modules;

    change(&bytes, TRACE_MODULE_LOADED, 10, 0x1000, "a");
    change(&bytes, TRACE_MODULE_LOADED, 20, 0x3000, "b");
    put(&bytes, TRACE_STREAM_MODULES);
    CHECK_EQUAL(modules_read(&modules, folder.fd, "modules.gait", NULL), 0);
    CHECK_EQUAL(modules_set_name(&modules, 0x1800, "strcmp"), 0);
    CHECK_EQUAL(modules_set_name(&modules, 0x1900, "strlen"), 0);
    CHECK_EQUAL(modules_set_name(&modules, 0x2000, "nowhere"), 0);
    CHECK_EQUAL(modules.modules[0].name_count, 2);
    CHECK_EQUAL(modules.modules[0].names[0].address, 0x1800);
    CHECK_TEXT(modules.modules[0].names[1].name, "strlen");
    CHECK_EQUAL(modules.modules[1].name_count, 0);
    modules_deinit(&modules);
}

static void refuse(const struct trace_bytes *bytes, uint32_t kind)
{
    struct modules modules;

    put(bytes, kind);
    CHECK_EQUAL(modules_read(&modules, folder.fd, "modules.gait", NULL), -EPROTO);
}

static void impossible_modules_are_refused(void)
{
    static const struct {
        size_t offset;
        uint32_t value;
    } changes[] = {
        {offsetof(struct trace_module, size_bytes), 0},
        {offsetof(struct trace_module, size_bytes), 90},
        {offsetof(struct trace_module, size_bytes), UINT32_MAX - 7},
        {offsetof(struct trace_module, path_bytes), 9},
        {offsetof(struct trace_module, path_bytes), UINT32_MAX},
        {offsetof(struct trace_module, change), 3},
        {offsetof(struct trace_module, build_id_bytes), 33},
        {offsetof(struct trace_module, start), 0x2000},
    };
    struct trace_bytes good = {.size_bytes = 0};

    change(&good, TRACE_MODULE_LOADED, 10, 0x1000, "module");
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct trace_bytes bad = good;

        memcpy(bad.bytes + changes[i].offset, &changes[i].value, sizeof(changes[i].value));
        refuse(&bad, TRACE_STREAM_MODULES);
    }
    refuse(&good, TRACE_STREAM_BLOCKS);
}

static const struct check_case cases[] = {
    CHECK_CASE(names_are_of_all_modules_that_were_there),
    CHECK_CASE(modules_are_found_by_address_and_time),
    CHECK_CASE(what_is_covered_has_ended),
    CHECK_CASE(impossible_modules_are_refused),
};

int main(void)
{
    int result;

    trace_folder_init(&folder);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return result;
}
