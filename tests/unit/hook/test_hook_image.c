/* SPDX-License-Identifier: MIT */
/* This test's own file. */
#include "hook/hook_image.h"

#include "support/check.h"

#include <errno.h>

#define SELF "/proc/self/exe"

static const struct elf_function *find(const struct hook_image *image, const char *name)
{
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct elf_function *function = &image->functions.functions[i];

        if (function->name != NULL && function->name_length == strlen(name) &&
            memcmp(function->name, name, function->name_length) == 0)
            return function;
    }
    return NULL;
}

static void functions_are_listed_and_planned(void)
{
    const struct elf_function *function;
    struct hook_image image;
    struct hook_plan plan;
    int result;

    CHECK_EQUAL(hook_image_open(&image, SELF), 0);
    function = find(&image, "hook_image_open");
    CHECK(function != NULL && function->size_bytes > 16);
    CHECK(image.entry != 0 && find(&image, "_start") != NULL && find(&image, "_start")->start == image.entry);
    result = hook_image_survey(&image, NULL);
    if (result != -EOPNOTSUPP) {
        CHECK_EQUAL(result, 0);
        hook_planner_plan(&image.planner, function, &plan);
        CHECK_EQUAL(plan.address, function->start);
        CHECK(plan.method == HOOK_JUMP || plan.method == HOOK_JUMP_INTO_PADDING);
        CHECK(plan.displaced_end >= plan.patch_at + 5);
    }
    hook_image_close(&image);
    CHECK(image.file.memory == NULL && image.memory == NULL);
}

static void what_is_no_such_file_is_refused(void)
{
    struct hook_image image;

    CHECK_EQUAL(hook_image_open(&image, "/nowhere/at/all"), -ENOENT);
    CHECK_EQUAL(hook_image_open(&image, "/etc/passwd"), -ENOEXEC);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_listed_and_planned),
    CHECK_CASE(what_is_no_such_file_is_refused),
};

CHECK_MAIN(cases)
