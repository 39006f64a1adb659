/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/hook/hook_code.h"

#include "arch/engine.h"

#include "arch/x86_64/isa/decoder.h"
#include "base/code_writer.h"
#include "hook/stub_knowledge.h"
#include "support/check.h"

#define PLACE  0x10000000ull
#define TARGET 0x10012345ull

static uint8_t bytes[256] __attribute__((aligned(64)));
static struct hook_function function = {.address = 0x1111, .record_number = 77};
static struct hook_stub stub;

static const struct hook_stub_gates gates = {.enter = 0x7f0000001000, .leave = 0x7f0000002000};

static struct code_writer write_stub(unsigned parts, uint64_t place, uint64_t target, size_t capacity)
{
    const struct hook_stub_request request = {&function, target, parts};
    struct code_writer writer;

    memset(bytes, 0, sizeof(bytes));
    code_writer_init(&writer, bytes, capacity, cache_pc_of(place));
    x86_hook_stub_put(&writer, &request, &gates, &stub);
    return writer;
}

static struct x86_insn decode(uint64_t pc)
{
    struct x86_insn insn;

    CHECK_EQUAL(x86_decode(bytes + (pc - PLACE), sizeof(bytes) - (pc - PLACE), app_pc_of(pc), 0, &insn), 0);
    return insn;
}

/* What the gates and others rely on, from where the call of the entering gate returns to. */
static void knowledge_is_where_gates_look_for_it(void)
{
    uint64_t called, stub_place;

    (void)write_stub(HOOK_STUB_RECORD | HOOK_STUB_RETURNS, PLACE, TARGET, sizeof(bytes));
    called = stub.entry.value + decode(stub.entry.value).length;
    stub_place = (uintptr_t)bytes + (called - PLACE);
    CHECK(stub_function(stub_place) == &function);
    CHECK_EQUAL(stub_parts(stub_place), HOOK_STUB_RECORD | HOOK_STUB_RETURNS);
    CHECK_EQUAL(stub_record_number(stub_place), 77);
    CHECK_EQUAL(stub.landing.value, called + STUB_LANDING);
}

static void records_of_returns_say_so(void)
{
    uint64_t stub_place;

    (void)write_stub(HOOK_STUB_RECORD | HOOK_STUB_GOROUTINE | HOOK_STUB_EXIT, PLACE, TARGET, sizeof(bytes));
    stub_place = (uintptr_t)bytes + (stub.entry.value + decode(stub.entry.value).length - PLACE);
    CHECK_EQUAL(event_header_record(*(const uint32_t *)(uintptr_t)(stub_place + STUB_HEADER)), EVENT_RECORD_LEAVE);
    CHECK_EQUAL(stub_record_number(stub_place), 77);
    CHECK_EQUAL(stub.landing.value, 0);
}

static void a_stub_calls_its_gates_and_its_target(void)
{
    struct x86_insn insn;
    uint64_t pc;

    (void)write_stub(HOOK_STUB_LISTEN | HOOK_STUB_RETURNS, PLACE, TARGET, sizeof(bytes));
    pc = stub.entry.value;
    CHECK_EQUAL(pc, PLACE + 32);
    insn = decode(pc);
    CHECK_EQUAL(insn.flow, X86_FLOW_CALL_INDIRECT);
    pc += insn.length;
    insn = decode(pc);
    CHECK_EQUAL(insn.flow, X86_FLOW_CALL);
    CHECK_EQUAL(insn.target, TARGET);
    pc += insn.length;
    CHECK_EQUAL(pc, stub.landing.value);
    pc += decode(pc).length;
    insn = decode(pc);
    CHECK_EQUAL(insn.flow, X86_FLOW_CALL_INDIRECT);
    pc += insn.length;
    CHECK_EQUAL(pc, stub.landing.value - STUB_LANDING + STUB_LEFT);
    insn = decode(pc);
    CHECK_EQUAL(insn.flow, X86_FLOW_RETURN);
    pc += insn.length;
    CHECK_EQUAL(pc, stub.landing.value - STUB_LANDING + STUB_UNTRACKED);
    insn = decode(pc);
    CHECK_EQUAL(insn.flow, X86_FLOW_JUMP);
    CHECK_EQUAL(insn.target, TARGET);
    CHECK(stub.size_bytes <= 64);
}

static void stubs_without_returns_jump_to_their_target(void)
{
    uint64_t pc;

    (void)write_stub(HOOK_STUB_LISTEN, PLACE, TARGET, sizeof(bytes));
    pc = stub.entry.value + decode(stub.entry.value).length;
    CHECK_EQUAL(decode(pc).flow, X86_FLOW_JUMP);
    CHECK_EQUAL(decode(pc).target, TARGET);
    CHECK_EQUAL(stub.landing.value, 0);
}

static void probes_step_over_what_is_below_the_stack_pointer(void)
{
    uint64_t pc, gate;

    (void)write_stub(HOOK_STUB_LISTEN | HOOK_STUB_PROBE, PLACE, TARGET, sizeof(bytes));
    pc = stub.entry.value + decode(stub.entry.value).length;
    CHECK_EQUAL(decode(pc).flow, X86_FLOW_JUMP);
    gate = decode(pc).target;
    CHECK_EQUAL(gate, PLACE + 32);
    CHECK_EQUAL(decode(gate).flow, X86_FLOW_CALL_INDIRECT);
    pc = gate + decode(gate).length;
    pc += decode(pc).length;
    CHECK_EQUAL(decode(pc).target, TARGET);
}

/* Wherever it is written: in one cache line. */
static void stubs_are_aligned_and_fit(void)
{
    for (uint64_t offset = 0; offset < 64; offset += 16) {
        struct code_writer writer =
            write_stub(HOOK_STUB_RECORD | HOOK_STUB_RETURNS, PLACE + offset, TARGET, HOOK_STUB_BYTES_MAX);

        CHECK(!code_writer_overflowed(&writer));
        CHECK_EQUAL(stub.entry.value % 64, 32);
    }
}

static void what_is_out_of_reach_or_does_not_fit_is_told(void)
{
    struct code_writer writer = write_stub(HOOK_STUB_RETURNS, PLACE, 0x7f0000000000, sizeof(bytes));

    CHECK(code_writer_overflowed(&writer));
    writer = write_stub(HOOK_STUB_RETURNS, PLACE, TARGET, 40);
    CHECK(code_writer_overflowed(&writer));
}

static const struct check_case cases[] = {
    CHECK_CASE(knowledge_is_where_gates_look_for_it),
    CHECK_CASE(records_of_returns_say_so),
    CHECK_CASE(a_stub_calls_its_gates_and_its_target),
    CHECK_CASE(stubs_without_returns_jump_to_their_target),
    CHECK_CASE(probes_step_over_what_is_below_the_stack_pointer),
    CHECK_CASE(stubs_are_aligned_and_fit),
    CHECK_CASE(what_is_out_of_reach_or_does_not_fit_is_told),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
