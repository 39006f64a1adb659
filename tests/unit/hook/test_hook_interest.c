/* SPDX-License-Identifier: MIT */
/*
 * Plans of some functions, and of system calls, are those that are made when all code has been looked at: of real
 * libraries, with random choices. Code that is passed over has nothing to do with them.
 */
#include "base/memory_map.h"
#include "hook/hook_image.h"
#include "hook/instruction_plan.h"
#include "support/check.h"
#include "support/random.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS    25
#define SITES_MAX 4096

struct sites {
    struct hook_plan plans[SITES_MAX];
    size_t count;
};

static struct hook_image whole, partly;
static struct sites whole_sites, partly_sites;

static void open_both(const char *path)
{
    CHECK_EQUAL(hook_image_open(&whole, path), 0);
    CHECK_EQUAL(hook_image_open(&partly, path), 0);
}

static void close_both(void)
{
    hook_image_close(&whole);
    hook_image_close(&partly);
}

static void survey(struct hook_image *image, const struct hook_interest *interest)
{
    if (image->memory != NULL)
        memory_unmap(image->memory, image->memory_bytes);
    CHECK_EQUAL(hook_image_survey(image, interest), 0);
}

static bool is_chosen(const uint8_t *chosen, size_t which)
{
    return chosen[which / 8] >> which % 8 & 1;
}

static void check_same(const struct hook_plan *plan, const struct hook_plan *expected)
{
    CHECK_EQUAL(plan->method, expected->method);
    CHECK_EQUAL(plan->obstacle, expected->obstacle);
    CHECK_EQUAL(plan->patch_at, expected->patch_at);
    CHECK_EQUAL(plan->patch_bytes, expected->patch_bytes);
    CHECK_EQUAL(plan->displaced_end, expected->displaced_end);
    CHECK_EQUAL(plan->hop_at, expected->hop_at);
    CHECK_EQUAL(plan->is_entry_only, expected->is_entry_only);
    CHECK_EQUAL(plan->is_loop_head, expected->is_loop_head);
}

static unsigned check_functions(const uint8_t *chosen)
{
    unsigned obstructed = 0;

    for (size_t i = 0; i < whole.functions.count; i++) {
        struct hook_plan expected, plan;

        if (!is_chosen(chosen, i))
            continue;
        hook_planner_plan(&whole.planner, &whole.functions.functions[i], &expected);
        hook_planner_plan(&partly.planner, &partly.functions.functions[i], &plan);
        check_same(&plan, &expected);
        obstructed += expected.obstacle == HOOK_BRANCH_INSIDE;
    }
    return obstructed;
}

static void choose(struct random *random, uint8_t *chosen, uint64_t one_in)
{
    for (size_t i = 0; i < partly.functions.count; i++) {
        const struct elf_function *function = &partly.functions.functions[i];

        if (function->name != NULL && !function->is_part && !function->is_label && random_below(random, one_in) == 0)
            chosen[i / 8] |= (uint8_t)(1u << i % 8);
    }
}

/* Puts a branch, or lea, into the code of an image: nothing of it is ever executed. */
static void put_branch(struct hook_image *image, uint64_t at, unsigned kind, uint64_t target)
{
    static const char *const kinds[] = {"\xe9", "\xe8", "\x0f\x85", "\x48\x8d\x3d"};
    size_t opcode_bytes = strlen(kinds[kind]);

    for (size_t i = 0; i < image->module.span_count; i++) {
        const struct hook_span *span = &image->module.spans[i];
        uint8_t *bytes = (uint8_t *)image->file.memory + (span->bytes - (const uint8_t *)image->file.memory);
        int32_t distance = (int32_t)(target - (at + opcode_bytes + sizeof(distance)));

        if (!span->is_code || at < span->address || at + 16 > span->address + span->size_bytes)
            continue;
        memcpy(bytes + (at - span->address), kinds[kind], opcode_bytes);
        memcpy(bytes + (at - span->address) + opcode_bytes, &distance, sizeof(distance));
    }
}

/* Where any function begins, so that the survey comes by; into the first bytes of those that are chosen. */
static void put_branches(struct random *random, const uint8_t *chosen)
{
    for (size_t i = 0; i < whole.functions.count; i++) {
        uint64_t target = whole.functions.functions[i].start + 1 + random_below(random, 8);
        uint64_t at = whole.functions.functions[random_below(random, whole.functions.count)].start;
        unsigned kind = (unsigned)random_below(random, 4);

        if (!is_chosen(chosen, i) || random_below(random, 2) == 0)
            continue;
        put_branch(&whole, at, kind, target);
        put_branch(&partly, at, kind, target);
    }
}

static uint64_t count_marks(const struct hook_image *image)
{
    uint64_t marks = 0;

    for (size_t span = 0; span < image->module.span_count; span++)
        for (uint64_t i = 0; image->module.spans[span].is_code && i < image->module.spans[span].size_bytes / 8; i++)
            marks += (uint64_t)__builtin_popcount(image->planner.taken[span][i]);
    return marks;
}

static void check_library(const char *path)
{
    unsigned obstructed = 0;
    struct random random;

    random_init(&random, 7);
    open_both(path);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t *chosen = calloc(1, partly.functions.count / 8 + 1);
        const struct hook_interest interest = {chosen, false};
        uint64_t one_in = 2 + random_below(&random, 400);

        choose(&random, chosen, one_in);
        if (round > ROUNDS / 2)
            put_branches(&random, chosen);
        survey(&whole, NULL);
        survey(&partly, &interest);
        /* Most of it was passed over, or this proves nothing. */
        if (one_in > 100)
            CHECK(count_marks(&partly) < count_marks(&whole) * 2 / 3);
        obstructed += check_functions(chosen);
        free(chosen);
    }
    CHECK(obstructed > 0);
    close_both();
}

static void take_site(void *context, const struct hook_plan *plan)
{
    struct sites *sites = context;

    CHECK(sites->count < SITES_MAX);
    sites->plans[sites->count++] = *plan;
}

static void check_system_calls(const char *path, size_t at_least)
{
    struct hook_interest interest = {.has_system_calls = true};
    uint8_t *chosen;

    whole_sites.count = partly_sites.count = 0;
    open_both(path);
    chosen = calloc(1, partly.functions.count / 8 + 1);
    interest.functions = chosen;
    survey(&whole, NULL);
    survey(&partly, &interest);
    hook_planner_find_system_calls(&whole.planner, take_site, &whole_sites);
    hook_planner_find_system_calls(&partly.planner, take_site, &partly_sites);
    CHECK(whole_sites.count >= at_least);
    CHECK_EQUAL(partly_sites.count, whole_sites.count);
    for (size_t i = 0; i < partly_sites.count; i++) {
        CHECK_EQUAL(partly_sites.plans[i].address, whole_sites.plans[i].address);
        check_same(&partly_sites.plans[i], &whole_sites.plans[i]);
    }

    free(chosen);
    close_both();
}

static const char *path_of(const char *library)
{
    struct link_map *map = dlopen(library, RTLD_LAZY);

    return map == NULL ? NULL : map->l_name;
}

static void plans_of_the_c_library_are_the_same(void)
{
    check_library(path_of("libc.so.6"));
}

static void plans_of_other_libraries_are_the_same(void)
{
    static const char *const libraries[] = {"libm.so.6", "libstdc++.so.6", "libcrypto.so.3"};

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (path_of(libraries[i]) != NULL)
            check_library(path_of(libraries[i]));
}

static void plans_of_system_calls_are_the_same(void)
{
    check_system_calls(path_of("libc.so.6"), 300);
    check_system_calls("/lib64/ld-linux-x86-64.so.2", 20);
}

static const struct check_case cases[] = {
    CHECK_CASE(plans_of_the_c_library_are_the_same),
    CHECK_CASE(plans_of_other_libraries_are_the_same),
    CHECK_CASE(plans_of_system_calls_are_the_same),
};

CHECK_MAIN(cases)
