/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/process.h"

#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

static struct gait_error error;
static unsigned count, programs, vdsos;
static struct gait_module last;
static char last_path[PATH_MAX];

static bool take(void *context, const struct gait_module *module)
{
    CHECK(context == &last);
    CHECK_EQUAL(module->size_bytes, sizeof(*module));
    CHECK(module->segment_count > 0);
    for (size_t i = 0; i < module->segment_count; i++)
        CHECK(module->segments[i].start >= module->base && module->segments[i].end <= module->end);
    programs += (module->flags & GAIT_MODULE_PROGRAM) != 0;
    vdsos += (module->flags & GAIT_MODULE_VDSO) != 0;
    last = *module;
    snprintf(last_path, sizeof(last_path), "%s", module->path);
    count++;
    return true;
}

static int count_linked(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    (void)info;
    (void)size_bytes;
    ++*(unsigned *)context;
    return 0;
}

static void all_modules_are_listed(void)
{
    unsigned linked = 0;

    CHECK_EQUAL(gait_process_modules(take, &last, &error), 0);
    dl_iterate_phdr(count_linked, &linked);
    CHECK_EQUAL(count, linked);
    CHECK_EQUAL(programs, 1);
    CHECK_EQUAL(vdsos, 1);
}

static bool stop_at_second(void *context, const struct gait_module *module)
{
    (void)module;
    return ++*(unsigned *)context < 2;
}

static void a_list_can_be_ended(void)
{
    unsigned seen = 0;

    CHECK_EQUAL(gait_process_modules(stop_at_second, &seen, &error), 0);
    CHECK_EQUAL(seen, 2);
    CHECK_EQUAL(gait_process_modules(NULL, NULL, &error), -EINVAL);
}

static void modules_are_found_by_address(void)
{
    char path[PATH_MAX] = "";
    Dl_info info;

    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    count = 0;
    CHECK_EQUAL(gait_process_module_at((uintptr_t)modules_are_found_by_address, take, &last, &error), 0);
    CHECK_EQUAL(count, 1);
    CHECK_TEXT(last_path, path);
    CHECK(dladdr(dlsym(RTLD_NEXT, "getppid"), &info) != 0);
    CHECK_EQUAL(gait_process_module_at((uintptr_t)info.dli_saddr, take, &last, &error), 0);
    CHECK_EQUAL(last.base, (uintptr_t)info.dli_fbase);
    CHECK_EQUAL(last.build_id_bytes, 20);
    CHECK_EQUAL(last.flags, GAIT_MODULE_LINKED);
    CHECK_EQUAL(gait_process_module_at((uintptr_t)&info, take, &last, &error), -ENOENT);
    CHECK_EQUAL(error.code, ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_modules_are_listed),
    CHECK_CASE(a_list_can_be_ended),
    CHECK_CASE(modules_are_found_by_address),
};

CHECK_MAIN(cases)
