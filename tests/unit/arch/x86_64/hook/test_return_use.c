/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/hook/return_use.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/frame_sections.h"
#include "support/planned_code.h"

static struct planned_code code;
static struct made_section section;
static struct eh_frame frame;

/* Whether a function looks at its return address; with a program of .eh_frame about it, if there is one. */
static bool is_used_with(const void *bytes, size_t size_bytes, const uint8_t *program, size_t program_bytes)
{
    struct elf_function *function;
    struct hook_return_use use;
    struct hook_plan plan;

    planned_code_init(&code);
    function = planned_code_add(&code, "function", bytes, size_bytes);
    if (program != NULL) {
        section = (struct made_section){.address = 0x600000};
        function->frame_offset = 1;
        made_section_add_entry(&section, made_section_add_usual(&section), function->start, (uint32_t)size_bytes,
                               program, program_bytes);
        frame = made_section_frame(&section);
        code.module.frame = &frame;
    }
    planned_code_survey(&code);
    plan = (struct hook_plan){.patch_at = function->start, .displaced_end = function->start + 5};
    x86_return_use_find(&code.planner, function, &plan, &use);
    planned_code_deinit(&code);
    return use.is_used;
}

#define IS_USED(text)               is_used_with((text), sizeof(text) - 1, NULL, 0)
#define IS_USED_WITH(text, program) is_used_with((text), sizeof(text) - 1, (program), sizeof(program))

static void reading_it_is_a_use(void)
{
    CHECK(IS_USED("\x48\x8b\x04\x24\xc3"));                         /* mov rax, [rsp]; ret */
    CHECK(IS_USED("\x53\x48\x8b\x44\x24\x08\x5b\xc3"));             /* push rbx; mov rax, [rsp + 8] */
    CHECK(IS_USED("\x48\x83\xec\x18\x48\x8b\x74\x24\x18\xc3"));     /* sub rsp, 24; mov rsi, [rsp + 24] */
    CHECK(IS_USED("\x48\x8d\x64\x24\xf8\x48\x8b\x74\x24\x08\xc3")); /* lea rsp, [rsp - 8]; mov rsi, [rsp + 8] */
    CHECK(IS_USED("\x55\x48\x89\xe5\x48\x8b\x45\x08\x5d\xc3"));     /* push rbp; mov rbp, rsp; mov rax, [rbp + 8] */
    CHECK(IS_USED("\x5f\x0f\x05\x57\xc3"));                         /* pop rdi; syscall; push rdi; ret */
    CHECK(IS_USED("\xff\x34\x24\xc3"));                             /* push [rsp] */
    CHECK(IS_USED("\x48\x89\x04\x24\xc3"));                         /* mov [rsp], rax */
}

static void what_is_beside_it_is_not(void)
{
    CHECK(!IS_USED("\x48\x8b\x44\x24\x08\xc3"));                 /* mov rax, [rsp + 8]: an argument */
    CHECK(!IS_USED("\x48\x8b\x44\x24\xf8\xc3"));                 /* mov rax, [rsp - 8] */
    CHECK(!IS_USED("\x53\x48\x8b\x04\x24\x5b\xc3"));             /* push rbx; mov rax, [rsp]; pop rbx */
    CHECK(!IS_USED("\x48\x8d\x04\x24\xc3"));                     /* lea rax, [rsp]: its place only */
    CHECK(!IS_USED("\xf0\x48\x83\x0c\x24\x00\xc3"));             /* lock or [rsp], 0: a fence */
    CHECK(!IS_USED("\x55\x48\x89\xe5\x48\x8b\x45\x10\x5d\xc3")); /* push rbp; mov rbp, rsp; mov rax, [rbp + 16] */
    CHECK(!IS_USED("\x64\x48\x8b\x04\x24\xc3"));                 /* mov rax, fs:[rsp] */
    CHECK(!IS_USED("\x48\x8b\x04\x0c\xc3"));                     /* mov rax, [rsp + rcx] */
    CHECK(!IS_USED("\x48\x8b\x45\x08\xc3"));                     /* mov rax, [rbp + 8] of somebody's frame */
}

static void the_distance_is_followed_over_branches(void)
{
    /* push rbx; test edi, edi; je L; pop rbx; ret; L: mov rax, [rsp + 8]; pop rbx; ret */
    CHECK(IS_USED("\x53\x85\xff\x74\x02\x5b\xc3\x48\x8b\x44\x24\x08\x5b\xc3"));
    /* The same, of [rsp]. */
    CHECK(!IS_USED("\x53\x85\xff\x74\x02\x5b\xc3\x48\x8b\x44\x24\x00\x5b\xc3"));
    /* and rsp, -32; mov rax, [rsp]: nobody knows where that is */
    CHECK(!IS_USED("\x48\x83\xe4\xe0\x48\x8b\x04\x24\xc9\xc3"));
    /* push rbp; mov rbp, rsp; and rsp, -32; leave; pop rax */
    CHECK(IS_USED("\x55\x48\x89\xe5\x48\x83\xe4\xe0\xc9\x58\xff\xe0"));
    /* sub rsp, rax; mov rax, [rsp] */
    CHECK(!IS_USED("\x48\x29\xc4\x48\x8b\x04\x24\xc3"));
}

static void frames_tell_where_it_is(void)
{
    static const uint8_t at_eight[] = {0x41, 0x0e, 16}; /* after one byte the frame is sp + 16 */
    static const uint8_t by_rbp[] = {0x41, 0x0e, 16, 0x43, 0x0d, 6};
    static const uint8_t nothing[] = {0};

    CHECK(IS_USED_WITH("\x53\x48\x8b\x44\x24\x08\x5b\xc3", at_eight));
    CHECK(!IS_USED_WITH("\x53\x48\x8b\x04\x24\x5b\xc3", at_eight));
    CHECK(IS_USED_WITH("\x55\x48\x89\xe5\x48\x8b\x45\x08\x5d\xc3", by_rbp));
    CHECK(!IS_USED_WITH("\x55\x48\x89\xe5\x48\x8b\x45\x10\x5d\xc3", by_rbp));
    /* and esp does not matter to whom is told: push rbp; mov rbp, rsp; and rsp, -32; mov rax, [rbp + 8] */
    CHECK(IS_USED_WITH("\x55\x48\x89\xe5\x48\x83\xe4\xe0\x48\x8b\x45\x08\xc9\xc3", by_rbp));
    CHECK(IS_USED_WITH("\x48\x8b\x04\x24\xc3", nothing));
}

static void frames_that_forget_pushes_are_not_believed(void)
{
    static const uint8_t nothing[] = {0};

    /* push rbx; push rbp; test edi, edi; pop rbp; pop rbx; ret */
    CHECK(!IS_USED_WITH("\x53\x55\x85\xff\x5d\x5b\xc3", nothing));
    /* The same with a pop too many. */
    CHECK(IS_USED_WITH("\x53\x55\x85\xff\x5d\x5b\x58\xff\xe0", nothing));
}

static void addresses_that_it_has_put_there_itself_are_its_own(void)
{
    static const uint8_t nothing[] = {0}, at_five[] = {0x45, 0x0e, 16, 0x41, 0x0e, 8};
    static const uint8_t by_rbp[] = {0x41, 0x0e, 16, 0x43, 0x0d, 6};

    /* call 1f; 1: pop rbx; ret */
    CHECK(!IS_USED("\xe8\0\0\0\0\x5b\xc3"));
    CHECK(!IS_USED_WITH("\xe8\0\0\0\0\x5b\xc3", nothing));
    CHECK(!IS_USED_WITH("\xe8\0\0\0\0\x5b\xc3", at_five));
    /* push rbx; call 1f; 1: mov rax, [rsp]; add rsp, 8; pop rbx; ret */
    CHECK(!IS_USED_WITH("\x53\xe8\0\0\0\0\x48\x8b\x04\x24\x48\x83\xc4\x08\x5b\xc3", nothing));
    /* push rbp; mov rbp, rsp; call 1f; 1: pop rax; leave; ret */
    CHECK(!IS_USED_WITH("\x55\x48\x89\xe5\xe8\0\0\0\0\x58\xc9\xc3", by_rbp));
    /* call 1f; 1: pop rbx; mov rax, [rsp]; ret: and its own, too */
    CHECK(IS_USED("\xe8\0\0\0\0\x5b\x48\x8b\x04\x24\xc3"));
    CHECK(IS_USED_WITH("\xe8\0\0\0\0\x5b\x48\x8b\x04\x24\xc3", nothing));
    /* call 1f; 1: mov rax, [rsp + 8] */
    CHECK(IS_USED_WITH("\xe8\0\0\0\0\x48\x8b\x44\x24\x08\x5b\xc3", nothing));
    /* call 1f; 2: pause; jmp 2b; 1: mov [rsp], rax; ret: a jump by return */
    CHECK(!IS_USED("\xe8\x04\0\0\0\xf3\x90\xeb\xfc\x48\x89\x04\x24\xc3"));
    /* pop rax; call elsewhere; push rax; ret: that of who called */
    CHECK(IS_USED("\x58\xe8\0\1\0\0\x50\xc3"));
}

static void frames_of_code_that_is_not_called_are_told(void)
{
    static const uint8_t no_caller[] = {0x07, 16};     /* the return address is undefined */
    static const uint8_t other_stack[] = {0x0e, 24};   /* the frame is sp + 24 */
    static const uint8_t not_by_rsp[] = {0x0c, 6, 16}; /* the frame is rbp + 16 */

    CHECK(IS_USED_WITH("\x31\xed\xf4", no_caller));
    CHECK(IS_USED_WITH("\x31\xed\xc3", other_stack));
    CHECK(IS_USED_WITH("\x31\xed\xc3", not_by_rsp));
}

static void ways_back_to_the_entry_are_seen(void)
{
    const struct elf_function *function;
    struct hook_return_use use;
    struct hook_plan plan = {0};

    planned_code_init(&code);
    /* endbr64; test edi, edi; jne behind the mark; jmp start */
    function = PLANNED_ADD(&code, "loop", "\xf3\x0f\x1e\xfa\x85\xff\x75\xfc\xc3");
    planned_code_survey(&code);
    plan.patch_at = function->start + 4;
    plan.displaced_end = function->start + 9;
    x86_return_use_find(&code.planner, function, &plan, &use);
    CHECK(!use.goes_to_entry);
    plan.displaced_end = function->start + 6;
    x86_return_use_find(&code.planner, function, &plan, &use);
    CHECK(use.goes_to_entry);
    plan.patch_at = function->start;
    x86_return_use_find(&code.planner, function, &plan, &use);
    CHECK(!use.goes_to_entry);
    planned_code_deinit(&code);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(reading_it_is_a_use),
        CHECK_CASE(what_is_beside_it_is_not),
        CHECK_CASE(the_distance_is_followed_over_branches),
        CHECK_CASE(frames_tell_where_it_is),
        CHECK_CASE(frames_that_forget_pushes_are_not_believed),
        CHECK_CASE(addresses_that_it_has_put_there_itself_are_its_own),
        CHECK_CASE(frames_of_code_that_is_not_called_are_told),
        CHECK_CASE(ways_back_to_the_entry_are_seen),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
