/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "kernel/file_frames.h"

#include "kernel/mapped_files.h"
#include "support/check.h"
#include "unwind/unwind_rule.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static struct known_frames known;
static struct mapped_files files;

static const struct recorded_module *begin(uint64_t address)
{
    const struct mapped_process *process;

    CHECK_EQUAL(known_frames_init(&known), 0);
    CHECK_EQUAL(mapped_files_init(&files), 0);
    process = mapped_files_look(&files, (uint32_t)getpid());
    CHECK(process != NULL);
    return modules_find(&process->modules, address, 0, UINT64_MAX - 1);
}

static void end(void)
{
    mapped_files_deinit(&files);
    known_frames_deinit(&known);
}

static void files_that_are_mapped_tell_of_their_frames(void)
{
    uint64_t address = (uint64_t)(uintptr_t)&getpid, place;
    const struct recorded_module *module = begin(address);
    const struct file_frames *frames;

    CHECK(module != NULL);
    frames = known_frames_find(&known, (uint32_t)getpid(), module);
    CHECK(frames != NULL);
    CHECK_EQUAL(file_frames_place(frames, module, address, &place), 0);
    CHECK(unwind_rule_kind(unwind_table_find(file_frames_table(frames), place)) != UNWIND_UNKNOWN);
    CHECK_EQUAL(file_frames_place(frames, module, module->end + ((uint64_t)1 << 40), &place), -ENOENT);
    /* It is read once, for all processes. */
    CHECK(known_frames_find(&known, (uint32_t)getpid(), module) == frames);
    CHECK(known_frames_find(&known, (uint32_t)getppid(), module) == frames);
    CHECK_EQUAL(known.count, 1);
    end();
}

static void files_that_are_gone_tell_nothing(void)
{
    const struct recorded_module gone = {.start = 0x1000, .end = 0x2000, .path = (char *)(uintptr_t) "/nowhere/at/all"};
    const struct recorded_module text = {.start = 0x1000, .end = 0x2000, .path = (char *)(uintptr_t) "/etc/passwd"};

    (void)begin(0);
    CHECK(known_frames_find(&known, (uint32_t)getpid(), &gone) == NULL);
    CHECK(known_frames_find(&known, (uint32_t)getpid(), &text) == NULL);
    CHECK(known_frames_find(&known, 0x7ffffffe, &text) == NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(files_that_are_mapped_tell_of_their_frames),
    CHECK_CASE(files_that_are_gone_tell_nothing),
};

CHECK_MAIN(cases)
