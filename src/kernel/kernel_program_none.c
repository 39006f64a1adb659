/* SPDX-License-Identifier: MIT */
/* In builds without libbpf, or without clang to make programs for the kernel with. */
#include "kernel/kernel_program.h"

#include "hosted/error_text.h"

#include <errno.h>

int kernel_program_check(struct gait_error *err)
{
    return error_set(err, ENOTSUP,
                     "cannot load programs into the kernel: this gait was built without libbpf and clang; install "
                     "libbpf-dev and clang, and build it again");
}

void kernel_programs_init(struct kernel_programs *programs, pid_t pid)
{
    *programs = (struct kernel_programs){.pid = pid};
}

void kernel_programs_deinit(struct kernel_programs *programs)
{
    (void)programs;
}

enum kernel_program_form kernel_program_form_of(enum probe_kind kind)
{
    (void)kind;
    return KERNEL_PROGRAM_PROBE;
}

int kernel_programs_load(struct kernel_programs *programs, enum kernel_program_form form, const char *target,
                         struct program_config *config, struct kernel_program **program_out, struct gait_error *err)
{
    (void)programs;
    (void)form;
    (void)target;
    (void)config;
    (void)program_out;
    return kernel_program_check(err);
}

int kernel_program_descriptor(const struct kernel_program *program)
{
    (void)program;
    return -1;
}

int kernel_program_set_output(struct kernel_program *program, uint32_t cpu, int descriptor)
{
    (void)program;
    (void)cpu;
    (void)descriptor;
    return -ENOTSUP;
}

int kernel_programs_start(struct kernel_programs *programs, struct gait_error *err)
{
    return programs->first == NULL ? 0 : kernel_program_check(err);
}

int kernel_programs_counts(const struct kernel_programs *programs,
                           void (*visit)(void *context, const struct program_key *key, uint64_t count), void *context)
{
    (void)programs;
    (void)visit;
    (void)context;
    return -ENOTSUP;
}

uint64_t kernel_programs_left_out(const struct kernel_programs *programs)
{
    (void)programs;
    return 0;
}
