/* SPDX-License-Identifier: MIT */
#include "base/instruction_cache.h"

#include "base/code_view.h"
#include "support/check.h"
#include "support/machine_code.h"

static void code_written_anew_is_what_runs(void)
{
    for (enum code_view_mode mode = CODE_VIEW_RWX; mode <= CODE_VIEW_DUAL; mode++) {
        struct code_view view;

        CHECK_EQUAL(code_view_map(4096, mode, 0, &view), 0);
        for (uint16_t constant = 0; constant < 1000; constant++) {
            struct code_writer writer;

            code_writer_init(&writer, view.writable, view.size_bytes, cache_pc_of((uintptr_t)view.executable));
            machine_code_put_function(&writer, constant);
            instruction_cache_flush(view.writable, view.executable, code_writer_offset(&writer));
            CHECK_EQUAL(machine_code_call(writer.base_pc), constant);
        }
        code_view_unmap(&view);
    }
}

static void nothing_to_flush_is_fine(void)
{
    instruction_cache_flush(NULL, NULL, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(code_written_anew_is_what_runs),
    CHECK_CASE(nothing_to_flush_is_fine),
};

CHECK_MAIN(cases)
