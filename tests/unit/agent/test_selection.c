/* SPDX-License-Identifier: MIT */
/* configurations: debug-* asan-* */
/* Patterns are looked up in this program, and in the library that it is linked with. */
#define _GNU_SOURCE
#include "agent/selection.h"

#include "process/mapping_list.h"
#include "protocol/agent_known.h"
#include "protocol/agent_places.h"
#include "stalker/stalker_engine.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#define TOLD_MAX 64

int wanted_one(int value);
int wanted_two(int value);
int found_late(int value);

__attribute__((noinline)) int wanted_one(int value)
{
    return value + 1;
}

__attribute__((noinline)) int wanted_two(int value)
{
    return value + 2;
}

static __attribute__((used)) int (*find_late(void))(int)
{
    return wanted_one;
}

int found_late(int value) __attribute__((ifunc("find_late")));
/* Like a function by its name. */
int wanted_data = 7;

static struct told {
    uint32_t number;
    uint64_t address, size_bytes;
} told[TOLD_MAX];

static unsigned told_count, removed_count;
static uint64_t declared_at;
static const struct detail_declaration *declared;
static struct stalker_engine *engine;

static void note(const struct agent_pattern *pattern, uint32_t number, uint64_t address, uint64_t size_bytes)
{
    CHECK(pattern->text[0] != '\0');
    if (told_count < TOLD_MAX)
        told[told_count++] = (struct told){number, address, size_bytes};
}

static void note_declaration(uint64_t address, const struct detail_declaration *declaration)
{
    declared_at = address;
    declared = declaration;
}

static void note_removed(uint64_t start, uint64_t end)
{
    removed_count += start < end;
}

static const struct selection_watcher watcher = {.add = note, .declare = note_declaration, .remove = note_removed};

static void begin(void)
{
    agent_lab_begin(0, RING_DROP);
    engine = agent_lab_engine();
}

static void visit(void *context, const struct mapping *mapping)
{
    (void)context;
    if (mapping->path_length != 0 && mapping->is_executable)
        selection_module_loaded(mapping);
}

static void look(void)
{
    selection_begin(engine, agent_lab.ring, &agent_lab.options, &watcher);
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, visit, NULL), 0);
}

/* Which patterns were told of an address: a bit for each. */
static uint64_t patterns_at(const void *address)
{
    uint64_t patterns = 0;

    for (unsigned i = 0; i < told_count; i++)
        if (told[i].address == (uintptr_t)address)
            patterns |= 1ull << told[i].number;
    return patterns;
}

static void functions_of_the_program_are_found_by_their_names(void)
{
    begin();
    agent_lab_add_pattern(AGENT_PATTERN_THREAD, "wanted_*");
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "wanted_*");
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_CALL, "!wanted_two");
    agent_lab_add_pattern(AGENT_PATTERN_STACK, "no_such_function");
    look();
    CHECK_EQUAL(patterns_at((const void *)wanted_one), 1u << 1);
    CHECK_EQUAL(patterns_at((const void *)wanted_two), 1u << 1 | 1u << 2);
    CHECK_EQUAL(patterns_at(&wanted_data), 0);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1u << 1 | 1u << 2);
    for (unsigned i = 0; i < told_count; i++)
        CHECK(told[i].size_bytes != 0 && told[i].size_bytes < 4096);
}

static void functions_of_a_library_need_its_name(void)
{
    begin();
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "getppid");
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "libc.so*!getppid");
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "libm.so*!getppid");
    look();
    CHECK_EQUAL(patterns_at(dlsym(RTLD_DEFAULT, "getppid")), 1u << 1);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1u << 1);
}

static void functions_of_the_kernels_own_module_are_found_too(void)
{
    begin();
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "[[]vdso]!*clock_gettime");
    look();
    CHECK(told_count != 0);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1);
}

static bool is_quiet(const void *address)
{
    return quiet_range_holds(engine, app_pc_of((uintptr_t)address));
}

static void what_is_excluded_is_quiet(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

    begin();
    agent_lab_add_pattern(AGENT_PATTERN_EXCLUDE, "!wanted_one");
    agent_lab_add_pattern(AGENT_PATTERN_EXCLUDE, "libc.so*");
    agent_lab_add_pattern(AGENT_PATTERN_EXCLUDE, "no_such_module");
    look();
    CHECK(is_quiet((const void *)wanted_one));
    CHECK(!is_quiet((const void *)wanted_two));
    /* Not what a sanitizer has in the place of one. */
    CHECK(libc != NULL && is_quiet(dlsym(libc, "getppid")) && is_quiet(dlsym(libc, "strtol")));
    CHECK_EQUAL(told_count, 0);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1u << 0 | 1u << 1);
    /* When the module goes, so does that. */
    selection_module_unloaded((uintptr_t)wanted_one, (uintptr_t)wanted_one + 64);
    CHECK(!is_quiet((const void *)wanted_one));
    CHECK_EQUAL(removed_count, 1);
}

static void functions_that_are_chosen_later_are_waited_for(void)
{
    begin();
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "found_late");
    look();
    CHECK_EQUAL(told_count, 0);
    CHECK_EQUAL(ring_reader_unresolved(agent_lab.reader), 1);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 0);
    CHECK_EQUAL(found_late(wanted_two(1)), 4);
}

/* An ELF file's addresses are those in memory less where it was put. */
static uint64_t file_address(const void *address)
{
    Dl_info info;
    struct link_map *map;

    CHECK(dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0);
    return (uintptr_t)address - map->l_addr;
}

static void what_the_controller_knows_of_arguments_is_handed_on(void)
{
    static const struct detail_declaration known = {.is_given = 1, .count = 2};
    char path[1024] = "";

    begin();
    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    CHECK(agent_known_add(&agent_lab.options.known,
                          agent_known_key((struct glob_text){path, strlen(path)}, file_address((void *)wanted_two)),
                          &known));
    agent_known_sort(&agent_lab.options.known);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "wanted_*");
    look();
    CHECK_EQUAL(declared_at, (uintptr_t)wanted_two);
    CHECK(declared != NULL && declared->count == 2);
}

static void functions_are_meant_where_they_were_looked_up(void)
{
    char path[1024] = "", text[32];
    struct glob_text whole = {path, 0};

    begin();
    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    whole.length = strlen(path);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "wanted_*");
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)file_address((void *)wanted_one));
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, text);
    CHECK(agent_places_add(&agent_lab.options.places, agent_places_module(whole), file_address((void *)wanted_two), 1));
    look();
    CHECK_EQUAL(patterns_at((const void *)wanted_two), 1);
    CHECK_EQUAL(patterns_at((const void *)wanted_one), 2);
}

static uint64_t searched, errno_places, probed, excluded, hooked, detailed;
static unsigned searched_modules;

static uint64_t search_module(const struct mapping *mapping, const char *path, struct selection_search *search)
{
    CHECK(path[0] != '\0');
    if (selection_is_program(mapping)) {
        CHECK_TEXT(path, "/proc/self/exe");
        hooked = search->hooked;
        errno_places = search->errno_places;
        probed = search->probed;
        excluded = search->excluded;
        detailed = search->detailed;
        search->unresolved = 1u << 3;
    }
    searched_modules++;
    return selection_is_program(mapping) ? searched : 0;
}

static void without_an_engine_modules_are_searched_by_the_watcher(void)
{
    static const struct selection_watcher hooks = {.module = search_module, .remove = note_removed};

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_HOOK, "wanted_*");
    agent_lab_add_pattern(AGENT_PATTERN_EXCLUDE, "!wanted_two");
    agent_lab_add_pattern(AGENT_PATTERN_HOOK, "libc.so*!*");
    agent_lab_add_pattern(AGENT_PATTERN_ERRNO, "*!wanted_one");
    agent_lab_add_pattern(AGENT_PATTERN_PROBE, "!a:b");
    searched = 1u << 0 | 1u << 4;
    selection_begin(NULL, agent_lab.ring, &agent_lab.options, &hooks);
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, visit, NULL), 0);
    CHECK(searched_modules >= 3);
    CHECK_EQUAL(hooked, 1u << 0);
    CHECK_EQUAL(excluded, 1u << 1);
    CHECK_EQUAL(errno_places, 1u << 3);
    CHECK_EQUAL(probed, 1u << 4);
    CHECK_EQUAL(detailed, 0);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), searched);
    CHECK_EQUAL(ring_reader_unresolved(agent_lab.reader), 1u << 3);
}

static void a_session_that_ended_asks_for_nothing(void)
{
    begin();
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "wanted_*");
    look();
    selection_end();
    told_count = 0;
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, visit, NULL), 0);
    selection_module_unloaded(0, UINT64_MAX);
    CHECK_EQUAL(told_count + removed_count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_meant_where_they_were_looked_up),
    CHECK_CASE(functions_of_the_program_are_found_by_their_names),
    CHECK_CASE(functions_of_a_library_need_its_name),
    CHECK_CASE(functions_of_the_kernels_own_module_are_found_too),
    CHECK_CASE(what_is_excluded_is_quiet),
    CHECK_CASE(functions_that_are_chosen_later_are_waited_for),
    CHECK_CASE(what_the_controller_knows_of_arguments_is_handed_on),
    CHECK_CASE(without_an_engine_modules_are_searched_by_the_watcher),
    CHECK_CASE(a_session_that_ended_asks_for_nothing),
};

CHECK_APART_MAIN(cases)
