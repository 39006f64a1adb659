/* SPDX-License-Identifier: MIT */
#include "base/code_view.h"

#include "support/check.h"
#include "support/forbid.h"

#include <errno.h>
#include <unistd.h>

static enum code_view_mode mode_chosen;

static void map_auto(void)
{
    struct code_view view;
    int result = code_view_map(4096, CODE_VIEW_AUTO, 0, &view);

    _exit(result == 0 ? (int)view.mode : 100 - result);
}

static void map_chosen(void)
{
    struct code_view view;

    _exit(-code_view_map(4096, mode_chosen, 0, &view));
}

static void forbid_rwx_and_map(void)
{
    if (!forbid_writable_and_executable())
        _exit(77);
    map_auto();
}

static void forbid_rwx_and_files_and_map(void)
{
    if (!forbid_writable_and_executable() || !forbid_memory_files())
        _exit(77);
    map_auto();
}

static void forbid_gain_and_map(void)
{
    if (!forbid_gaining_execute())
        _exit(77);
    map_auto();
}

static void forbid_gain_and_files_and_map(void)
{
    if (!forbid_gaining_execute() || !forbid_memory_files())
        _exit(77);
    map_auto();
}

static void forbid_all_and_map_chosen(void)
{
    if (!forbid_gaining_execute() || !forbid_memory_files())
        _exit(77);
    map_chosen();
}

static void check_child(void (*run)(void), int expected)
{
    int status = forbid_in_child(run);

    if (status == 77)
        printf("not tried: this system cannot forbid that\n");
    else
        CHECK_EQUAL(status, expected);
}

static void each_mode_writes_in_one_view_and_reads_in_the_other(void)
{
    for (enum code_view_mode mode = CODE_VIEW_RWX; mode <= CODE_VIEW_FREEZE; mode++) {
        struct code_view view;

        CHECK_EQUAL(code_view_map(10000, mode, 0, &view), 0);
        CHECK_EQUAL(view.mode, mode);
        CHECK(view.size_bytes >= 10000 && view.size_bytes % 4096 == 0);
        CHECK_EQUAL(view.writable != view.executable, mode == CODE_VIEW_DUAL);
        CHECK_EQUAL(code_view_thaw(&view, 5000, 4), 0);
        strcpy((char *)view.writable + 5000, "abc");
        CHECK_EQUAL(code_view_freeze(&view, 5000, 4), 0);
        CHECK_TEXT((char *)view.executable + 5000, "abc");
        code_view_unmap(&view);
        CHECK(view.executable == NULL);
    }
}

static void each_mode_finds_room_near(void)
{
    uint64_t near = (uintptr_t)&each_mode_finds_room_near;

    for (enum code_view_mode mode = CODE_VIEW_AUTO; mode <= CODE_VIEW_FREEZE; mode++) {
        struct code_view view;
        int64_t distance;

        CHECK_EQUAL(code_view_map(1 << 20, mode, near, &view), 0);
        distance = (int64_t)((uintptr_t)view.executable - near);
        CHECK(distance == (int32_t)distance);
        code_view_unmap(&view);
    }
}

static void sizes_that_cannot_be_are_refused(void)
{
    struct code_view view;

    for (enum code_view_mode mode = CODE_VIEW_AUTO; mode <= CODE_VIEW_FREEZE; mode++) {
        CHECK_EQUAL(code_view_map(0, mode, 0, &view), -EINVAL);
        CHECK_EQUAL(code_view_map(SIZE_MAX, mode, 0, &view), -EINVAL);
        CHECK(code_view_map(1ull << 60, mode, 0, &view) < 0);
    }
}

static void no_descriptor_stays_open(void)
{
    struct code_view view;
    int next = dup(0);

    close(next);
    CHECK_EQUAL(code_view_map(4096, CODE_VIEW_DUAL, 0, &view), 0);
    CHECK_EQUAL(dup(0), next);
    close(next);
    code_view_unmap(&view);
}

static void auto_takes_the_first_mode_that_the_system_allows(void)
{
    check_child(map_auto, CODE_VIEW_RWX);
    check_child(forbid_rwx_and_map, CODE_VIEW_DUAL);
    check_child(forbid_rwx_and_files_and_map, CODE_VIEW_FREEZE);
    check_child(forbid_gain_and_map, CODE_VIEW_DUAL);
}

static void what_is_forbidden_is_an_error_and_not_a_surprise_later(void)
{
    check_child(forbid_gain_and_files_and_map, 100 + EACCES);
    mode_chosen = CODE_VIEW_RWX;
    check_child(forbid_all_and_map_chosen, EACCES);
    mode_chosen = CODE_VIEW_DUAL;
    check_child(forbid_all_and_map_chosen, EPERM);
    mode_chosen = CODE_VIEW_FREEZE;
    check_child(forbid_all_and_map_chosen, EACCES);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_mode_writes_in_one_view_and_reads_in_the_other),
    CHECK_CASE(each_mode_finds_room_near),
    CHECK_CASE(sizes_that_cannot_be_are_refused),
    CHECK_CASE(no_descriptor_stays_open),
    CHECK_CASE(auto_takes_the_first_mode_that_the_system_allows),
    CHECK_CASE(what_is_forbidden_is_an_error_and_not_a_surprise_later),
};

CHECK_MAIN(cases)
