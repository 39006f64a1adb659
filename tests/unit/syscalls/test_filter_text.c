/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

static struct call_text_run run;

static void programs_are_written_as_macros(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 59, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, instructions};

    run.options.is_verbose = true;
    filter_text_put(text, AT(&program), true);
    CHECK_TEXT(run.buffer,
               "{len=4, filter=[BPF_STMT(BPF_LD|BPF_W|BPF_ABS, 0), BPF_JUMP(BPF_JMP|BPF_K|BPF_JEQ, 0x3b, 0, "
               "0x1), BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ERRNO|0x1), BPF_STMT(BPF_RET|BPF_K, "
               "SECCOMP_RET_ALLOW)]}");
}

static void places_outside_of_the_packet_have_names(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_LL_OFF + 4)),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
    };
    struct sock_fprog program = {3, instructions};

    run.options.is_verbose = true;
    filter_text_put(text, AT(&program), false);
    CHECK_TEXT(run.buffer, "{len=3, filter=[BPF_STMT(BPF_LD|BPF_B|BPF_ABS, SKF_AD_OFF+SKF_AD_PROTOCOL), "
                           "BPF_STMT(BPF_LD|BPF_B|BPF_ABS, SKF_LL_OFF+4), BPF_STMT(BPF_RET|BPF_K, 0xffff)]}");
    call_text_run_clear(&run);
    filter_text_put(text, 0x10, false);
    CHECK_TEXT(run.buffer, "0x10");
}

static const struct check_case cases[] = {
    CHECK_CASE(programs_are_written_as_macros),
    CHECK_CASE(places_outside_of_the_packet_have_names),
};

CHECK_MAIN(cases)
