/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* What transformers can do to a block, and that the program notices nothing else. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/code_page.h"
#include "support/event_list.h"
#include "support/followed_call.h"

static struct code_page page;
static struct gait_stalker *stalker;

static uint64_t at(uint64_t offset)
{
    return code_page_start(&page) + offset;
}

static bool is_ours(uint64_t address)
{
    return address >= at(0) && address < code_page_end(&page);
}

/* What a test wants done with the instructions of the page; all others are kept. */
typedef void visit_function(struct gait_iterator *iterator, const struct gait_instruction *instruction);
static visit_function *visit;
static uint64_t transforms; /* of blocks in the page */

static void transform(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};
    bool first = true;

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (!is_ours(instruction.address)) {
            gait_iterator_keep(iterator);
            continue;
        }
        transforms += first;
        first = false;
        visit(iterator, &instruction);
    }
}

static const struct gait_transformer transformer = {transform, NULL};

static uint64_t run_with(const struct gait_transformer *how, uint32_t events, const struct gait_event_sink *sink,
                         uint64_t a, uint64_t b)
{
    struct gait_follow_options options = followed_options();
    uint64_t value;

    options.transformer = how;
    options.events = events;
    options.sink = sink;
    stalker = followed_call_stalker();
    value = followed_call(stalker, &options, at(0), a, b);
    gait_stalker_destroy(stalker);
    return value;
}

static uint64_t run(visit_function *function, uint64_t a, uint64_t b)
{
    visit = function;
    transforms = 0;
    return run_with(&transformer, 0, NULL, a, b);
}

static void keep(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_keep(iterator);
}

/* mov eax, 1; add eax, 2; add eax, 4; ret */
static void write_sum(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xb8\x01\x00\x00\x00"); /* 0 */
    CODE_PAGE_PUT(&page, "\x83\xc0\x02");         /* 5 */
    CODE_PAGE_PUT(&page, "\x83\xc0\x04\xc3");     /* 8, 11 */
}

static void what_is_kept_runs_as_it_is(void)
{
    write_sum();
    CHECK_EQUAL(run(keep, 0, 0), 7);
    CHECK_EQUAL(transforms, 1);
}

static void keep_often(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_keep(iterator);
    gait_iterator_keep(iterator);
    gait_iterator_keep(iterator);
}

static void an_instruction_that_is_kept_twice_runs_once(void)
{
    write_sum();
    CHECK_EQUAL(run(keep_often, 0, 0), 7);
}

static void drop_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address != at(5))
        gait_iterator_keep(iterator);
}

static void what_is_not_kept_is_left_out(void)
{
    write_sum();
    CHECK_EQUAL(run(drop_second, 0, 0), 5);
}

static void replace_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == at(5))
        gait_iterator_put_code(iterator, "\x83\xc0\x20", 3); /* add eax, 32 */
    else
        gait_iterator_keep(iterator);
}

static void code_can_stand_in_for_an_instruction(void)
{
    write_sum();
    CHECK_EQUAL(run(replace_second, 0, 0), 37);
}

static uint64_t seen_rax, seen_pc;

static void see(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    seen_rax = cpu->rax;
    seen_pc = cpu->pc;
}

static void insert_and_look(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == at(8)) {
        gait_iterator_put_code(iterator, "\x05\x00\x01\x00\x00", 5); /* add eax, 256 */
        gait_iterator_put_callout(iterator, see, NULL, GAIT_CALLOUT_ANY);
    }
    gait_iterator_keep(iterator);
}

static void a_callout_sees_what_inserted_code_did(void)
{
    write_sum();
    CHECK_EQUAL(run(insert_and_look, 0, 0), 263);
    CHECK_EQUAL(seen_rax, 259);
    CHECK_EQUAL(seen_pc, at(8));
}

static void look_behind(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    gait_iterator_keep(iterator);
    if (instruction->address == at(5))
        gait_iterator_put_callout(iterator, see, NULL, GAIT_CALLOUT_ANY);
}

static void a_callout_behind_an_instruction_is_at_the_next_one(void)
{
    write_sum();
    CHECK_EQUAL(run(look_behind, 0, 0), 7);
    CHECK_EQUAL(seen_rax, 3);
    CHECK_EQUAL(seen_pc, at(8));
}

/* ---- registers, flags, pc ---------------------------------------------------------------------------------------- */

static uint64_t registers_seen[GAIT_CPU_REGISTER_COUNT], flags_seen, sp_seen;

/* Sees all registers and changes them all but the stack pointer. */
static void swap_registers(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    sp_seen = cpu->rsp;
    flags_seen = cpu->flags;
    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++) {
        registers_seen[i] = cpu->registers[i];
        if (i != 4)
            cpu->registers[i] = ~cpu->registers[i];
    }
}

static void swap_at_nop(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->bytes[0] == 0x90)
        gait_iterator_put_callout(iterator, swap_registers, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

/* Loads all registers with 0x1000 + number, passes the nop, and stores them at rdi, which is on the stack meanwhile. */
static void write_registers(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57\x57"); /* push what is the caller's, and rdi */
    for (unsigned i = 0; i < 16; i++) {
        uint8_t mov[7] = {(uint8_t)(i < 8 ? 0x48 : 0x49), 0xc7, (uint8_t)(0xc0 + i % 8), (uint8_t)i, 0x10, 0, 0};

        if (i != 4)
            code_writer_put_bytes(&page.writer, mov, 7);
    }
    CODE_PAGE_PUT(&page, "\xf9\x90"); /* stc; nop */
    CODE_PAGE_PUT(&page, "\x57");     /* push rdi */
    CODE_PAGE_PUT(&page, "\x48\x8b\x7c\x24\x08");
    for (unsigned i = 0; i < 16; i++) {
        uint8_t mov[4] = {(uint8_t)(i < 8 ? 0x48 : 0x4c), 0x89, (uint8_t)(0x47 + i % 8 * 8), (uint8_t)(i * 8)};

        if (i != 4 && i != 7)
            code_writer_put_bytes(&page.writer, mov, 4);
    }
    CODE_PAGE_PUT(&page, "\x8f\x47\x38"); /* pop [rdi+56] */
    CODE_PAGE_PUT(&page, "\x5f\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b");
    CODE_PAGE_PUT(&page, "\x0f\x92\xc0\x0f\xb6\xc0\xc3"); /* setc al; movzx eax, al; ret */
}

static void check_all_registers(uint32_t events)
{
    static struct event_list ignored;
    uint64_t after[16] = {0};

    write_registers();
    visit = swap_at_nop;
    event_list_init(&ignored, 1);
    CHECK_EQUAL(run_with(&transformer, events, &ignored.sink, (uintptr_t)after, 0), 1);
    event_list_deinit(&ignored);
    CHECK(flags_seen & 1);
    for (uint64_t i = 0; i < 16; i++) {
        if (i == 4)
            continue;
        CHECK_EQUAL(registers_seen[i], 0x1000 + i);
        CHECK_EQUAL(after[i], ~(0x1000 + i));
    }
    CHECK(sp_seen > (uintptr_t)after - (1 << 16) && sp_seen < (uintptr_t)after + (1 << 16));
}

static void a_callout_sees_and_changes_all_registers(void)
{
    check_all_registers(0);
}

static void a_callout_sees_and_changes_all_registers_while_there_are_events(void)
{
    for (uint32_t events = 1; events <= 0x1f; events++)
        check_all_registers(events);
}

static void flip_flags(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    flags_seen = cpu->flags;
    cpu->flags ^= 0x8d5; /* OF, SF, ZF, AF, PF, CF */
}

static void flip_at_nop(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->bytes[0] == 0x90)
        gait_iterator_put_callout(iterator, flip_flags, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

/* Takes flags in rdi, gives them back after the nop; clears the direction flag. */
static void write_flags(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x57\x9d\x90\x9c\x58\xfc\xc3"); /* push rdi; popf; nop; pushf; pop rax; cld; ret */
}

static void a_callout_sees_and_changes_flags(void)
{
    write_flags();
    for (unsigned i = 0; i < 128; i++) {
        uint64_t flags = (i & 1) | (i & 2) << 1 | (i & 4) << 2 | (i & 8) << 3 | (i & 16) << 3 | (i & 32) << 5 |
                         (i & 64) << 5 | 0x202;

        CHECK_EQUAL(run(flip_at_nop, flags, 0), flags ^ 0x8d5);
        CHECK_EQUAL(flags_seen & 0xfff, flags);
    }
}

static int direction_seen;

/* Breaks if it is called with the direction flag set. */
static void copy_forward(struct gait_cpu_context *cpu, void *data)
{
    uint64_t flags;

    (void)data;
    __asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
    direction_seen = (flags & 0x400) != 0;
    cpu->rdx++;
}

static void copy_at_nop(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->bytes[0] == 0x90)
        gait_iterator_put_callout(iterator, copy_forward, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

static void callouts_run_with_the_direction_that_c_wants(void)
{
    write_flags();
    CHECK_EQUAL(run(copy_at_nop, 0x602, 0), 0x602);
    CHECK_EQUAL(direction_seen, 0);
}

static void jump_ahead(struct gait_cpu_context *cpu, void *data)
{
    cpu->pc = at((uintptr_t)data);
}

static void jump_at_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == at(5))
        gait_iterator_put_callout(iterator, jump_ahead, (void *)11, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

static void a_callout_sends_the_thread_elsewhere(void)
{
    write_sum();
    CHECK_EQUAL(run(jump_at_second, 0, 0), 1);
}

static uint64_t rounds_left;

static void jump_back(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    if (rounds_left > 0 && rounds_left--)
        cpu->pc = at(5);
}

static void loop_at_return(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == at(11))
        gait_iterator_put_callout(iterator, jump_back, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

/* 100000 jumps out of callouts: nothing may pile up on the engine's stack. */
static void callouts_can_jump_again_and_again(void)
{
    write_sum();
    rounds_left = 100000;
    CHECK_EQUAL(run(loop_at_return, 0, 0), 7 + 100000 * 6);
}

/* ---- calls and jumps --------------------------------------------------------------------------------------------- */

/* mov eax, 5; call 32 (adds 100); add eax, 1; ret */
static void write_call(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xb8\x05\x00\x00\x00");           /*  0 */
    CODE_PAGE_PUT(&page, "\xe8\x16\x00\x00\x00");           /*  5: call 32 */
    CODE_PAGE_PUT(&page, "\x83\xc0\x01\xc3");               /* 10, 13 */
    memcpy(page.bytes + 32, "\x05\x64\x00\x00\x00\xc3", 6); /* 32: add eax, 100; ret */
}

static void skip_call(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow != GAIT_FLOW_CALL)
        gait_iterator_keep(iterator);
}

static void a_call_can_be_skipped(void)
{
    write_call();
    CHECK_EQUAL(run(keep, 0, 0), 106);
    CHECK_EQUAL(run(skip_call, 0, 0), 6);
}

static void add_thousand(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    cpu->rax += 1000;
}

static void replace_call(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow == GAIT_FLOW_CALL)
        gait_iterator_put_callout(iterator, add_thousand, NULL, GAIT_CALLOUT_ANY);
    else
        gait_iterator_keep(iterator);
}

static void a_callout_can_stand_in_for_a_call(void)
{
    write_call();
    CHECK_EQUAL(run(replace_call, 0, 0), 1006);
}

/* A call of a function that ends with a jump to another one. */
static void write_tail_jump(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xe8\x1b\x00\x00\x00\x83\xc0\x01\xc3");            /*  0: call 32; 5: add eax, 1; 8: ret */
    memcpy(page.bytes + 32, "\xb8\x05\x00\x00\x00\xe9\x16\x00\x00\x00", 10); /* 32: mov eax, 5; 37: jmp 64 */
    memcpy(page.bytes + 64, "\x05\x64\x00\x00\x00\xc3", 6);                  /* 64: add eax, 100; ret */
}

static void replace_tail_jump(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow != GAIT_FLOW_JUMP) {
        gait_iterator_keep(iterator);
        return;
    }
    gait_iterator_put_callout(iterator, add_thousand, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_put_return(iterator);
}

static void a_callout_and_a_return_can_stand_in_for_a_tail_jump(void)
{
    write_tail_jump();
    CHECK_EQUAL(run(keep, 0, 0), 106);
    CHECK_EQUAL(run(replace_tail_jump, 0, 0), 1006);
}

static void return_at_once(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == at(32))
        gait_iterator_put_return(iterator);
    gait_iterator_keep(iterator);
}

static void a_function_can_return_at_once(void)
{
    write_call();
    CHECK_EQUAL(run(return_at_once, 0, 0), 6);
}

/* ---- odd transformers -------------------------------------------------------------------------------------------- */

static void drop_branch(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow == GAIT_FLOW_NEXT || instruction->flow == GAIT_FLOW_RETURN)
        gait_iterator_keep(iterator);
}

/* test edi, edi; jnz 16; mov eax, 1; ret; 16: mov eax, 2; ret */
static void write_branch(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x85\xff\x75\x0c\xb8\x01\x00\x00\x00\xc3");
    memcpy(page.bytes + 16, "\xb8\x02\x00\x00\x00\xc3", 6);
}

static void a_block_whose_end_is_dropped_goes_on(void)
{
    write_branch();
    CHECK_EQUAL(run(keep, 1, 0), 2);
    CHECK_EQUAL(run(drop_branch, 1, 0), 1);
    CHECK_EQUAL(run(drop_branch, 0, 0), 1);
}

static void transform_nothing(void *context, struct gait_iterator *iterator)
{
    (void)iterator;
    (*(uint64_t *)context)++;
}

static void a_transformer_that_visits_nothing_changes_nothing(void)
{
    uint64_t count = 0;
    const struct gait_transformer lazy = {transform_nothing, &count};

    write_call();
    CHECK_EQUAL(run_with(&lazy, 0, NULL, 0, 0), 106);
    CHECK(count > 3);
}

static void transform_one(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    gait_iterator_next(iterator, &instruction);
    gait_iterator_keep(iterator);
    if (is_ours(instruction.address))
        (*(uint64_t *)context)++;
}

static void a_transformer_that_stops_early_gets_the_rest_as_another_block(void)
{
    uint64_t count = 0;
    const struct gait_transformer hasty = {transform_one, &count};

    write_sum();
    CHECK_EQUAL(run_with(&hasty, 0, NULL, 0, 0), 7);
    CHECK_EQUAL(count, 4);
}

static void transform_without_keeping(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    (void)context;
    gait_iterator_keep(iterator); /* of nothing */
    gait_iterator_next(iterator, &instruction);
    if (instruction.address != at(5))
        gait_iterator_keep(iterator);
}

static void a_block_of_nothing_but_a_dropped_instruction_goes_on(void)
{
    const struct gait_transformer dropping = {transform_without_keeping, NULL};

    write_sum();
    CHECK_EQUAL(run_with(&dropping, 0, NULL, 0, 0), 5);
}

static void put_much(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    static const uint8_t inc_edx[] = {0xff, 0xc2};

    (void)instruction;
    for (int i = 0; i < 1500; i++)
        gait_iterator_put_code(iterator, inc_edx, sizeof(inc_edx));
    gait_iterator_keep(iterator);
}

/* mov edx, 0; 200 times lea esi, [rsi+1] (flags stay); lea eax, [rdx+0]; ret */
static void write_two_hundred(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xba\x00\x00\x00\x00");
    for (int i = 0; i < 200; i++)
        CODE_PAGE_PUT(&page, "\x8d\x76\x01");
    CODE_PAGE_PUT(&page, "\x89\xd0\xc3");
}

/* Of 3000 bytes each, a handful of instructions fits into a block. */
static void a_transformer_that_puts_much_gets_shorter_blocks(void)
{
    write_two_hundred();
    CHECK_EQUAL(run(put_much, 0, 0), 1500 * 201);
    CHECK(transforms > 40);
}

static void put_too_much(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    static uint8_t nops[40000];

    memset(nops, 0x90, sizeof(nops));
    gait_iterator_put_code(iterator, nops, sizeof(nops));
    (void)instruction;
    gait_iterator_keep(iterator);
}

static void more_than_any_block_can_hold_does_no_harm(void)
{
    write_sum();
    visit = put_too_much;
    struct gait_follow_options options = followed_options();
    uint64_t value = 0;

    options.transformer = &transformer;
    stalker = followed_call_stalker();
    if (gait_stalker_follow_me(stalker, &options, NULL) == 0)
        value = native_call(at(0), 0, 0);
    CHECK_EQUAL(value, 7);
    gait_stalker_unfollow_me(stalker, NULL); /* or it left by itself */
    CHECK(!gait_stalker_is_following_me(stalker));
    gait_stalker_destroy(stalker);
}

/* ---- many callouts, counters ------------------------------------------------------------------------------------- */

static uint64_t callouts;

static void count_callout(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    callouts += (uintptr_t)data;
}

static GAIT_GENERAL_REGISTERS_ONLY void count_callout_general(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    callouts += (uintptr_t)data;
}

static enum gait_callout_use use;

static void callout_at_each(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_put_callout(iterator, use == GAIT_CALLOUT_ANY ? count_callout : count_callout_general, (void *)1,
                              use);
    gait_iterator_keep(iterator);
}

/* mov eax, edi; 1500 times add eax, 1; ret */
static void write_long_block(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x89\xf8");
    for (int i = 0; i < 1500; i++)
        CODE_PAGE_PUT(&page, "\x83\xc0\x01");
    CODE_PAGE_PUT(&page, "\xc3");
}

static void each_of_1500_instructions_can_have_a_callout(void)
{
    write_long_block();
    for (int i = 0; i < 2; i++) {
        use = i == 0 ? GAIT_CALLOUT_ANY : GAIT_CALLOUT_GENERAL_ONLY;
        callouts = 0;
        CHECK_EQUAL(run(callout_at_each, 9, 0), 1509);
        CHECK_EQUAL(callouts, 1502);
    }
}

static void three_callouts_at_each(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_put_callout(iterator, count_callout, (void *)1, GAIT_CALLOUT_ANY);
    gait_iterator_put_callout(iterator, count_callout_general, (void *)1000, GAIT_CALLOUT_GENERAL_ONLY);
    gait_iterator_keep(iterator);
    gait_iterator_put_callout(iterator, count_callout, (void *)1000000, GAIT_CALLOUT_ANY);
}

/* Behind the return nothing can stand. */
static void callouts_stand_before_and_behind_instructions(void)
{
    write_long_block();
    callouts = 0;
    CHECK_EQUAL(run(three_callouts_at_each, 9, 0), 1509);
    CHECK_EQUAL(callouts, 1502 * 1001 + 1501 * 1000000ull);
}

static uint64_t far_counter;
static uint64_t *near_counter;

static void count_at_each(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (near_counter == NULL)
        near_counter = gait_iterator_new_counter(iterator);
    if (instruction->address % 2 == 0)
        gait_iterator_put_count(iterator, near_counter);
    else
        gait_iterator_put_count(iterator, &far_counter);
    gait_iterator_keep(iterator);
}

static void counters_count_exactly(void)
{
    struct gait_follow_options options = followed_options();

    write_long_block();
    stalker = followed_call_stalker();
    options.transformer = &transformer;
    visit = count_at_each;
    near_counter = NULL;
    far_counter = 0;
    for (uint64_t i = 1; i <= 20; i++) {
        CHECK_EQUAL(followed_call(stalker, &options, at(0), i, 0), 1500 + i);
        CHECK_EQUAL(*near_counter + far_counter, i * 1502);
        CHECK(far_counter > i * 700 && *near_counter > i * 700);
    }
    gait_stalker_destroy(stalker);
}

/* Pushes flags between instructions that do and do not change them: counting must not show in them. */
static void counters_leave_flags_and_registers_alone(void)
{
    static const char mixed[] =
        "\x31\xc0\x9c\x83\xc0\x7f\x9c\xf9\x9c\x48\xff\xc0\x9c\xf8\x13\xc7\x9c\xd1\xe8\x9c\x90\x9c"
        "\x59\x48\x01\xc8\x5a\x48\x31\xd0\x59\x48\x01\xc8\x5a\x48\x31\xd0\x59\x48\x01\xc8\x5a"
        "\x48\x31\xd0\x59\x48\x01\xc8\xc3";
    uint64_t native;

    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, mixed);
    native = native_call(at(0), 3, 0);
    near_counter = NULL;
    CHECK_EQUAL(run(count_at_each, 3, 0), native);
    near_counter = NULL;
}

static void count_often(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    for (int i = 0; i < 50; i++)
        gait_iterator_put_count(iterator, &far_counter);
    gait_iterator_keep(iterator);
}

static void an_instruction_can_be_counted_often(void)
{
    write_two_hundred();
    far_counter = 0;
    run(count_often, 0, 0);
    CHECK_EQUAL(far_counter, 50 * 203);
}

static void count_then_drop(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    gait_iterator_put_count(iterator, &far_counter);
    if (instruction->address != at(5) && instruction->flow != GAIT_FLOW_CALL)
        gait_iterator_keep(iterator);
}

static void counts_of_dropped_instructions_count(void)
{
    write_call();
    far_counter = 0;
    CHECK_EQUAL(run(count_then_drop, 0, 0), 6);
    CHECK_EQUAL(far_counter, 4);
}

/* ---- vector registers -------------------------------------------------------------------------------------------- */

static volatile double spoiled = 1.5;

/* Leaves nothing of the vector and floating point registers as it was. */
static void spoil_vectors(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\t"
                     "pcmpeqd %%xmm1, %%xmm1\n\t"
                     "pcmpeqd %%xmm7, %%xmm7\n\t"
                     "pcmpeqd %%xmm15, %%xmm15\n\t"
                     "fninit\n\t"
                     "fld1\n\t"
                     "fldpi\n\t"
                     "fstp %%st(0)\n\t" ::
                         : "xmm0", "xmm1", "xmm7", "xmm15");
    spoiled *= 1.0001;
    callouts++;
}

static void spoil_at_each(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_put_callout(iterator, spoil_vectors, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

/* Computes with rdi in xmm registers and on the x87 stack at the same time. */
static void write_vector_sum(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x66\x48\x0f\x6e\xc7");         /* movq xmm0, rdi */
    CODE_PAGE_PUT(&page, "\x66\x44\x0f\x6f\xf8");         /* movdqa xmm15, xmm0 */
    CODE_PAGE_PUT(&page, "\x57\xdf\x2c\x24\xdf\x2c\x24"); /* push rdi; fild qword [rsp]; fild qword [rsp] */
    CODE_PAGE_PUT(&page, "\x66\x41\x0f\xd4\xc7");         /* paddq xmm0, xmm15 */
    CODE_PAGE_PUT(&page, "\xde\xc1");                     /* faddp */
    CODE_PAGE_PUT(&page, "\x66\x48\x0f\x7e\xc0");         /* movq rax, xmm0 */
    CODE_PAGE_PUT(&page, "\xdf\x3c\x24\x59");             /* fistp qword [rsp]; pop rcx */
    CODE_PAGE_PUT(&page, "\x48\x01\xc8\xc3");             /* add rax, rcx; ret */
}

static void callouts_do_not_disturb_vector_and_floating_point_registers(void)
{
    write_vector_sum();
    callouts = 0;
    CHECK_EQUAL(native_call(at(0), 1234, 0), 4 * 1234);
    CHECK_EQUAL(run(spoil_at_each, 1234, 0), 4 * 1234);
    CHECK_EQUAL(callouts, 12);
}

static void general_callouts_do_not_disturb_vector_and_floating_point_registers(void)
{
    write_vector_sum();
    use = GAIT_CALLOUT_GENERAL_ONLY;
    callouts = 0;
    CHECK_EQUAL(run(callout_at_each, 1234, 0), 4 * 1234);
    CHECK_EQUAL(callouts, 12);
}

static void spoil_in_transformer(void *context, struct gait_iterator *iterator)
{
    (void)context;
    spoil_vectors(NULL, NULL);
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_keep(iterator);
        /* Only the first one, so that there are many blocks and many chances. */
        break;
    }
}

static void transformers_do_not_disturb_vector_and_floating_point_registers(void)
{
    const struct gait_transformer spoiling = {spoil_in_transformer, NULL};

    write_vector_sum();
    CHECK_EQUAL(run_with(&spoiling, 0, NULL, 1234, 0), 4 * 1234);
}

/* Code that changed is transformed anew when the thread comes to it, with what it has in its registers. */
static void transforming_changed_code_does_not_disturb_vector_and_floating_point_registers(void)
{
    const struct gait_transformer spoiling = {spoil_in_transformer, NULL};
    struct gait_stalker_options trusting = {.size_bytes = sizeof(trusting), .trust = 2};
    struct gait_follow_options options = followed_options();
    struct gait_error err = {0};

    write_vector_sum();
    options.transformer = &spoiling;
    followed_call_require(gait_stalker_create(&trusting, &stalker, &err), &err);
    CHECK_EQUAL(followed_call(stalker, &options, at(0), 1234, 0), 4 * 1234);
    /* movdqu xmm15, xmm0 and paddd xmm0, xmm15: the same for small numbers */
    memcpy(page.bytes + 5, "\xf3\x44\x0f\x6f\xf8", 5);
    memcpy(page.bytes + 17, "\x66\x41\x0f\xfe\xc7", 5);
    CHECK_EQUAL(followed_call(stalker, &options, at(0), 1234, 0), 4 * 1234);
    gait_stalker_destroy(stalker);
}

/* ---- transformers and events ------------------------------------------------------------------------------------- */

static struct event_list events;

static size_t events_of(visit_function *function, uint32_t kinds, uint64_t a)
{
    visit = function;
    event_list_clear(&events);
    run_with(&transformer, kinds, &events.sink, a, 0);
    event_list_filter(&events, kinds, at(0), code_page_end(&page));
    return events.count;
}

static void blocks_are_told_whatever_a_transformer_leaves_of_them(void)
{
    for (uint32_t more = 0; more <= (GAIT_EVENT_CALL | GAIT_EVENT_RET); more++) {
        write_call();
        events_of(keep, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 3);
        /* The block with the call goes on to the one behind it. */
        events_of(skip_call, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 2);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_CALL), 0);
        write_sum();
        events_of(drop_second, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 1);
        write_tail_jump();
        events_of(replace_tail_jump, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 3);
    }
}

static void drop_first(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address != at(0))
        gait_iterator_keep(iterator);
}

static void a_block_whose_first_instruction_is_dropped_is_told(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x90\x89\xf8\xc3"); /* nop; mov eax, edi; ret */
    CHECK_EQUAL(events_of(drop_first, GAIT_EVENT_BLOCK, 0), 1);
}

static void drop_test(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address != at(3))
        gait_iterator_keep(iterator);
}

/* The buffer is looked at where flags are free: also when the instruction that frees them is left out. */
static void buffers_do_not_overflow_where_instructions_are_dropped(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x89\xf9\x90\x85\xc0\xe2\xfb\xc3"); /* mov ecx, edi; 2: nop; 3: test; 5: loop 2; ret */
    CHECK_EQUAL(events_of(drop_test, GAIT_EVENT_BLOCK, 300000), 300001);
    CHECK_EQUAL(events_of(keep, GAIT_EVENT_BLOCK, 300000), 300001);
    CHECK_EQUAL(events_of(drop_test, GAIT_EVENT_BLOCK | GAIT_EVENT_RET, 300000), 300002);
}

static void returns_that_transformers_put_are_told(void)
{
    write_tail_jump();
    events_of(replace_tail_jump, GAIT_EVENT_CALL | GAIT_EVENT_RET, 0);
    CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_CALL), 1);
    CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_RET), 2);
    CHECK_EQUAL(events.events[1].target, at(5));
}

/* ---- callouts that use the stalker ------------------------------------------------------------------------------- */

static int unfollow_result;

static void unfollow_now(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    callouts++;
    if (gait_stalker_is_following_me(stalker))
        unfollow_result = gait_stalker_unfollow_me(stalker, NULL);
}

static void unfollow_at_each(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_put_callout(iterator, unfollow_now, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

static void a_thread_is_unfollowed_in_a_callout(void)
{
    struct gait_follow_options options = followed_options();
    uint64_t value;

    write_call();
    visit = unfollow_at_each;
    options.transformer = &transformer;
    stalker = followed_call_stalker();
    callouts = 0;
    unfollow_result = 1;
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    value = native_call(at(0), 0, 0);
    CHECK_EQUAL(value, 106);
    CHECK_EQUAL(unfollow_result, 0);
    CHECK(!gait_stalker_is_following_me(stalker));
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_kept_runs_as_it_is),
    CHECK_CASE(an_instruction_that_is_kept_twice_runs_once),
    CHECK_CASE(what_is_not_kept_is_left_out),
    CHECK_CASE(code_can_stand_in_for_an_instruction),
    CHECK_CASE(a_callout_sees_what_inserted_code_did),
    CHECK_CASE(a_callout_behind_an_instruction_is_at_the_next_one),
    CHECK_CASE(a_callout_sees_and_changes_all_registers),
    CHECK_CASE(a_callout_sees_and_changes_all_registers_while_there_are_events),
    CHECK_CASE(a_callout_sees_and_changes_flags),
    CHECK_CASE(callouts_run_with_the_direction_that_c_wants),
    CHECK_CASE(a_callout_sends_the_thread_elsewhere),
    CHECK_CASE(callouts_can_jump_again_and_again),
    CHECK_CASE(a_call_can_be_skipped),
    CHECK_CASE(a_callout_can_stand_in_for_a_call),
    CHECK_CASE(a_callout_and_a_return_can_stand_in_for_a_tail_jump),
    CHECK_CASE(a_function_can_return_at_once),
    CHECK_CASE(a_block_whose_end_is_dropped_goes_on),
    CHECK_CASE(a_transformer_that_visits_nothing_changes_nothing),
    CHECK_CASE(a_transformer_that_stops_early_gets_the_rest_as_another_block),
    CHECK_CASE(a_block_of_nothing_but_a_dropped_instruction_goes_on),
    CHECK_CASE(a_transformer_that_puts_much_gets_shorter_blocks),
    CHECK_CASE(more_than_any_block_can_hold_does_no_harm),
    CHECK_CASE(each_of_1500_instructions_can_have_a_callout),
    CHECK_CASE(callouts_stand_before_and_behind_instructions),
    CHECK_CASE(counters_count_exactly),
    CHECK_CASE(counters_leave_flags_and_registers_alone),
    CHECK_CASE(an_instruction_can_be_counted_often),
    CHECK_CASE(counts_of_dropped_instructions_count),
    CHECK_CASE(callouts_do_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(general_callouts_do_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(transformers_do_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(transforming_changed_code_does_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(blocks_are_told_whatever_a_transformer_leaves_of_them),
    CHECK_CASE(a_block_whose_first_instruction_is_dropped_is_told),
    CHECK_CASE(buffers_do_not_overflow_where_instructions_are_dropped),
    CHECK_CASE(returns_that_transformers_put_are_told),
    CHECK_CASE(a_thread_is_unfollowed_in_a_callout),
};

int main(void)
{
    code_page_init(&page, 1 << 16);
    event_list_init(&events, 1 << 20);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
