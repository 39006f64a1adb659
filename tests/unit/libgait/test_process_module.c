/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "libgait/process_module.h"

#include "process/module.h"
#include "process/module_files.h"
#include "support/check.h"

#include <sys/auxv.h>

static void modules_that_are_gone_have_no_segments(void)
{
    const struct module module = {.base = 0x10000, .end = 0x20000, .path = "gone", .is_vdso = true};
    struct process_module filled;

    process_module_fill(&module, &filled);
    CHECK_EQUAL(filled.module.base, 0x10000);
    CHECK_EQUAL(filled.module.end, 0x20000);
    CHECK_TEXT(filled.module.path, "gone");
    CHECK_EQUAL(filled.module.flags, GAIT_MODULE_VDSO);
    CHECK_EQUAL(filled.module.segment_count, 0);
}

static void segments_come_from_the_headers(void)
{
    struct process_module filled;
    struct module module;
    unsigned with_code = 0;

    CHECK_EQUAL(module_describe(getauxval(AT_BASE), &module), 0);
    module.path = "";
    process_module_fill(&module, &filled);
    CHECK(filled.module.segment_count >= 2);
    CHECK_EQUAL(filled.module.segments[0].start, getauxval(AT_BASE));
    for (size_t i = 0; i < filled.module.segment_count; i++)
        with_code += (filled.module.segments[i].access & GAIT_ACCESS_EXECUTE) != 0;
    CHECK_EQUAL(with_code, 1);
    CHECK(filled.module.build_id == module.build_id);
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_that_are_gone_have_no_segments),
    CHECK_CASE(segments_come_from_the_headers),
};

CHECK_MAIN(cases)
