/* SPDX-License-Identifier: MIT */
#include "stalker/call_probe.h"

#include "support/check.h"
#include "support/stalker_lab.h"

#include <errno.h>

#if defined(__x86_64__)

#define FUNCTION 0x1000
#define OTHER    0x2000

static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

/* The order in which probes were called, as digits. */
static uint64_t calls;
static struct gait_call last_call;

static uint64_t code_at(size_t offset)
{
    return (uintptr_t)lab.code.base + offset;
}

static void probe(struct gait_call *call, void *data)
{
    calls = calls * 10 + (uintptr_t)data;
    last_call = *call;
}

static void send_elsewhere(struct gait_call *call, void *data)
{
    calls = calls * 10 + (uintptr_t)data;
    call->cpu->pc = code_at(OTHER);
}

/* Calls a function twice. */
static void begin(void)
{
    stalker_lab_init(&lab, NULL);
    x86_call_pc(&lab.writer, cache_pc_of(code_at(FUNCTION)));
    x86_call_pc(&lab.writer, cache_pc_of(code_at(FUNCTION)));
    code_writer_put_u8(&lab.writer, 0xcc);
    stalker_lab_write_at(&lab, FUNCTION);
    x86_lea(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RAX, 1));
    x86_ret(&lab.writer, 0);
    stalker_lab_write_at(&lab, OTHER);
    x86_lea(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RAX, 100));
    x86_ret(&lab.writer, 0);
    stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
}

static uint64_t run(void)
{
    calls = 0;
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    CHECK_EQUAL(result.state.gpr[X86_RSP], initial.gpr[X86_RSP]);
    return calls;
}

static uint32_t add(size_t offset, gait_call_probe function, uintptr_t number)
{
    uint32_t id = 0;

    CHECK_EQUAL(call_probe_add(lab.engine, code_at(offset), function, (void *)number, &id), 0);
    CHECK(id != 0);
    return id;
}

static void probes_are_called_in_order_until_they_are_removed(void)
{
    uint32_t ids[3];

    begin();
    CHECK_EQUAL(run(), 0);
    /* Code that is translated already is probed too. */
    ids[0] = add(FUNCTION, probe, 1);
    CHECK_EQUAL(run(), 11);
    ids[1] = add(FUNCTION, probe, 2);
    ids[2] = add(FUNCTION, probe, 3);
    CHECK(ids[0] != ids[1] && ids[1] != ids[2]);
    CHECK_EQUAL(run(), 123123);
    CHECK_EQUAL(call_probe_remove(lab.engine, ids[1]), 0);
    CHECK_EQUAL(run(), 1313);
    CHECK_EQUAL(call_probe_remove(lab.engine, ids[0]), 0);
    CHECK_EQUAL(call_probe_remove(lab.engine, ids[2]), 0);
    CHECK_EQUAL(run(), 0);
    CHECK_EQUAL(result.state.gpr[X86_RAX], initial.gpr[X86_RAX] + 2);
    stalker_lab_deinit(&lab);
}

static void a_probe_sees_the_call(void)
{
    begin();
    add(FUNCTION, probe, 1);
    run();
    CHECK_EQUAL(last_call.target, code_at(FUNCTION));
    CHECK_EQUAL(last_call.return_address, code_at(10));
    CHECK_EQUAL((uintptr_t)last_call.stack, initial.gpr[X86_RSP] - 8);
    stalker_lab_deinit(&lab);
}

static void ids_that_are_not_known_are_refused(void)
{
    uint32_t id;

    begin();
    CHECK_EQUAL(call_probe_remove(lab.engine, 1), -ENOENT);
    id = add(FUNCTION, probe, 1);
    CHECK_EQUAL(call_probe_remove(lab.engine, id + 1), -ENOENT);
    CHECK_EQUAL(call_probe_remove(lab.engine, id), 0);
    CHECK_EQUAL(call_probe_remove(lab.engine, id), -ENOENT);
    CHECK(add(FUNCTION, probe, 1) != id);
    CHECK_EQUAL(run(), 11);
    stalker_lab_deinit(&lab);
}

static void a_probe_that_changes_the_pc_has_the_last_word(void)
{
    begin();
    add(FUNCTION, probe, 1);
    add(FUNCTION, send_elsewhere, 2);
    add(FUNCTION, probe, 3);
    CHECK_EQUAL(run(), 1212);
    CHECK_EQUAL(result.state.gpr[X86_RAX], initial.gpr[X86_RAX] + 200);
    stalker_lab_deinit(&lab);
}

static void addresses_have_probes_of_their_own(void)
{
    uint32_t id;

    begin();
    id = add(FUNCTION, probe, 1);
    add(OTHER, probe, 5);
    CHECK_EQUAL(run(), 11);
    CHECK_EQUAL(call_probe_remove(lab.engine, id), 0);
    CHECK_EQUAL(run(), 0);
    add(FUNCTION, send_elsewhere, 2);
    CHECK_EQUAL(run(), 2525);
    stalker_lab_deinit(&lab);
}

/* Only the first and the last probe of an address change translations. */
static void more_probes_need_no_new_translation(void)
{
    struct block *block;
    uint32_t first;

    begin();
    first = add(FUNCTION, probe, 1);
    run();
    block = code_cache_find(lab.cache, app_pc_of(code_at(FUNCTION)));
    CHECK_EQUAL(call_probe_remove(lab.engine, add(FUNCTION, probe, 2)), 0);
    CHECK(code_cache_find(lab.cache, app_pc_of(code_at(FUNCTION))) == block);
    CHECK_EQUAL(call_probe_remove(lab.engine, first), 0);
    CHECK(code_cache_find(lab.cache, app_pc_of(code_at(FUNCTION))) == NULL);
    stalker_lab_deinit(&lab);
}

static void note_arrival(struct gait_cpu_context *cpu, void *data)
{
    calls = calls * 10 + (uintptr_t)data;
    last_call.stack = (uint64_t *)(uintptr_t)gait_cpu_stack_pointer(cpu);
    last_call.target = cpu->pc;
}

/* At a function, and at the place behind a call of it. */
static void an_address_may_be_watched_too(void)
{
    uint32_t id;

    begin();
    CHECK_EQUAL(run(), 0);
    CHECK_EQUAL(call_probe_watch(lab.engine, code_at(FUNCTION), note_arrival, (void *)7), 0);
    CHECK_EQUAL(call_probe_watch(lab.engine, code_at(FUNCTION), note_arrival, (void *)8), -EEXIST);
    CHECK_EQUAL(run(), 77);
    CHECK_EQUAL(last_call.target, code_at(FUNCTION));
    CHECK_EQUAL((uintptr_t)last_call.stack, initial.gpr[X86_RSP] - 8);
    CHECK_EQUAL(call_probe_watch(lab.engine, code_at(5), note_arrival, (void *)9), 0);
    CHECK_EQUAL(run(), 797);
    /* Before probes, with which it does not interfere. */
    id = add(FUNCTION, probe, 1);
    CHECK_EQUAL(run(), 71971);
    CHECK_EQUAL(call_probe_remove(lab.engine, id), 0);
    CHECK_EQUAL(run(), 797);
    CHECK_EQUAL(result.state.gpr[X86_RAX], initial.gpr[X86_RAX] + 2);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(an_address_may_be_watched_too),
    CHECK_CASE(probes_are_called_in_order_until_they_are_removed),
    CHECK_CASE(a_probe_sees_the_call),
    CHECK_CASE(ids_that_are_not_known_are_refused),
    CHECK_CASE(a_probe_that_changes_the_pc_has_the_last_word),
    CHECK_CASE(addresses_have_probes_of_their_own),
    CHECK_CASE(more_probes_need_no_new_translation),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
