/* SPDX-License-Identifier: MIT */
/* What the process maps, as whoever reads the ring sees it. */
#define _GNU_SOURCE
#include "agent/module_log.h"

#include "agent/selection.h"
#include "elf/build_id.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

static const struct mapping_watcher *watcher;
static unsigned loaded, unloaded; /* as the selection says */

static uint64_t note_loaded(const struct mapping *mapping, const char *path, struct selection_search *search)
{
    (void)mapping;
    (void)path;
    (void)search;
    loaded++;
    return 0;
}

static void note_unloaded(uint64_t start, uint64_t end)
{
    (void)start;
    (void)end;
    unloaded++;
}

static const struct selection_watcher selected = {.module = note_loaded, .remove = note_unloaded};

static void begin(void)
{
    agent_lab_begin(0, RING_DROP);
    selection_begin(NULL, agent_lab.ring, &agent_lab.options, &selected);
    watcher = module_log_begin(agent_lab.ring, NULL);
    agent_lab_take();
}

static uint8_t *map_code(void *at, size_t pages, int fixed)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    uint8_t *place = mmap(at, pages * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | fixed, file, 0);

    CHECK(place != MAP_FAILED);
    close(file);
    return place;
}

static void change(const uint8_t *start, size_t pages, bool may_execute)
{
    watcher->changed(watcher->context, (uintptr_t)start, (uintptr_t)start + pages * PAGE, may_execute);
    agent_lab_take();
}

/* The last that was told of an address: 1 it was loaded, 0 unloaded, -1 nothing. */
static int state_of(const void *address)
{
    const struct agent_lab_module *found = agent_lab_module_at((uintptr_t)address);

    return found == NULL ? -1 : (int)found->module.is_loaded;
}

static void what_is_there_at_the_beginning_is_told(void)
{
    char program[1024] = "";
    const struct agent_lab_module *own, *library;

    begin();
    CHECK(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    own = agent_lab_module_at((uintptr_t)begin);
    library = agent_lab_module_at((uintptr_t)&close);
    CHECK(own != NULL && library != NULL);
    CHECK_TEXT(own->path, program);
    CHECK(own->module.is_loaded && own->module.time != 0);
    CHECK(strstr(library->path, "libc") != NULL || strstr(library->path, "lib") != NULL);
    CHECK_EQUAL(state_of(&loaded), -1);
    CHECK(loaded >= 2);
}

static void build_ids_are_those_of_the_files(void)
{
    const struct agent_lab_module *library;
    FILE *notes;
    char command[512], text[128] = "", expected[128] = "";

    begin();
    library = agent_lab_module_at((uintptr_t)&close);
    CHECK(library != NULL && library->module.build_id_bytes > 8);
    for (unsigned i = 0; i < library->module.build_id_bytes; i++)
        sprintf(text + 2 * i, "%02x", library->module.build_id[i]);
    snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p' | tr -d '\\n'", library->path);
    notes = popen(command, "r");
    CHECK(notes != NULL && fgets(expected, sizeof(expected), notes) != NULL);
    pclose(notes);
    CHECK_TEXT(text, expected);
}

static void a_file_that_is_mapped_is_loaded_and_goes_when_it_is_unmapped(void)
{
    uint8_t *code;
    unsigned before;

    begin();
    code = map_code(NULL, 2, 0);
    CHECK_EQUAL(state_of(code), -1);
    change(code, 2, true);
    CHECK_EQUAL(state_of(code), 1);
    CHECK_EQUAL(state_of(code + 2 * PAGE - 1), 1);
    before = loaded;
    munmap(code, 2 * PAGE);
    change(code, 2, false);
    CHECK_EQUAL(state_of(code), 0);
    CHECK_EQUAL(unloaded, 1);
    CHECK_EQUAL(loaded, before);
}

static void data_and_memory_without_a_file_are_none(void)
{
    uint8_t *place = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    uint8_t *data = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);

    begin();
    change(place, 2, true);
    change(data, 1, true);
    CHECK_EQUAL(state_of(place), -1);
    CHECK_EQUAL(state_of(data), -1);
}

static void a_part_that_is_replaced_is_looked_at_as_a_whole(void)
{
    const struct agent_lab_module *left;
    uint8_t *code;

    begin();
    code = map_code(NULL, 4, 0);
    change(code, 4, true);
    munmap(code + PAGE, PAGE);
    change(code + PAGE, 1, false);
    CHECK_EQUAL(unloaded, 1);
    CHECK_EQUAL(state_of(code + PAGE), 0);
    left = agent_lab_module_at((uintptr_t)code);
    CHECK(left != NULL && left->module.is_loaded && left->module.end == (uintptr_t)code + PAGE);
    left = agent_lab_module_at((uintptr_t)code + 2 * PAGE);
    CHECK(left != NULL && left->module.is_loaded && left->module.end == (uintptr_t)code + 4 * PAGE);
    CHECK_EQUAL(left->module.file_offset, 2 * PAGE);
}

static void changes_without_code_tell_nothing(void)
{
    uint8_t *place = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned before;

    begin();
    before = agent_lab.module_count;
    change(place, 1, false);
    CHECK_EQUAL(agent_lab.module_count, before);
}

static void a_second_look_finds_what_came_and_went_unseen(void)
{
    uint8_t *stays, *goes, *comes;
    unsigned before;

    begin();
    stays = map_code(NULL, 2, 0);
    goes = map_code(NULL, 2, 0);
    change(stays, 2, true);
    change(goes, 2, true);
    munmap(goes, 2 * PAGE);
    comes = map_code(NULL, 3, 0);
    before = agent_lab.module_count;
    module_log_look_again();
    agent_lab_take();
    CHECK_EQUAL(state_of(stays), 1);
    CHECK_EQUAL(state_of(comes), 1);
    if (goes < comes || goes >= comes + 3 * PAGE)
        CHECK_EQUAL(state_of(goes), 0);
    CHECK_EQUAL(agent_lab.module_count, before + 2);
    /* Nothing new. */
    module_log_look_again();
    agent_lab_take();
    CHECK_EQUAL(agent_lab.module_count, before + 2);
}

static void another_file_in_the_same_place_is_noticed(void)
{
    static const char other[] = "/tmp/gait-module-log-test";
    const struct agent_lab_module *found;
    uint8_t *code;
    int file;

    begin();
    code = map_code(NULL, 2, 0);
    change(code, 2, true);
    file = open(other, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    CHECK(file >= 0 && ftruncate(file, 2 * PAGE) == 0);
    CHECK(mmap(code, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) == code);
    module_log_look_again();
    unlink(other);
    agent_lab_take();
    found = agent_lab_module_at((uintptr_t)code);
    CHECK(found != NULL && found->module.is_loaded);
    CHECK_TEXT(found == NULL ? "" : found->path, other);
    CHECK_EQUAL(found == NULL ? 1 : found->module.build_id_bytes, 0);
    CHECK_EQUAL(unloaded, 1);
}

/* Its own ring is empty; what the selection did with modules is as in its parent. */
static void a_child_tells_all_again(void)
{
    struct ring_region parent;
    unsigned before, selected_before;

    begin();
    before = agent_lab.module_count;
    selected_before = loaded;
    CHECK_EQUAL(ring_region_renew(agent_lab.ring, &parent), 0);
    ring_reader_close(agent_lab.reader);
    agent_lab_open(agent_lab.ring->fd);
    module_log_begin_in_child();
    agent_lab_take();
    CHECK_EQUAL(agent_lab.module_count, before);
    CHECK_EQUAL(state_of((const void *)begin), 1);
    CHECK_EQUAL(loaded, selected_before);
    change(map_code(NULL, 1, 0), 1, true);
    CHECK_EQUAL(loaded, selected_before + 1);
    module_log_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_there_at_the_beginning_is_told),
    CHECK_CASE(build_ids_are_those_of_the_files),
    CHECK_CASE(a_file_that_is_mapped_is_loaded_and_goes_when_it_is_unmapped),
    CHECK_CASE(data_and_memory_without_a_file_are_none),
    CHECK_CASE(a_part_that_is_replaced_is_looked_at_as_a_whole),
    CHECK_CASE(changes_without_code_tell_nothing),
    CHECK_CASE(a_second_look_finds_what_came_and_went_unseen),
    CHECK_CASE(another_file_in_the_same_place_is_noticed),
    CHECK_CASE(a_child_tells_all_again),
};

CHECK_APART_MAIN(cases)
