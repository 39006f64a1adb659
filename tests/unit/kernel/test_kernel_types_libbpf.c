/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_types.h"

#include "support/check.h"

#include <errno.h>

static void functions_have_arguments(void)
{
    struct function_values values;

    CHECK_EQUAL(kernel_types_function("vfs_read", &values), 0);
    CHECK_EQUAL(values.argument_count, 4);
    CHECK_TEXT(values.arguments[0].name, "file");
    CHECK_EQUAL(values.arguments[0].type, KERNEL_FIELD_HEX);
    CHECK(!values.arguments[1].is_string);
    CHECK_TEXT(values.arguments[2].name, "count");
    CHECK_EQUAL(values.arguments[2].type, KERNEL_FIELD_UNSIGNED);
    CHECK_EQUAL(values.arguments[3].place, 3);
    CHECK(values.has_result);
    CHECK_EQUAL(values.result.type, KERNEL_FIELD_SIGNED);
    CHECK_EQUAL(kernel_types_function("kern_path", &values), 0);
    CHECK(values.arguments[0].is_string);
    CHECK_EQUAL(kernel_types_function("no_such_function", &values), -ENOENT);
}

static void tracepoints_have_them_too(void)
{
    struct function_values values;

    CHECK_EQUAL(kernel_types_tracepoint("sched_process_exec", &values), 0);
    CHECK(values.argument_count >= 3);
    CHECK_EQUAL(values.arguments[0].place, 0);
    CHECK_EQUAL(kernel_types_tracepoint("no_such_tracepoint", &values), -ENOENT);
}

static int count(void *context, const char *name)
{
    (void)name;
    ++*(size_t *)context;
    return 0;
}

static void both_can_be_listed(void)
{
    size_t functions = 0, tracepoints = 0;

    CHECK_EQUAL(kernel_types_list("vfs_rea*", count, &functions), 0);
    CHECK(functions >= 2);
    CHECK_EQUAL(kernel_types_list_tracepoints("sched_*", count, &tracepoints), 0);
    CHECK(tracepoints >= 5);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(functions_have_arguments),
        CHECK_CASE(tracepoints_have_them_too),
        CHECK_CASE(both_can_be_listed),
    };

    if (kernel_types_check() != 0)
        check_skip("the kernel does not tell its types, or gait was built without libbpf");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
