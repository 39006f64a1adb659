/* SPDX-License-Identifier: MIT */
/* Lines of this program, as if a trace had it. */
#include "view/pattern_lines.h"

#include "support/check.h"
#include "trace/modules.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const char __executable_start[];

static __attribute__((noinline)) int lined(int number)
{
    __asm__ volatile("" : "+r"(number));
    return number + 1;
}

enum { LINED_LINE = __LINE__ - 3 };

static void a_function_is_known_by_its_lines(void)
{
    char path[PATH_MAX] = "", text[64];
    struct recorded_module module = {
        .path = path, .start = (uintptr_t)__executable_start, .end = (uintptr_t)__executable_start + (1u << 26)};
    struct function_names names;
    struct pattern_lines lines = {.first = NULL};
    struct function_spelling spelling;

    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    CHECK_EQUAL(lined(1), 2);
    function_names_init(&names);
    snprintf(text, sizeof(text), "test_pattern_lines.c:%d", LINED_LINE);
    spelling = function_spelling_of(text);
    for (unsigned round = 0; round < 2; round++) {
        CHECK(pattern_lines_has(&lines, &names, &spelling, &module, (uintptr_t)lined));
        CHECK(!pattern_lines_has(&lines, &names, &spelling, &module, (uintptr_t)a_function_is_known_by_its_lines));
    }
    spelling = function_spelling_of("nothing.c:3");
    CHECK(!pattern_lines_has(&lines, &names, &spelling, &module, (uintptr_t)lined));
    pattern_lines_deinit(&lines);
    function_names_deinit(&names);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_is_known_by_its_lines),
};

CHECK_MAIN(cases)
