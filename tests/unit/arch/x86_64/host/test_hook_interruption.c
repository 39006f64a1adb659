/* SPDX-License-Identifier: MIT */
/* What gates have begun to write is written as a whole, wherever between its first and its last instruction they are.
 */
#define _GNU_SOURCE
#include "arch/signal_saved.h"
#include "hook/hook_gate.h"
#include "hook/invocation_stack.h"
#include "ring/event_record.h"
#include "support/check.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define TIME   0x1122334455667788ull
#define OLD    0xaaaaaaaaaaaaaaaaull
#define HEADER 0x00345600u
#define DEPTH  7u

static struct {
    uint64_t restorer;
    ucontext_t context;
} frame;
static uint64_t record[2];

/* As when a thread is interrupted there: 0, 1 or 2 words of the record are new. */
static unsigned interrupted_at(uint64_t pc)
{
    static struct invocation invocation = {.depth = DEPTH};
    static _Alignas(8) uint8_t stub[64];
    uint64_t sp = (uintptr_t)&stub[40];
    uint32_t header = HEADER;
    greg_t *registers = frame.context.uc_mcontext.gregs;

    memcpy(&stub[40 + STUB_HEADER], &header, sizeof(header));
    record[0] = record[1] = OLD;
    registers[REG_RIP] = (greg_t)pc;
    registers[REG_RAX] = (greg_t)(uintptr_t)record;
    registers[REG_RDX] = (greg_t)TIME;
    registers[REG_RSI] = (greg_t)(uintptr_t)&invocation;
    registers[REG_RSP] = (greg_t)(uintptr_t)&sp;
    hook_gate_complete_record((uintptr_t)&frame);
    return (record[0] != OLD) + (record[1] != OLD);
}

/* Looks through a gate: where it is about to write the time, and then for how long the header. */
static void check_gate(void (*gate)(void), uint32_t header, uint32_t depth)
{
    uint64_t at = (uintptr_t)gate, end = at + 256;

    while (at < end && interrupted_at(at) == 0)
        at++;
    CHECK_EQUAL(interrupted_at(at), 2);
    CHECK_EQUAL(record[0], (uint64_t)depth << 32 | header);
    CHECK_EQUAL(record[1], TIME);
    for (at++; interrupted_at(at) != 0; at++) {
        CHECK_EQUAL(record[0], (uint64_t)depth << 32 | header);
        CHECK_EQUAL(record[1], OLD);
    }
    CHECK(at < end);
}

static void a_record_that_is_begun_is_completed(void)
{
    CHECK_EQUAL(signal_saved_pc_at((uintptr_t)&frame), (uintptr_t)&frame.context.uc_mcontext.gregs[REG_RIP]);
    check_gate(hook_gate_enter_record, HEADER, DEPTH);
    check_gate(hook_gate_once_record, HEADER + (EVENT_RECORD_PASSED - EVENT_RECORD_ENTER), DEPTH + 1);
}

static void elsewhere_nothing_is_written(void)
{
    CHECK_EQUAL(interrupted_at((uintptr_t)interrupted_at), 0);
    CHECK_EQUAL(interrupted_at((uintptr_t)hook_gate_enter_any), 0);
    CHECK_EQUAL(interrupted_at(0), 0);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_record_that_is_begun_is_completed),
        CHECK_CASE(elsewhere_nothing_is_written),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
