/* SPDX-License-Identifier: MIT */
#include "hook/stack_walkers.h"

#include "elf/function_list.h"
#include "support/check.h"

static uint32_t find(const char *name)
{
    struct elf_function functions[] = {
        {.name = "main", .name_length = 4},
        {.name = NULL},
        {.name = name, .name_length = (uint32_t)strlen(name)},
        {.name = "", .name_length = 0},
    };
    struct elf_function_list list = {functions, 4, 4};

    return hook_stack_walkers_find(&list);
}

static bool looks_at(const char *sign, const char *name)
{
    return hook_stack_walkers_look_at(find(sign), name, name == NULL ? 0 : strlen(name));
}

static void most_modules_have_none(void)
{
    CHECK_EQUAL(find("runtime.more"), 0);
    CHECK_EQUAL(find("morestack"), 0);
    CHECK(!looks_at("qsort", "main.main"));
    CHECK(!looks_at("qsort", NULL));
}

static void they_look_at_their_own_functions(void)
{
    CHECK(looks_at("caml_startup", "camlStdlib__List__map_123"));
    CHECK(!looks_at("caml_startup", "main"));
    CHECK(looks_at("stg_upd_frame_info", "base_GHCziBase_map_info"));
    CHECK(looks_at("stg_upd_frame_info", "stg_ap_0_fast"));
    CHECK(!looks_at("stg_upd_frame_info", "scheduleWaitThread"));
}

static void some_look_at_all_that_their_code_calls(void)
{
    CHECK(looks_at("runtime.morestack.abi0", "main.main"));
    CHECK(looks_at("runtime.morestack", "gogo"));
    CHECK(looks_at("JNI_CreateJavaVM", "JVM_Clone"));
    CHECK(looks_at("JNI_CreateJavaVM", NULL));
    CHECK(looks_at("_ZN2v87Isolate3NewERKNS0_12CreateParamsE", NULL));
    CHECK(looks_at("coreclr_initialize", "anything"));
}

static const struct check_case cases[] = {
    CHECK_CASE(most_modules_have_none),
    CHECK_CASE(they_look_at_their_own_functions),
    CHECK_CASE(some_look_at_all_that_their_code_calls),
};

CHECK_MAIN(cases)
