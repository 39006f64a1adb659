/* SPDX-License-Identifier: MIT */
/* Patches and stubs as x86-64 has them. As struct engine_hook has it. */
#ifndef GAIT_ARCH_X86_64_HOOK_HOOK_CODE_H
#define GAIT_ARCH_X86_64_HOOK_HOOK_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define X86_SYSTEM_CALL_BYTES 2

struct code_writer;
struct gait_cpu_context;
struct hook_plan;
struct hook_stub;
struct hook_stub_gates;
struct hook_stub_request;
struct redirect;
struct system_call_frame;
struct system_call_stub;
struct system_call_stub_request;

int x86_redirect_make(const struct hook_plan *plan, uint64_t target, struct redirect *redirect_out);
bool x86_redirect_reaches(uint64_t from, uint64_t target);
void x86_redirect_jump(struct code_writer *writer, uint64_t target);
void x86_hook_stub_put(struct code_writer *writer, const struct hook_stub_request *request,
                       const struct hook_stub_gates *gates, struct hook_stub *stub_out);
void x86_system_call_stub_put(struct code_writer *writer, const struct system_call_stub_request *request,
                              struct system_call_stub *stub_out);
void x86_system_call_context(const struct system_call_frame *frame, struct gait_cpu_context *context_out);

#endif
