/* SPDX-License-Identifier: MIT */
/* What stubs need of a CPU: the contract that arch/<cpu>/hook fulfils, a line each in hook_stub_writers.def. */
#ifndef GAIT_HOOK_HOOK_STUB_WRITER_H
#define GAIT_HOOK_HOOK_STUB_WRITER_H

#include "hook/hook_stub.h"

/* The gates that a stub is to call: addresses of hook_gate.h, or others in tests. */
struct hook_stub_gates {
    uint64_t enter; /* of one whose return is not seen: the only one */
    uint64_t leave;
};

struct hook_stub_writer {
    const char *name;

    /*
     * Writes a stub, and where its knowledge is, laid out as the CPU's stub_layout.h has it. Targets that are out of
     * reach are the writer's sticky overflow.
     */
    void (*write)(struct code_writer *writer, const struct hook_stub_request *request,
                  const struct hook_stub_gates *gates, struct hook_stub *stub_out);
};

#endif
