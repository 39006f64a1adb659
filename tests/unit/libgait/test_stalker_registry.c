/* SPDX-License-Identifier: MIT */
/*
 * Stalkers come and go, and are told of code that others change.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "libgait/stalker_registry.h"

#include "gait/stalker.h"
#include "support/check.h"

#include <sys/mman.h>

static void stalkers_are_known_while_they_live(void)
{
    struct gait_stalker *first, *second;

    CHECK(stalker_registry_is_empty());
    CHECK_EQUAL(gait_stalker_create(NULL, &first, NULL), 0);
    CHECK_EQUAL(gait_stalker_create(NULL, &second, NULL), 0);
    CHECK(!stalker_registry_is_empty());
    gait_stalker_destroy(first);
    CHECK(!stalker_registry_is_empty());
    gait_stalker_destroy(second);
    CHECK(stalker_registry_is_empty());
    stalker_registry_invalidate(0, 4096);
}

/* Its translation is trusted, since the page cannot be written; only who is told knows. */
static void changed_code_is_translated_anew(void)
{
    /* mov eax, 1; ret */
    static const uint8_t code[] = {0xb8, 1, 0, 0, 0, 0xc3};
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct gait_stalker *stalker;
    struct gait_translation translation = {.size_bytes = sizeof(translation)};

    memcpy(page, code, sizeof(code));
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_prefetch(stalker, NULL, (uintptr_t)page, NULL), 0);
    CHECK_EQUAL(gait_stalker_find_translation(stalker, NULL, (uintptr_t)page, &translation, NULL), 0);
    stalker_registry_invalidate((uintptr_t)page, (uintptr_t)page + 5);
    CHECK(gait_stalker_find_translation(stalker, NULL, (uintptr_t)page, &translation, NULL) != 0);
    gait_stalker_destroy(stalker);
    munmap(page, 4096);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(stalkers_are_known_while_they_live),
        CHECK_CASE(changed_code_is_translated_anew),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
