/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* What callouts see and may change, and that they disturb nothing else. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "gait/x86_64.h"
#include "support/check.h"
#include "support/event_list.h"
#include "support/followed_call.h"
#include "support/transformed_code.h"

static uint64_t seen_rax, seen_pc;

static void see(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    seen_rax = gait_x86_64_rax(cpu);
    seen_pc = cpu->pc;
}

static void insert_and_look(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(8)) {
        gait_iterator_put_code(iterator, "\x05\x00\x01\x00\x00", 5); /* add eax, 256 */
        gait_iterator_put_callout(iterator, see, NULL, GAIT_CALLOUT_ANY);
    }
    gait_iterator_keep(iterator);
}

static void a_callout_sees_what_inserted_code_did(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(insert_and_look, 0, 0), 263);
    CHECK_EQUAL(seen_rax, 259);
    CHECK_EQUAL(seen_pc, transformed_at(8));
}

static void look_behind(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    gait_iterator_keep(iterator);
    if (instruction->address == transformed_at(5))
        gait_iterator_put_callout(iterator, see, NULL, GAIT_CALLOUT_ANY);
}

static void a_callout_behind_an_instruction_is_at_the_next_one(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(look_behind, 0, 0), 7);
    CHECK_EQUAL(seen_rax, 3);
    CHECK_EQUAL(seen_pc, transformed_at(8));
}

/* ---- registers, flags, pc ---------------------------------------------------------------------------------------- */

static uint64_t registers_seen[GAIT_CPU_REGISTER_COUNT], flags_seen, sp_seen;

/* Sees all registers and changes them all but the stack pointer. */
static void swap_registers(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    sp_seen = gait_cpu_stack_pointer(cpu);
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
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page,
                  "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57\x57"); /* push what is the caller's, and rdi */
    for (unsigned i = 0; i < 16; i++) {
        uint8_t mov[7] = {(uint8_t)(i < 8 ? 0x48 : 0x49), 0xc7, (uint8_t)(0xc0 + i % 8), (uint8_t)i, 0x10, 0, 0};

        if (i != 4)
            code_writer_put_bytes(&transformed.page.writer, mov, 7);
    }
    CODE_PAGE_PUT(&transformed.page, "\xf9\x90"); /* stc; nop */
    CODE_PAGE_PUT(&transformed.page, "\x57");     /* push rdi */
    CODE_PAGE_PUT(&transformed.page, "\x48\x8b\x7c\x24\x08");
    for (unsigned i = 0; i < 16; i++) {
        uint8_t mov[4] = {(uint8_t)(i < 8 ? 0x48 : 0x4c), 0x89, (uint8_t)(0x47 + i % 8 * 8), (uint8_t)(i * 8)};

        if (i != 4 && i != 7)
            code_writer_put_bytes(&transformed.page.writer, mov, 4);
    }
    CODE_PAGE_PUT(&transformed.page, "\x8f\x47\x38"); /* pop [rdi+56] */
    CODE_PAGE_PUT(&transformed.page, "\x5f\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b");
    CODE_PAGE_PUT(&transformed.page, "\x0f\x92\xc0\x0f\xb6\xc0\xc3"); /* setc al; movzx eax, al; ret */
}

static void check_all_registers(uint32_t events)
{
    static struct event_list ignored;
    uint64_t after[16] = {0};

    write_registers();
    transformed.visit = swap_at_nop;
    event_list_init(&ignored, 1);
    CHECK_EQUAL(transformed_run_with(&transformed_transformer, events, &ignored.sink, (uintptr_t)after, 0), 1);
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
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page,
                  "\x57\x9d\x90\x9c\x58\xfc\xc3"); /* push rdi; popf; nop; pushf; pop rax; cld; ret */
}

static void a_callout_sees_and_changes_flags(void)
{
    write_flags();
    for (unsigned i = 0; i < 128; i++) {
        uint64_t flags = (i & 1) | (i & 2) << 1 | (i & 4) << 2 | (i & 8) << 3 | (i & 16) << 3 | (i & 32) << 5 |
                         (i & 64) << 5 | 0x202;

        CHECK_EQUAL(transformed_run(flip_at_nop, flags, 0), flags ^ 0x8d5);
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
    gait_x86_64_rdx(cpu)++;
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
    CHECK_EQUAL(transformed_run(copy_at_nop, 0x602, 0), 0x602);
    CHECK_EQUAL(direction_seen, 0);
}

static void jump_ahead(struct gait_cpu_context *cpu, void *data)
{
    cpu->pc = transformed_at((uintptr_t)data);
}

static void jump_at_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(5))
        gait_iterator_put_callout(iterator, jump_ahead, (void *)11, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

static void a_callout_sends_the_thread_elsewhere(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(jump_at_second, 0, 0), 1);
}

static uint64_t rounds_left;

static void jump_back(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    if (rounds_left > 0 && rounds_left--)
        cpu->pc = transformed_at(5);
}

static void loop_at_return(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(11))
        gait_iterator_put_callout(iterator, jump_back, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

/* 100000 jumps out of callouts: nothing may pile up on the engine's stack. */
static void callouts_can_jump_again_and_again(void)
{
    transformed_write_sum();
    rounds_left = 100000;
    CHECK_EQUAL(transformed_run(loop_at_return, 0, 0), 7 + 100000 * 6);
}

/* ---- many of them ------------------------------------------------------------------------------------------------ */

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

static void each_of_1500_instructions_can_have_a_callout(void)
{
    transformed_write_long_block();
    for (int i = 0; i < 2; i++) {
        use = i == 0 ? GAIT_CALLOUT_ANY : GAIT_CALLOUT_GENERAL_ONLY;
        callouts = 0;
        CHECK_EQUAL(transformed_run(callout_at_each, 9, 0), 1509);
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
    transformed_write_long_block();
    callouts = 0;
    CHECK_EQUAL(transformed_run(three_callouts_at_each, 9, 0), 1509);
    CHECK_EQUAL(callouts, 1502 * 1001 + 1501 * 1000000ull);
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
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\x66\x48\x0f\x6e\xc7");         /* movq xmm0, rdi */
    CODE_PAGE_PUT(&transformed.page, "\x66\x44\x0f\x6f\xf8");         /* movdqa xmm15, xmm0 */
    CODE_PAGE_PUT(&transformed.page, "\x57\xdf\x2c\x24\xdf\x2c\x24"); /* push rdi; fild qword [rsp]; fild qword [rsp] */
    CODE_PAGE_PUT(&transformed.page, "\x66\x41\x0f\xd4\xc7");         /* paddq xmm0, xmm15 */
    CODE_PAGE_PUT(&transformed.page, "\xde\xc1");                     /* faddp */
    CODE_PAGE_PUT(&transformed.page, "\x66\x48\x0f\x7e\xc0");         /* movq rax, xmm0 */
    CODE_PAGE_PUT(&transformed.page, "\xdf\x3c\x24\x59");             /* fistp qword [rsp]; pop rcx */
    CODE_PAGE_PUT(&transformed.page, "\x48\x01\xc8\xc3");             /* add rax, rcx; ret */
}

static void callouts_do_not_disturb_vector_and_floating_point_registers(void)
{
    write_vector_sum();
    callouts = 0;
    CHECK_EQUAL(native_call(transformed_at(0), 1234, 0), 4 * 1234);
    CHECK_EQUAL(transformed_run(spoil_at_each, 1234, 0), 4 * 1234);
    CHECK_EQUAL(callouts, 12);
}

static void general_callouts_do_not_disturb_vector_and_floating_point_registers(void)
{
    write_vector_sum();
    use = GAIT_CALLOUT_GENERAL_ONLY;
    callouts = 0;
    CHECK_EQUAL(transformed_run(callout_at_each, 1234, 0), 4 * 1234);
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
    CHECK_EQUAL(transformed_run_with(&spoiling, 0, NULL, 1234, 0), 4 * 1234);
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
    followed_call_require(gait_stalker_create(&trusting, &transformed.stalker, &err), &err);
    CHECK_EQUAL(followed_call(transformed.stalker, &options, transformed_at(0), 1234, 0), 4 * 1234);
    /* movdqu xmm15, xmm0 and paddd xmm0, xmm15: the same for small numbers */
    memcpy(transformed.page.bytes + 5, "\xf3\x44\x0f\x6f\xf8", 5);
    memcpy(transformed.page.bytes + 17, "\x66\x41\x0f\xfe\xc7", 5);
    CHECK_EQUAL(followed_call(transformed.stalker, &options, transformed_at(0), 1234, 0), 4 * 1234);
    gait_stalker_destroy(transformed.stalker);
}

/* ---- callouts that use the stalker ------------------------------------------------------------------------------- */

static int unfollow_result;

static void unfollow_now(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    callouts++;
    if (gait_stalker_is_following_me(transformed.stalker))
        unfollow_result = gait_stalker_unfollow_me(transformed.stalker, NULL);
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

    transformed_write_call();
    transformed.visit = unfollow_at_each;
    options.transformer = &transformed_transformer;
    transformed.stalker = followed_call_stalker();
    callouts = 0;
    unfollow_result = 1;
    CHECK_EQUAL(gait_stalker_follow_me(transformed.stalker, &options, NULL), 0);
    value = native_call(transformed_at(0), 0, 0);
    CHECK_EQUAL(value, 106);
    CHECK_EQUAL(unfollow_result, 0);
    CHECK(!gait_stalker_is_following_me(transformed.stalker));
    gait_stalker_destroy(transformed.stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_callout_sees_what_inserted_code_did),
    CHECK_CASE(a_callout_behind_an_instruction_is_at_the_next_one),
    CHECK_CASE(a_callout_sees_and_changes_all_registers),
    CHECK_CASE(a_callout_sees_and_changes_all_registers_while_there_are_events),
    CHECK_CASE(a_callout_sees_and_changes_flags),
    CHECK_CASE(callouts_run_with_the_direction_that_c_wants),
    CHECK_CASE(a_callout_sends_the_thread_elsewhere),
    CHECK_CASE(callouts_can_jump_again_and_again),
    CHECK_CASE(each_of_1500_instructions_can_have_a_callout),
    CHECK_CASE(callouts_stand_before_and_behind_instructions),
    CHECK_CASE(callouts_do_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(general_callouts_do_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(transformers_do_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(transforming_changed_code_does_not_disturb_vector_and_floating_point_registers),
    CHECK_CASE(a_thread_is_unfollowed_in_a_callout),
};

int main(void)
{
    transformed_code_init();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
