/* SPDX-License-Identifier: MIT */
/* Functions of all shapes, in the bytes that compilers and assemblers make of them. */
#include "hook/function_plan.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/planned_code.h"

#define ENDBR64 "\xf3\x0f\x1e\xfa"
#define RET     "\xc3"
#define CALL_0  "\xe8\x00\x00\x00\x00"

/* push rbx; mov rbx, rdi; call behind; pop rbx; ret */
#define ORDINARY "\x53\x48\x89\xfb" CALL_0 "\x5b\xc3"

static struct planned_code code;

static void is_method(const struct hook_plan *plan, enum hook_method method, enum hook_obstacle obstacle)
{
    CHECK_TEXT(hook_method_name(plan->method), hook_method_name(method));
    CHECK_TEXT(hook_obstacle_text(plan->obstacle), hook_obstacle_text(obstacle));
}

/* Where the patch is and what it displaces, from the function's start. */
static void is_patch(const struct hook_plan *plan, uint64_t at, uint32_t bytes, uint64_t displaced_end)
{
    CHECK_EQUAL(plan->patch_at - plan->address, at);
    CHECK_EQUAL(plan->patch_bytes, bytes);
    CHECK_EQUAL(plan->displaced_end - plan->address, displaced_end);
}

#define ALONE(text) planned_code_alone((text), sizeof(text) - 1)

static void whole_instructions_move_for_a_jump(void)
{
    /* push rbp; mov rbp, rsp; sub rsp, 16; leave; ret */
    struct hook_plan plan = ALONE("\x55\x48\x89\xe5\x48\x83\xec\x10\xc9\xc3");

    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&plan, 0, 5, 8);
    CHECK_EQUAL(plan.hop_at, 0);
    CHECK_EQUAL(plan.address, PLANNED_CODE);
    CHECK(!plan.is_entry_only && !plan.is_loop_head);
}

static void the_mark_for_indirect_calls_stays(void)
{
    struct hook_plan plan = ALONE(ENDBR64 ORDINARY);

    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&plan, 4, 5, 13);
}

/* Where there is not enough room, the function begins again: that is no other call. */
static void what_checks_for_room_on_the_stack_is_patched_behind_that(void)
{
    /* cmp rsp, [r14 + 16]; jbe more; sub rsp, 24; mov [rsp + 16], rbp; ...; ret; more: call; jmp 0 */
    struct hook_plan go =
        ALONE("\x49\x3b\x66\x10\x76\x13\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x48\x8b\x6c\x24\x10\x48\x83"
              "\xc4\x18\xc3" CALL_0 "\xeb\xe0");
    /* The same, but what is called goes on elsewhere. */
    struct hook_plan other =
        ALONE("\x49\x3b\x66\x10\x76\x13\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x48\x8b\x6c\x24\x10\x48"
              "\x83\xc4\x18\xc3" CALL_0 "\xeb\xe4");

    is_method(&go, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&go, 6, 5, 15);
    CHECK(!go.is_loop_head);
    CHECK_EQUAL(other.patch_at, other.address);
}

static void the_mark_moves_where_there_is_not_enough_behind_it(void)
{
    struct hook_plan plan = ALONE(ENDBR64 RET);

    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&plan, 0, 5, 5);
}

static void thunks_are_functions_like_others(void)
{
    struct hook_plan near = ALONE("\xe9\x10\x00\x00\x00");                /* jmp */
    struct hook_plan far = ALONE("\xff\x25\xf9\x0f\x00\x00");             /* jmp [rip + x] */
    struct hook_plan marked = ALONE(ENDBR64 "\xff\x25\xf9\x0f\x00\x00");  /* the same behind a mark */
    struct hook_plan virtual = ALONE("\x48\x8b\x07\xff\x60\x18");         /* mov rax, [rdi]; jmp [rax + 24] */
    struct hook_plan adjusting = ALONE("\x48\x83\xef\x10\xe9\0\x01\0\0"); /* sub rdi, 16; jmp: of a second base class */

    is_method(&near, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&near, 0, 5, 5);
    is_method(&far, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&far, 0, 5, 6);
    is_method(&marked, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&marked, 4, 5, 10);
    is_method(&virtual, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&virtual, 0, 5, 6);
    is_method(&adjusting, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&adjusting, 0, 5, 9);
}

/* A function, some bytes, and another function. */
static struct hook_plan plan_before(const void *bytes, size_t size_bytes, uint8_t padding, size_t padding_bytes)
{
    const struct elf_function *function;
    struct hook_plan plan;

    planned_code_init(&code);
    function = planned_code_add(&code, "short", bytes, size_bytes);
    planned_code_fill(&code, padding, padding_bytes);
    PLANNED_ADD(&code, "next", ORDINARY);
    planned_code_survey(&code);
    plan = planned_code_plan(&code, function);
    planned_code_deinit(&code);
    return plan;
}

static void short_functions_take_the_padding_behind_them(void)
{
    struct hook_plan ret = plan_before(RET, 1, 0x90, 15);
    struct hook_plan rep_ret = plan_before("\xf3\xc3", 2, 0xcc, 3);
    struct hook_plan zero = plan_before("\x31\xc0\xc3", 3, 0x00, 13); /* xor eax, eax; ret */
    struct hook_plan hop = plan_before("\xeb\x10", 2, 0x90, 3);       /* jmp */

    is_method(&ret, HOOK_JUMP_INTO_PADDING, HOOK_TOO_SHORT);
    is_patch(&ret, 0, 5, 1);
    is_method(&rep_ret, HOOK_JUMP_INTO_PADDING, HOOK_TOO_SHORT);
    is_patch(&rep_ret, 0, 5, 2);
    is_method(&zero, HOOK_JUMP_INTO_PADDING, HOOK_TOO_SHORT);
    is_patch(&zero, 0, 5, 3);
    is_method(&hop, HOOK_JUMP_INTO_PADDING, HOOK_TOO_SHORT);
    is_patch(&hop, 0, 5, 2);
}

static void code_that_falls_into_the_next_function_moves_with_its_padding(void)
{
    /* cmp edx, ecx; then no-operations, which are executed, up to the next function. */
    struct hook_plan plan = plan_before("\x39\xca", 2, 0x90, 6);

    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&plan, 0, 5, 5);
}

static void what_does_not_fit_hops_to_padding_near_by(void)
{
    const struct elf_function *function, *other;
    struct hook_plan plan, second;

    planned_code_init(&code);
    PLANNED_ADD(&code, "before", ORDINARY);
    planned_code_fill(&code, 0x90, 10);
    function = PLANNED_ADD(&code, "short", "\x31\xc0\xc3");
    other = PLANNED_ADD(&code, "shorter", "\xf3\xc3");
    PLANNED_ADD(&code, "next", ORDINARY);
    planned_code_survey(&code);
    plan = planned_code_plan(&code, function);
    is_method(&plan, HOOK_HOP, HOOK_TOO_SHORT);
    is_patch(&plan, 0, 2, 2);
    /* Padding is used from its end, so that the function in front can still have the beginning. */
    CHECK_EQUAL(plan.hop_at, function->start - 5);
    CHECK_EQUAL(plan.hop_bytes, 5);
    second = planned_code_plan(&code, other);
    is_method(&second, HOOK_HOP, HOOK_TOO_SHORT);
    CHECK_EQUAL(second.hop_at, function->start - 10);
    planned_code_deinit(&code);
}

static void padding_belongs_to_one_plan_until_it_is_released(void)
{
    const struct elf_function *first, *second;
    struct hook_plan plan, other;

    planned_code_init(&code);
    PLANNED_ADD(&code, "before", ORDINARY);
    planned_code_fill(&code, 0xcc, 7);
    first = PLANNED_ADD(&code, "first", RET "\x90");
    second = PLANNED_ADD(&code, "second", "\xf3\xc3");
    PLANNED_ADD(&code, "next", ORDINARY);
    planned_code_survey(&code);
    plan = planned_code_plan(&code, first);
    is_method(&plan, HOOK_HOP, HOOK_TOO_SHORT);
    is_patch(&plan, 0, 2, 1);
    other = planned_code_plan(&code, second);
    is_method(&other, HOOK_TRAP, HOOK_TOO_SHORT);
    is_patch(&other, 0, 1, 2);
    hook_planner_release(&code.planner, &other);
    hook_planner_release(&code.planner, &plan);
    other = planned_code_plan(&code, second);
    is_method(&other, HOOK_HOP, HOOK_TOO_SHORT);
    CHECK_EQUAL(other.hop_at, first->start - 5);
    hook_planner_release(&code.planner, &other);
    plan = planned_code_plan(&code, first);
    is_method(&plan, HOOK_HOP, HOOK_TOO_SHORT);
    planned_code_deinit(&code);
}

static void a_hop_reaches_as_far_as_one_byte_says(void)
{
    for (unsigned distance = 120; distance < 136; distance++) {
        const struct elf_function *function;
        struct hook_plan plan;

        planned_code_init(&code);
        function = PLANNED_ADD(&code, "short", "\xf3\xc3");
        /* One function of no-operations that end nowhere dead. */
        planned_code_fill(&code, 0x90, distance);
        code.functions[code.list.count++] = (struct elf_function){
            .start = function->start + 2, .size_bytes = distance, .name = "long", .name_length = 4};
        planned_code_fill(&code, 0xcc, 5);
        PLANNED_ADD(&code, "next", ORDINARY);
        planned_code_survey(&code);
        plan = planned_code_plan(&code, function);
        is_method(&plan, distance <= 127 ? HOOK_HOP : HOOK_TRAP, HOOK_TOO_SHORT);
        if (distance <= 127)
            CHECK_EQUAL(plan.hop_at, function->start + 2 + distance);
        planned_code_deinit(&code);
    }
}

static void a_trap_is_the_last_resort(void)
{
    struct hook_plan plan = plan_before(RET, 1, 0, 0);

    is_method(&plan, HOOK_TRAP, HOOK_TOO_SHORT);
    is_patch(&plan, 0, 1, 1);
}

static void a_branch_into_the_first_bytes_forbids_a_jump(void)
{
    /* push rbx; mov rbx, rdi; call; jmp to the call */
    static const char loop[] = "\x53\x48\x89\xfb" CALL_0 "\xeb\xf9";
    struct hook_plan plan = plan_before(loop, sizeof(loop) - 1, 0x90, 8);

    is_method(&plan, HOOK_HOP, HOOK_BRANCH_INSIDE);
    is_patch(&plan, 0, 2, 4);
}

static void a_branch_to_the_second_byte_leaves_only_a_trap(void)
{
    /* push rbx; five nop; call; jmp behind the push */
    static const char loop[] = "\x53\x90\x90\x90\x90\x90" CALL_0 "\xeb\xf4";
    struct hook_plan plan = plan_before(loop, sizeof(loop) - 1, 0x90, 8);

    is_method(&plan, HOOK_TRAP, HOOK_BRANCH_INSIDE);
    is_patch(&plan, 0, 1, 1);
}

static void cold_parts_may_come_back_into_the_first_bytes(void)
{
    const struct elf_function *function;
    struct elf_function *part;
    struct hook_plan plan;

    planned_code_init(&code);
    /* push rbx; mov rbx, rdi; test edi, edi; js cold; pop rbx; ret */
    function = PLANNED_ADD(&code, "hot", "\x53\x48\x89\xfb\x85\xff\x78\x06\x5b\xc3");
    planned_code_fill(&code, 0x90, 4);
    /* nop; jmp hot + 4 */
    part = PLANNED_ADD(&code, "hot.cold", "\x90\xeb\xf3");
    part->is_part = true;
    planned_code_survey(&code);
    plan = planned_code_plan(&code, function);
    CHECK_EQUAL(part->start + 3 - 13, function->start + 4);
    CHECK(plan.method != HOOK_JUMP);
    CHECK_EQUAL(plan.obstacle, HOOK_BRANCH_INSIDE);
    plan = planned_code_plan(&code, part);
    is_method(&plan, HOOK_IMPOSSIBLE, HOOK_NOT_A_FUNCTION);
    planned_code_deinit(&code);
}

static void small_loops_move_as_a_whole(void)
{
    /* xor eax, eax; L: test rdi, rdi; je end; mov rdi, [rdi + 48]; inc rax; jmp L; end: ret */
    static const char loop[] = "\x31\xc0\x48\x85\xff\x74\x09\x48\x8b\x7f\x30\x48\xff\xc0\xeb\xf2\xc3";
    /* The same behind a mark, and the loop begins there: test rdi, rdi; je end; mov rdi, [rdi + 48]; jmp L; end: ret */
    static const char marked[] = ENDBR64 "\x48\x85\xff\x74\x06\x48\x8b\x7f\x30\xeb\xf5\xc3";
    struct hook_plan plan = ALONE(loop);

    is_method(&plan, HOOK_JUMP, HOOK_BRANCH_INSIDE);
    is_patch(&plan, 0, 5, sizeof(loop) - 1);
    CHECK(!plan.is_loop_head);
    plan = planned_code_alone(marked, sizeof(marked) - 1);
    is_method(&plan, HOOK_JUMP, HOOK_LOOP_TO_ENTRY);
    is_patch(&plan, 4, 5, sizeof(marked) - 1);
    CHECK(!plan.is_loop_head);
}

static void loops_that_call_stay_where_they_are(void)
{
    /* A loop to behind the mark: call; test eax, eax; jne; ret */
    static const char marked[] = ENDBR64 CALL_0 "\x85\xc0\x75\xf7\xc3";
    struct hook_plan plan = plan_before(marked, sizeof(marked) - 1, 0x90, 8);

    is_method(&plan, HOOK_HOP, HOOK_LOOP_TO_ENTRY);
    is_patch(&plan, 0, 2, 4);
    CHECK(!plan.is_loop_head);
}

static void loops_to_the_entry_are_told(void)
{
    /* mov eax, [rdi]; call; test eax, eax; jne start; ret */
    struct hook_plan plan = ALONE("\x8b\x07" CALL_0 "\x85\xc0\x75\xf5\xc3");

    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&plan, 0, 5, 7);
    CHECK(plan.is_loop_head);
    /* A call of itself is no loop. */
    plan = ALONE("\x8b\x07\xe8\xf9\xff\xff\xff\xc3");
    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    CHECK(!plan.is_loop_head);
}

static void loops_to_the_entry_without_calls_move_as_a_whole(void)
{
    /* mov eax, [rdi]; add rdi, 4; test eax, eax; jne start; ret */
    struct hook_plan plan = ALONE("\x8b\x07\x48\x83\xc7\x04\x85\xc0\x75\xf6\xc3");

    is_method(&plan, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&plan, 0, 5, 11);
    CHECK(!plan.is_loop_head);
}

static void nothing_comes_back_into_the_patch(void)
{
    struct hook_plan call = ALONE("\xff\xd7\x31\xc0\x5b\xc3\x90\x90");          /* call rdi; xor eax, eax... */
    struct hook_plan system_call = ALONE("\x31\xc0\x0f\x05\x48\x89\xc7\xc3");   /* xor eax, eax; syscall... */
    struct hook_plan last = ALONE("\x53" CALL_0 "\x5b\xc3");                    /* push rbx; call... */
    struct hook_plan exact = ALONE("\x48\x8b\x07\xff\xd0\x31\xc0\xc3\x90\x90"); /* mov rax, [rdi]; call rax... */

    is_method(&call, HOOK_TRAP, HOOK_RETURN_INSIDE);
    is_patch(&call, 0, 1, 2);
    is_method(&system_call, HOOK_TRAP, HOOK_RETURN_INSIDE);
    is_method(&last, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&last, 0, 5, 6);
    is_method(&exact, HOOK_JUMP, HOOK_NO_OBSTACLE);
    is_patch(&exact, 0, 5, 5);
}

static void what_cannot_be_is_told(void)
{
    struct hook_plan no_code = ALONE("\x06\x06\x06\x06\x06\x06"); /* no instruction of 64-bit programs */
    struct hook_plan far = ALONE("\x48\xff\x18\xc3\x90\x90");     /* call far [rax] */
    struct hook_plan trap = ALONE("\xcc");                        /* int3 */
    struct hook_plan cut = ALONE("\x48\xb8\x01\x02\x03");         /* mov rax, of which the end is missing */
    struct elf_function nowhere = {.start = PLANNED_DATA + 8, .size_bytes = 8};
    struct hook_plan plan;

    is_method(&no_code, HOOK_IMPOSSIBLE, HOOK_NOT_CODE);
    is_method(&far, HOOK_IMPOSSIBLE, HOOK_NOT_MOVABLE);
    is_method(&trap, HOOK_IMPOSSIBLE, HOOK_IS_A_TRAP);
    is_method(&cut, HOOK_IMPOSSIBLE, HOOK_NOT_CODE);
    planned_code_init(&code);
    PLANNED_ADD(&code, "some", ORDINARY);
    planned_code_survey(&code);
    plan = planned_code_plan(&code, &nowhere);
    is_method(&plan, HOOK_IMPOSSIBLE, HOOK_NOT_MAPPED);
    planned_code_deinit(&code);
}

static void functions_without_a_size_end_at_the_next(void)
{
    struct elf_function *function;
    struct hook_plan plan;

    planned_code_init(&code);
    function = PLANNED_ADD(&code, "short", "\x31\xc0\xc3");
    function->size_bytes = 0;
    planned_code_fill(&code, 0x90, 3);
    PLANNED_ADD(&code, "next", ORDINARY);
    planned_code_survey(&code);
    plan = planned_code_plan(&code, function);
    is_method(&plan, HOOK_JUMP_INTO_PADDING, HOOK_TOO_SHORT);
    planned_code_deinit(&code);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(whole_instructions_move_for_a_jump),
        CHECK_CASE(the_mark_for_indirect_calls_stays),
        CHECK_CASE(what_checks_for_room_on_the_stack_is_patched_behind_that),
        CHECK_CASE(the_mark_moves_where_there_is_not_enough_behind_it),
        CHECK_CASE(thunks_are_functions_like_others),
        CHECK_CASE(short_functions_take_the_padding_behind_them),
        CHECK_CASE(code_that_falls_into_the_next_function_moves_with_its_padding),
        CHECK_CASE(what_does_not_fit_hops_to_padding_near_by),
        CHECK_CASE(padding_belongs_to_one_plan_until_it_is_released),
        CHECK_CASE(a_hop_reaches_as_far_as_one_byte_says),
        CHECK_CASE(a_trap_is_the_last_resort),
        CHECK_CASE(a_branch_into_the_first_bytes_forbids_a_jump),
        CHECK_CASE(a_branch_to_the_second_byte_leaves_only_a_trap),
        CHECK_CASE(cold_parts_may_come_back_into_the_first_bytes),
        CHECK_CASE(small_loops_move_as_a_whole),
        CHECK_CASE(loops_that_call_stay_where_they_are),
        CHECK_CASE(loops_to_the_entry_are_told),
        CHECK_CASE(loops_to_the_entry_without_calls_move_as_a_whole),
        CHECK_CASE(nothing_comes_back_into_the_patch),
        CHECK_CASE(what_cannot_be_is_told),
        CHECK_CASE(functions_without_a_size_end_at_the_next),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
