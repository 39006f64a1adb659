/* SPDX-License-Identifier: MIT */
#include "stalker/dispatch.h"

#include "base/counters.h"
#include "gait/stalker.h"
#include "gait/x86_64.h"
#include "ring/event_record.h"
#include "stalker/stalker_gate.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <sys/syscall.h>

#if defined(__x86_64__)

static struct stalker_lab lab;
static struct stalker_thread *const thread = &lab.thread;

static struct app_pc code_at(size_t offset)
{
    return app_pc_of((uintptr_t)lab.code.base + offset);
}

static void init(uint32_t events)
{
    struct stalker_lab_options options = {.events = events, .fill = STALKER_LAB_LEAVES};

    stalker_lab_init(&lab, &options);
    thread->with_position = events != 0;
    gait_cpu_stack_pointer_set(&thread->context, (uintptr_t)lab.stack.base + 0x1000);
}

static void deinit(void)
{
    list_remove(&thread->node);
    stalker_lab_deinit(&lab);
}

static void dispatch(enum stalker_reason reason)
{
    stalker_lab_write_end(&lab);
    thread->reason = reason;
    thread->resume = 0;
    stalker_dispatch(thread);
}

static void put_jump(size_t offset, size_t target)
{
    stalker_lab_write_at(&lab, offset);
    x86_jmp_pc(&lab.writer, cache_pc_of(code_at(target).value), X86_REACH_NEAR);
}

static struct block *block_at(size_t offset)
{
    return code_cache_find(lab.cache, code_at(offset));
}

static void a_thread_that_enters_goes_on_in_a_block(void)
{
    init(0);
    put_jump(0, 0x100);
    thread->context.pc = code_at(0).value;
    dispatch(STALKER_ENTER);
    CHECK(block_at(0) != NULL);
    CHECK_EQUAL(thread->resume, block_at(0)->entry.value);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter);
    CHECK(!thread->is_leaving);
    /* The second time it is found. */
    dispatch(STALKER_ENTER);
    CHECK_EQUAL(thread->resume, block_at(0)->entry.value);
    CHECK_EQUAL(lab.cache->block_count, 1);
    deinit();
}

static void an_exit_is_linked_to_where_it_leads(void)
{
    struct block *from;

    init(0);
    put_jump(0, 0x100);
    from = stalker_lab_obtain(&lab, code_at(0), false);
    thread->exit = block_exit_number(from, 0);
    dispatch(STALKER_EXIT);
    CHECK(block_at(0x100) != NULL);
    CHECK_EQUAL(thread->resume, block_at(0x100)->entry.value);
    CHECK_EQUAL(thread->context.pc, code_at(0x100).value);
    CHECK(code_cache_linked(lab.cache, &from->exits[0]) == block_at(0x100));
    deinit();
}

static void indirect_branches_find_their_target_the_next_time(void)
{
    struct block *known;

    init(0);
    thread->target = code_at(0x200).value;
    dispatch(STALKER_INDIRECT);
    CHECK_EQUAL(thread->resume, block_at(0x200)->entry.value);
    CHECK(block_has_landing(block_at(0x200)));
    CHECK_EQUAL(lab.cache->indirect.entries[code_at(0x200).value % INDIRECT_TABLE_ENTRIES],
                block_landing(block_at(0x200)).value);
    known = stalker_lab_obtain(&lab, code_at(0x300), false);
    CHECK(!block_has_landing(known));
    thread->target = code_at(0x300).value;
    dispatch(STALKER_INDIRECT);
    CHECK_EQUAL(thread->resume, known->entry.value);
    CHECK(block_has_landing(known));
    deinit();
}

static void a_target_gets_its_place_back(void)
{
    uint64_t *place;

    init(0);
    place = &lab.cache->indirect.entries[code_at(0x200).value % INDIRECT_TABLE_ENTRIES];
    thread->target = code_at(0x200).value;
    dispatch(STALKER_INDIRECT);
    *place = lab.cache->indirect.missing;
    dispatch(STALKER_INDIRECT);
    CHECK_EQUAL(*place, block_landing(block_at(0x200)).value);
    deinit();
}

static void what_runs_natively_only_is_left_to_the_cpu(void)
{
    uint64_t left = counter_read(COUNTER_threads_left);
    struct block *block;

    init(0);
    block = stalker_lab_obtain(&lab, code_at(0x10), false);
    CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_LEAVE);
    thread->exit = block_exit_number(block, 0);
    dispatch(STALKER_EXIT);
    CHECK(thread->is_leaving);
    CHECK_EQUAL(counter_read(COUNTER_threads_left), left + 1);
    CHECK_EQUAL(thread->resume, code_at(0x10).value);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter);
    deinit();
}

static void where_no_code_is_the_cpu_is_asked(void)
{
    struct block *block;

    init(0);
    stalker_lab_write_at(&lab, 0x20);
    code_writer_put_u8(&lab.writer, 0x06);
    block = stalker_lab_obtain(&lab, code_at(0x20), false);
    CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_NO_CODE);
    thread->exit = block_exit_number(block, 0);
    dispatch(STALKER_EXIT);
    CHECK(!thread->is_leaving && thread->is_trying);
    CHECK_EQUAL(thread->resume, code_at(0x20).value);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter);
    /* Back in the engine it tries no more. */
    thread->context.pc = code_at(0x40).value;
    dispatch(STALKER_ENTER);
    CHECK(!thread->is_trying);
    deinit();
}

static void behind_a_native_call_the_caller_goes_on(void)
{
    struct block *block;

    init(0);
    CHECK_EQUAL(stalker_engine_add_native(lab.engine, code_at(0x1000)), 0);
    block = stalker_lab_obtain(&lab, code_at(0x1000), false);
    thread->native_return = code_at(0x40).value;
    thread->exit = block_exit_number(block, 0);
    dispatch(STALKER_EXIT);
    CHECK_EQUAL(thread->resume, block_at(0x40)->entry.value);
    deinit();
}

static void put_system_call(void)
{
    stalker_lab_write_at(&lab, 0);
    x86_plain(&lab.writer, X86_SYSCALL);
    thread->exit = block_exit_number(stalker_lab_obtain(&lab, code_at(0), false), 1);
}

static void a_system_call_is_made_and_the_thread_goes_on_behind_it(void)
{
    init(0);
    put_system_call();
    gait_x86_64_rax(&thread->context) = SYS_munmap;
    gait_x86_64_rdi(&thread->context) = 0;
    gait_x86_64_rsi(&thread->context) = 0;
    dispatch(STALKER_EXIT);
    CHECK_EQUAL(gait_x86_64_rax(&thread->context), (uint64_t)-22);
    CHECK_EQUAL(thread->context.pc, code_at(2).value);
    CHECK_EQUAL(thread->resume, block_at(2)->entry.value);
    deinit();
}

static void a_system_call_that_ends_the_thread_is_left_to_it(void)
{
    init(0);
    put_system_call();
    gait_x86_64_rax(&thread->context) = SYS_exit;
    dispatch(STALKER_EXIT);
    CHECK(thread->is_leaving);
    CHECK_EQUAL(thread->resume, code_at(0).value);
    deinit();
}

/* There the position is not in its register, wherever else it is. */
static void a_child_that_is_not_followed_gets_a_place_to_begin(void)
{
    init(GAIT_EVENT_BLOCK);
    put_system_call();
    gait_x86_64_rax(&thread->context) = SYS_vfork;
    dispatch(STALKER_EXIT);
    CHECK(!thread->is_leaving);
    CHECK(thread->resume != 0 && thread->resume != code_at(0).value);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter);
    CHECK_EQUAL(thread->native_return, code_at(2).value);
    dispatch(STALKER_CALLED);
    CHECK_EQUAL(thread->resume, block_at(2)->entry.value);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter_with_position);
    deinit();
}

static size_t received;

static int receive(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    (void)events;
    received += count;
    return 0;
}

static void a_full_buffer_is_handed_over_and_the_thread_goes_back(void)
{
    init(GAIT_EVENT_BLOCK);
    thread->events->decoder.receiver.process = receive;
    received = 0;
    stalker_lab_obtain(&lab, code_at(0), false);
    *(uint32_t *)(uintptr_t)thread->events->start = event_header(0, EVENT_RECORD_BLOCK);
    thread->event_position = thread->events->start + 4;
    stalker_lab_write_end(&lab);
    thread->reason = STALKER_EVENTS;
    thread->resume = 0x1234;
    stalker_dispatch(thread);
    CHECK_EQUAL(received, 1);
    CHECK_EQUAL(thread->event_position, thread->events->start);
    CHECK_EQUAL(thread->resume, 0x1234);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter_with_position);
    CHECK(!thread->vectors_saved);
    deinit();
}

static void a_thread_is_unfollowed_where_its_state_is_the_programs(void)
{
    init(GAIT_EVENT_BLOCK);
    atomic_store(&thread->requests, STALKER_REQUEST_UNFOLLOW);
    thread->reason = STALKER_EVENTS;
    thread->resume = 0x1234;
    stalker_dispatch(thread);
    CHECK_EQUAL(thread->resume, 0x1234);
    CHECK(!thread->is_leaving);
    thread->context.pc = code_at(0x20).value;
    dispatch(STALKER_ENTER);
    CHECK(thread->is_leaving);
    CHECK_EQUAL(thread->resume, code_at(0x20).value);
    CHECK_EQUAL(thread->enter, (uintptr_t)stalker_enter);
    deinit();
}

/* Whatever was lost of its events is lost once. */
static void a_thread_leaves_only_once(void)
{
    struct block *block;

    init(GAIT_EVENT_BLOCK);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    thread->event_position = thread->events->start + 4;
    atomic_store(&thread->requests, STALKER_REQUEST_UNFOLLOW);
    thread->exit = block_exit_number(block, 0);
    dispatch(STALKER_EXIT);
    CHECK(thread->is_leaving);
    CHECK_EQUAL(thread->resume, code_at(0).value);
    CHECK_EQUAL(lab.engine->event_bytes_lost, 4);
    deinit();
}

static void code_that_changed_is_translated_anew(void)
{
    struct block *block;

    init(0);
    put_jump(0, 0x100);
    block = stalker_lab_obtain(&lab, code_at(0), true);
    put_jump(0, 0x200);
    thread->exit = block_exit_number(block, 0);
    dispatch(STALKER_CHANGED);
    CHECK(block->is_retired);
    CHECK(block_at(0) != block);
    CHECK_EQUAL(thread->resume, block_at(0)->entry.value);
    CHECK_EQUAL(block_exit_target(&block_at(0)->exits[0]).value, code_at(0x200).value);
    deinit();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_thread_that_enters_goes_on_in_a_block),
    CHECK_CASE(an_exit_is_linked_to_where_it_leads),
    CHECK_CASE(indirect_branches_find_their_target_the_next_time),
    CHECK_CASE(a_target_gets_its_place_back),
    CHECK_CASE(what_runs_natively_only_is_left_to_the_cpu),
    CHECK_CASE(where_no_code_is_the_cpu_is_asked),
    CHECK_CASE(behind_a_native_call_the_caller_goes_on),
    CHECK_CASE(a_system_call_is_made_and_the_thread_goes_on_behind_it),
    CHECK_CASE(a_system_call_that_ends_the_thread_is_left_to_it),
    CHECK_CASE(a_child_that_is_not_followed_gets_a_place_to_begin),
    CHECK_CASE(a_full_buffer_is_handed_over_and_the_thread_goes_back),
    CHECK_CASE(a_thread_is_unfollowed_where_its_state_is_the_programs),
    CHECK_CASE(a_thread_leaves_only_once),
    CHECK_CASE(code_that_changed_is_translated_anew),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
