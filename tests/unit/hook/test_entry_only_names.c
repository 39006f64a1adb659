/* SPDX-License-Identifier: MIT */
#include "hook/entry_only_names.h"

#include "support/check.h"

static bool is_listed(const char *name)
{
    return hook_is_entry_only_name(name, strlen(name));
}

static void known_names_are_found_with_and_without_underscores(void)
{
    static const char *const names[] = {"setjmp",
                                        "_setjmp",
                                        "__sigsetjmp",
                                        "vfork",
                                        "__vfork",
                                        "swapcontext",
                                        "_start",
                                        "__clone",
                                        "clone3",
                                        "mcount",
                                        "_mcount",
                                        "__fentry__",
                                        "lj_BC_ADDVV",
                                        "lj_vm_exit_handler",
                                        "_dl_runtime_resolve_xsavec",
                                        "__x86_indirect_thunk_rax",
                                        "__morestack"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!is_listed(names[i])) {
            printf("%s is not listed\n", names[i]);
            CHECK(is_listed(names[i]));
        }
}

static void others_are_not(void)
{
    static const char *const names[] = {"",          "_",       "____",   "main",        "fork",    "start_thread",
                                        "longjmp",   "restart", "cloned", "get_context", "vForked", "my_setjmp",
                                        "lj_vm_call"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_listed(names[i])) {
            printf("'%s' is listed\n", names[i]);
            CHECK(!is_listed(names[i]));
        }
    CHECK(!hook_is_entry_only_name(NULL, 0));
    CHECK(!hook_is_entry_only_name("vfork", 4));
    CHECK(hook_is_entry_only_name("clonexyz", 5));
}

static void some_are_returned_to(void)
{
    CHECK(hook_is_signal_return_name("__restore_rt", 12));
    CHECK(hook_is_signal_return_name("__restore", 9));
    CHECK(!hook_is_signal_return_name("__restore_all", 13));
    CHECK(!hook_is_signal_return_name("restore_rt", 10));
    CHECK(!hook_is_signal_return_name(NULL, 0));
    CHECK(hook_is_returned_into_name("runtime.goexit", 14));
    CHECK(hook_is_returned_into_name("runtime.goexit.abi0", 19));
    CHECK(!hook_is_returned_into_name("runtime.goexit1", 15));
    CHECK(!hook_is_returned_into_name(NULL, 0));
}

static const struct check_case cases[] = {
    CHECK_CASE(known_names_are_found_with_and_without_underscores),
    CHECK_CASE(others_are_not),
    CHECK_CASE(some_are_returned_to),
};

CHECK_MAIN(cases)
