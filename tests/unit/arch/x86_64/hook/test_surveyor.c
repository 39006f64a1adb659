/* SPDX-License-Identifier: MIT */
/* What plans learn of single instructions. */
#include "arch/engine.h"
#include "hook/hook_planner.h"

#include "support/check.h"
#include "support/planned_code.h"

#define ORDINARY (HOOK_INSTRUCTION_GOES_ON | HOOK_INSTRUCTION_IS_MOVABLE)
#define COPYABLE (ORDINARY | HOOK_INSTRUCTION_IS_COPYABLE)
#define CALL     (ORDINARY | HOOK_INSTRUCTION_COMES_BACK)
#define END      (HOOK_INSTRUCTION_IS_END | HOOK_INSTRUCTION_IS_MOVABLE)

static struct planned_code code;

/* What has a case of its own. */
static unsigned seen_apart = HOOK_INSTRUCTION_STAYS_HOME;

static void is_seen_as(const char *bytes, unsigned size_bytes, unsigned flags)
{
    struct hook_instruction instruction = {0};
    struct hook_code there;

    planned_code_init(&code);
    planned_code_add(&code, "first", bytes, size_bytes);
    planned_code_survey(&code);
    CHECK(hook_planner_code(&code.planner, PLANNED_CODE, &there));
    CHECK(code.planner.machine->look(&code.planner, &there, PLANNED_CODE, &instruction));
    CHECK_EQUAL(instruction.length, size_bytes);
    CHECK_EQUAL(instruction.flags & ~seen_apart, flags);
    there.end--;
    CHECK(!code.planner.machine->look(&code.planner, &there, PLANNED_CODE, &instruction));
    planned_code_deinit(&code);
}

#define IS_SEEN_AS(text, flags) is_seen_as((text), sizeof(text) - 1, (flags))

static void instructions_say_how_code_goes_on(void)
{
    IS_SEEN_AS("\x48\x89\xfb", COPYABLE);                          /* mov rbx, rdi */
    IS_SEEN_AS("\x8b\x05\x00\x00\x00\x00", ORDINARY);              /* mov eax, [rip] */
    IS_SEEN_AS("\x74\x02", ORDINARY);                              /* je */
    IS_SEEN_AS("\xe8\x00\x00\x00\x00", CALL);                      /* call */
    IS_SEEN_AS("\xff\xd0", CALL);                                  /* call rax */
    IS_SEEN_AS("\x0f\x05", CALL | HOOK_INSTRUCTION_IS_CALL);       /* syscall */
    IS_SEEN_AS("\xeb\x02", END);                                   /* jmp */
    IS_SEEN_AS("\xc3", END | HOOK_INSTRUCTION_IS_RETURN);          /* ret */
    IS_SEEN_AS("\xff\xe0", END | HOOK_INSTRUCTION_JUMPS_ANYWHERE); /* jmp rax */
    IS_SEEN_AS("\xff\x2c\x24", 0);                                 /* jmp far [rsp] */
    IS_SEEN_AS("\x0f\x0b", END);                                   /* ud2 */
}

static void fillers_traps_and_marks_are_known(void)
{
    IS_SEEN_AS("\x0f\x1f\x44\x00\x00", COPYABLE | HOOK_INSTRUCTION_IS_FILLER);
    IS_SEEN_AS("\x66\x90", COPYABLE | HOOK_INSTRUCTION_IS_FILLER);
    IS_SEEN_AS("\xcd\x80", CALL); /* int 0x80 */
    IS_SEEN_AS("\xf3\x0f\x1e\xfa", COPYABLE | HOOK_INSTRUCTION_IS_MARK);
    IS_SEEN_AS("\xcc", HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_IS_FILLER | HOOK_INSTRUCTION_IS_TRAP);
}

static void what_touches_no_other_memory_than_the_stack_cannot_fault(void)
{
    seen_apart = ~(unsigned)HOOK_INSTRUCTION_STAYS_HOME;
    IS_SEEN_AS("\x48\x89\xfb", HOOK_INSTRUCTION_STAYS_HOME);         /* mov rbx, rdi */
    IS_SEEN_AS("\x48\x83\xc4\x18", HOOK_INSTRUCTION_STAYS_HOME);     /* add rsp, 24 */
    IS_SEEN_AS("\x48\x8b\x6c\x24\x10", HOOK_INSTRUCTION_STAYS_HOME); /* mov rbp, [rsp + 16] */
    IS_SEEN_AS("\x5d", HOOK_INSTRUCTION_STAYS_HOME);                 /* pop rbp */
    IS_SEEN_AS("\x48\x8d\x40\x08", HOOK_INSTRUCTION_STAYS_HOME);     /* lea rax, [rax + 8] */
    IS_SEEN_AS("\x48\x8b\x00", 0);                                   /* mov rax, [rax] */
    IS_SEEN_AS("\x48\x8b\x04\xc4", 0);                               /* mov rax, [rsp + 8 * rax] */
    IS_SEEN_AS("\x8b\x05\x00\x00\x00\x00", 0);                       /* mov eax, [rip] */
    seen_apart = HOOK_INSTRUCTION_STAYS_HOME;
}

static const struct check_case cases[] = {
    CHECK_CASE(instructions_say_how_code_goes_on),
    CHECK_CASE(fillers_traps_and_marks_are_known),
    CHECK_CASE(what_touches_no_other_memory_than_the_stack_cannot_fault),
};

CHECK_MAIN(cases)
