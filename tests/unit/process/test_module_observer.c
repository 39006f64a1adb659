/* SPDX-License-Identifier: MIT */
/* Libraries are loaded and unloaded, and what the observer tells is compared with what the loader says itself. */
#define _GNU_SOURCE
#include "process/module_observer.h"

#include "base/time_counter.h"
#include "process/module_files.h"
#include "support/check.h"
#include "support/loader_hook.h"
#include "support/plugin_modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOLD_MAX 1000u

static struct told {
    bool is_load;
    struct module module;
    char path[MAPPING_PATH_BYTES_MAX + 1];
    uint64_t time;
} told[TOLD_MAX];
static unsigned told_count, unloading_count;

static struct module_observer observer;
static struct loader_hook hook;

static void note(const struct module *module, uint64_t time, bool is_load)
{
    if (told_count == TOLD_MAX)
        return;
    told[told_count] = (struct told){.is_load = is_load, .module = *module, .time = time};
    memcpy(told[told_count].path, module->path, module->path_length + 1);
    CHECK_EQUAL(strlen(module->path), module->path_length);
    told_count++;
}

static void note_load(void *context, const struct module *module, uint64_t time)
{
    CHECK(context == &observer);
    note(module, time, true);
}

static void note_unload(void *context, const struct module *module, uint64_t time)
{
    CHECK(context == &observer);
    note(module, time, false);
}

static void note_unloading(void *context)
{
    (void)context;
    unloading_count++;
}

static const struct module_listener listener = {&observer, note_load, note_unload, note_unloading};

static void notified(void)
{
    module_observer_notice(&observer);
}

static void begin(void)
{
    uint64_t function = 0;

    told_count = unloading_count = 0;
    module_observer_init(&observer, &listener);
    CHECK_EQUAL(module_observer_find(&observer, &function), 0);
    if (!loader_hook_attach(&hook, function, notified))
        check_skip("the loader's function for debuggers is not empty");
    CHECK_EQUAL(module_observer_notice(&observer), 0);
}

static void end(void)
{
    loader_hook_detach(&hook);
    module_observer_deinit(&observer);
}

static unsigned find_told(uint64_t base)
{
    for (unsigned i = told_count; i-- > 0;)
        if (told[i].module.base == base)
            return i;
    return TOLD_MAX;
}

/* ---- enumeration ------------------------------------------------------------------------------------------------- */

static int compare_module(struct dl_phdr_info *info, size_t size_bytes, void *context)
{
    unsigned *count = context;
    uint64_t low = UINT64_MAX, high = 0;
    unsigned place;

    (void)size_bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        low = info->dlpi_phdr[i].p_vaddr < low ? info->dlpi_phdr[i].p_vaddr : low;
        if (info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > high)
            high = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    }
    place = find_told(info->dlpi_addr + (low & ~(uint64_t)4095));
    CHECK(place < told_count);
    if (place == TOLD_MAX) {
        printf("%s is missing\n", info->dlpi_name);
        return 0;
    }
    CHECK(told[place].is_load);
    CHECK_EQUAL(told[place].module.bias, info->dlpi_addr);
    CHECK_EQUAL(told[place].module.end, (info->dlpi_addr + high + 4095) & ~(uint64_t)4095);
    if (info->dlpi_name[0] == '/') {
        char path[PATH_MAX];

        CHECK(realpath(info->dlpi_name, path) != NULL);
        CHECK_TEXT(told[place].path, path);
    }
    CHECK(told[place].module.link_map != 0);
    ++*count;
    return 0;
}

static void all_that_the_loader_has_is_told_at_first(void)
{
    char path[PATH_MAX] = "";
    unsigned count = 0, programs = 0, vdsos = 0;

    begin();
    dl_iterate_phdr(compare_module, &count);
    CHECK_EQUAL(told_count, count);
    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    for (unsigned i = 0; i < told_count; i++) {
        CHECK_EQUAL(told[i].module.namespace_number, 0);
        if (told[i].module.is_program) {
            CHECK_TEXT(told[i].path, path);
            programs++;
        }
        if (told[i].module.is_vdso) {
            CHECK_TEXT(told[i].path, "[vdso]");
            vdsos++;
        }
        CHECK(told[i].module.build_id_bytes != 0 || told[i].path[1] == 't' || told[i].module.is_program);
    }
    CHECK_EQUAL(programs, 1);
    CHECK_EQUAL(vdsos, 1);
    end();
}

static void looking_again_tells_nothing_new(void)
{
    unsigned before;

    begin();
    before = told_count;
    for (int i = 0; i < 10; i++)
        CHECK_EQUAL(module_observer_notice(&observer), 0);
    CHECK_EQUAL(told_count, before);
    end();
}

/* ---- coming and going -------------------------------------------------------------------------------------------- */

static void modules_that_come_and_go_are_told_in_time(void)
{
    struct plugin_modules plugins;
    unsigned order[PLUGIN_COUNT];

    plugin_modules_init(&plugins);
    begin();
    for (unsigned i = 0; i < PLUGIN_ORDERS; i++) {
        plugin_order(i, order);
        for (unsigned j = 0; j < PLUGIN_COUNT; j++) {
            uint64_t before = time_counter(), loaded, closing;
            unsigned first = told_count, went = unloading_count;
            struct plugin plugin = plugin_load(&plugins, order[j]);
            char name[] = "x.so";

            loaded = time_counter();
            name[0] = (char)('a' + order[j]);
            CHECK_EQUAL(told_count, first + 1);
            CHECK(told[first].is_load);
            CHECK_EQUAL(told[first].module.base, plugin.base);
            CHECK(strstr(told[first].path, name) != NULL);
            CHECK(told[first].time > before && told[first].time < loaded);
            closing = time_counter();
            plugin_unload(&plugin);
            CHECK_EQUAL(told_count, first + 2);
            CHECK(!told[first + 1].is_load);
            CHECK_EQUAL(told[first + 1].module.base, told[first].module.base);
            CHECK_TEXT(told[first + 1].path, told[first].path);
            CHECK(told[first + 1].time > closing && told[first + 1].time < time_counter());
            CHECK_EQUAL(unloading_count, went + 1);
        }
    }
    end();
    plugin_modules_deinit(&plugins);
}

/* A library whose constructor asks whether it was told of. */
bool test_constructor_sees(const void *address);
static unsigned constructor_calls;
static bool constructor_saw;

__attribute__((visibility("default"))) bool test_constructor_sees(const void *address)
{
    constructor_calls++;
    constructor_saw = false;
    for (unsigned i = 0; i < told_count; i++)
        constructor_saw |=
            told[i].is_load && (uintptr_t)address >= told[i].module.base && (uintptr_t)address < told[i].module.end;
    return constructor_saw;
}

static char library_path[128];

static void build_library(const char *source)
{
    char folder[] = "/tmp/gait-library-XXXXXX", file_path[64], command[512];
    FILE *file;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(file_path, sizeof(file_path), "%s/library.c", folder);
    snprintf(library_path, sizeof(library_path), "%s/library.so", folder);
    file = fopen(file_path, "w");
    CHECK(file != NULL && fputs(source, file) >= 0 && fclose(file) == 0);
    snprintf(command, sizeof(command), "cc -O1 -shared -fPIC -o %s %s", library_path, file_path);
    if (system(command) != 0)
        check_skip("there is no C compiler named cc");
    unlink(file_path);
}

static void remove_library(void)
{
    unlink(library_path);
    *strrchr(library_path, '/') = '\0';
    rmdir(library_path);
}

static void modules_are_told_before_their_constructors_run(void)
{
    static bool (*sees)(const void *address) = test_constructor_sees;
    char source[512];
    void *handle;

    snprintf(source, sizeof(source),
             "static int here; __attribute__((constructor)) static void construct(void) {"
             " (*(_Bool (**)(const void *))%pul)(&here); }",
             (void *)&sees);
    build_library(source);
    begin();
    handle = dlopen(library_path, RTLD_NOW);
    CHECK(handle != NULL);
    CHECK_EQUAL(constructor_calls, 1);
    CHECK(constructor_saw);
    dlclose(handle);
    end();
    remove_library();
}

static void other_namespaces_are_told_with_their_number(void)
{
    unsigned first, in_namespace, has_library = 0;
    void *handle;

    build_library("int puts(const char *text); int say(void) { return puts(\"\"); }");
    begin();
    first = told_count;
    handle = dlmopen(LM_ID_NEWLM, library_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle != NULL);
    for (unsigned i = first; i < told_count; i++) {
        CHECK(told[i].is_load);
        CHECK_EQUAL(told[i].module.namespace_number, 1);
        has_library += strcmp(told[i].path, library_path) == 0;
    }
    /* And its own libc, but no second loader. */
    in_namespace = told_count - first;
    CHECK_EQUAL(in_namespace, 2);
    CHECK_EQUAL(has_library, 1);
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    CHECK_EQUAL(told_count, first + in_namespace);
    CHECK_EQUAL(dlclose(handle), 0);
    CHECK_EQUAL(told_count, first + 2 * in_namespace);
    for (unsigned i = first + in_namespace; i < told_count; i++)
        CHECK(!told[i].is_load);
    end();
    remove_library();
}

static void failed_loads_leave_nothing(void)
{
    unsigned before;

    build_library("extern int nobody_has_this; int get(void) { return nobody_has_this; }");
    begin();
    before = told_count;
    CHECK(dlopen(library_path, RTLD_NOW) == NULL);
    CHECK(dlopen("/nowhere/to/be/found.so", RTLD_NOW) == NULL);
    /* It came, and went again. */
    for (unsigned i = before; i < told_count; i++)
        CHECK_EQUAL(told[i].is_load, (i - before) % 2 == 0);
    CHECK_EQUAL((told_count - before) % 2, 0);
    end();
    remove_library();
}

static void *load_and_unload(void *context)
{
    const struct plugin_modules *plugins = context;

    for (unsigned i = 0; i < 50; i++) {
        struct plugin plugin = plugin_load(plugins, i % PLUGIN_COUNT);

        plugin_unload(&plugin);
    }
    return NULL;
}

static _Atomic bool is_over;

static void *look_all_the_time(void *context)
{
    (void)context;
    while (!is_over)
        CHECK_EQUAL(module_observer_notice(&observer), 0);
    return NULL;
}

static void looking_while_others_load_does_no_harm(void)
{
    struct plugin_modules plugins;
    pthread_t loaders[2], looker;
    unsigned first;
    int balance = 0;

    plugin_modules_init(&plugins);
    begin();
    first = told_count;
    is_over = false;
    CHECK_EQUAL(pthread_create(&looker, NULL, look_all_the_time, NULL), 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_create(&loaders[i], NULL, load_and_unload, &plugins), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(loaders[i], NULL);
    is_over = true;
    pthread_join(looker, NULL);
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    for (unsigned i = first; i < told_count; i++) {
        balance += told[i].is_load ? 1 : -1;
        CHECK(balance >= 0 && balance <= 4);
        CHECK(i == first || told[i].time >= told[i - 1].time);
    }
    CHECK_EQUAL(balance, 0);
    CHECK(told_count > first + 100);
    end();
    plugin_modules_deinit(&plugins);
}

static void listeners_cannot_look_themselves(void *context, const struct module *module, uint64_t time)
{
    (void)module;
    (void)time;
    CHECK_EQUAL(module_observer_notice(context), -EDEADLK);
    told_count++;
}

static void a_listener_that_looks_is_refused(void)
{
    const struct module_listener asking = {&observer, listeners_cannot_look_themselves, NULL, NULL};

    told_count = 0;
    module_observer_init(&observer, &asking);
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    CHECK(told_count > 3);
    module_observer_deinit(&observer);
}

static void children_tell_all_again_if_their_parent_was_looking(void)
{
    int status = 1;
    pid_t child;

    begin();
    CHECK(!module_observer_begin_in_child(&observer));
    CHECK_EQUAL(owner_lock_acquire(&observer.lock, 1000), 0);
    child = fork();
    if (child == 0) {
        unsigned before = told_count;

        told_count = 0;
        CHECK(module_observer_begin_in_child(&observer));
        CHECK_EQUAL(module_observer_notice(&observer), 0);
        CHECK_EQUAL(told_count, before);
        fflush(stdout);
        _exit(check_failures);
    }
    owner_lock_release(&observer.lock);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    end();
}

/* ---- damaged lists ----------------------------------------------------------------------------------------------- */

static void lists_that_make_no_sense_change_nothing(void)
{
    struct {
        uint64_t words[5];
    } maps[2] = {{{0}}};
    struct {
        int32_t version;
        uint64_t map;
        uint64_t notification;
        int32_t state;
        uint64_t base;
        uint64_t next;
    } debug = {.version = 1, .notification = 1};
    unsigned before;
    uint64_t original;

    begin();
    before = told_count;
    original = observer.loader.debug;
    observer.loader.debug = (uintptr_t)&debug;
    /* A list without end. */
    maps[0].words[3] = (uintptr_t)&maps[1];
    maps[1].words[3] = (uintptr_t)&maps[0];
    debug.map = (uintptr_t)&maps[0];
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    /* One that leads nowhere. */
    maps[1].words[3] = 0x10;
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    debug.map = 0x10;
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    /* Namespaces without end. */
    debug.map = observer.loader.debug;
    debug.version = 2;
    debug.state = 1;
    debug.next = (uintptr_t)&debug;
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    CHECK_EQUAL(told_count, before);
    observer.loader.debug = original;
    CHECK_EQUAL(module_observer_notice(&observer), 0);
    CHECK_EQUAL(told_count, before);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(all_that_the_loader_has_is_told_at_first),
    CHECK_CASE(looking_again_tells_nothing_new),
    CHECK_CASE(modules_that_come_and_go_are_told_in_time),
    CHECK_CASE(modules_are_told_before_their_constructors_run),
    CHECK_CASE(other_namespaces_are_told_with_their_number),
    CHECK_CASE(failed_loads_leave_nothing),
    CHECK_CASE(looking_while_others_load_does_no_harm),
    CHECK_CASE(a_listener_that_looks_is_refused),
    CHECK_CASE(children_tell_all_again_if_their_parent_was_looking),
    CHECK_CASE(lists_that_make_no_sense_change_nothing),
};

CHECK_MAIN(cases)
