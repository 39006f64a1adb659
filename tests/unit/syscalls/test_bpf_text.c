/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <linux/bpf.h>

static struct call_text_run run;

static void attributes_are_those_of_the_command(void)
{
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 2};

    call_text_run_init(&run);
    CHECK_TEXT(
        CALL(&run, "bpf", 3, BPF_MAP_CREATE, AT(&attributes), 20),
        "bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, key_size=4, value_size=8, max_entries=2, map_flags=0}, "
        "20) = 3");
    CHECK_TEXT(CALL(&run, "bpf", -EBADF, BPF_MAP_FREEZE, AT(&attributes), 4),
               "bpf(BPF_MAP_FREEZE, {map_fd=2}, 4) = -1 EBADF (Bad file descriptor)");
    CHECK_TEXT(CALL(&run, "bpf", -EBADF, BPF_MAP_FREEZE, AT(&attributes), 8),
               "bpf(BPF_MAP_FREEZE, {map_fd=2, ...}, 8) = -1 EBADF (Bad file descriptor)");
    CHECK_TEXT(CALL(&run, "bpf", -EINVAL, 999, 0x1000, 4),
               "bpf(0x3e7 /* BPF_??? */, 0x1000, 4) = -1 EINVAL (Invalid argument)");
}

static const struct check_case cases[] = {
    CHECK_CASE(attributes_are_those_of_the_command),
};

CHECK_MAIN(cases)
