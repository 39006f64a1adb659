/* SPDX-License-Identifier: MIT */
#include "agent/indirect_functions.h"

#include "support/check.h"

static unsigned asked, told;
static uint64_t told_target, told_patterns;

static int chosen(void)
{
    return 1;
}

static uint64_t choose(void)
{
    asked++;
    return (uintptr_t)chosen;
}

static uint64_t choose_nothing(void)
{
    asked++;
    return 0;
}

static void found(uint64_t target, uint64_t patterns, const char *name)
{
    CHECK_TEXT(name, "name");
    told++;
    told_target = target;
    told_patterns = patterns;
}

static void begin(void)
{
    asked = told = 0;
    indirect_functions_clear();
}

static void resolvers_are_asked_when_they_can_be(void)
{
    begin();
    indirect_functions_add((uintptr_t)choose, 1, "names", 4);
    indirect_functions_resolve(found);
    CHECK_EQUAL(asked, 0);
    indirect_functions_settle();
    indirect_functions_add((uintptr_t)choose, 4, "names", 4);
    indirect_functions_resolve(found);
    CHECK_EQUAL(asked, 1);
    CHECK_EQUAL(told, 1);
    CHECK_EQUAL(told_target, (uintptr_t)chosen);
    CHECK_EQUAL(told_patterns, 5);
    indirect_functions_settle();
    indirect_functions_resolve(found);
    CHECK_EQUAL(asked, 1);
}

static void what_is_gone_is_not_asked(void)
{
    begin();
    indirect_functions_add((uintptr_t)choose, 1, "names", 4);
    indirect_functions_remove((uintptr_t)choose, (uintptr_t)choose + 1);
    indirect_functions_settle();
    indirect_functions_resolve(found);
    CHECK_EQUAL(asked, 0);
}

static void what_chooses_nothing_is_not_told(void)
{
    begin();
    indirect_functions_add((uintptr_t)choose_nothing, 1, "names", 4);
    indirect_functions_settle();
    indirect_functions_resolve(found);
    CHECK_EQUAL(asked, 1);
    CHECK_EQUAL(told, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(resolvers_are_asked_when_they_can_be),
    CHECK_CASE(what_is_gone_is_not_asked),
    CHECK_CASE(what_chooses_nothing_is_not_told),
};

CHECK_MAIN(cases)
