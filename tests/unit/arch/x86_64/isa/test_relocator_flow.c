/* SPDX-License-Identifier: MIT */
/* time limit: 120 s */
/*
 * Instructions that change the flow of control, each run where it is and in copies, with its targets in the run and
 * outside of it. The text beside the bytes is what they are in assembly; behind | the code stays where it is.
 */
#include "support/check.h"
#include "support/random.h"
#include "support/relocation_case.h"
#include "support/relocation_run.h"

#include <asm/errno.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct relocation_lab lab;

/* Jumps in the run, out of it, and into the middle of its instructions. */
static void jumps_go_where_they_went(void)
{
    static const struct relocation_case tried[] = {
        {"jmp 1f; inc rcx; 1: inc rdx", "eb 03; 48 ff c1; 48 ff c2", 0},
        {"jmp rel32, 3 bytes on", "e9 03 00 00 00; 48 ff c1; 48 ff c2", 0},
        {"mov ecx, 3; 1: add rdx, rcx; dec ecx; jnz 1b", "b9 03 00 00 00; 48 01 ca; ff c9; 75 f9", 0},
        {"cmp rcx, rdx; jae 1f; inc rcx; 1: inc rdx", "48 39 d1; 73 03; 48 ff c1; 48 ff c2", 0},
        {"jc near, 3 bytes on", "0f 82 03 00 00 00; 48 ff c1; 48 ff c2", 0},
        {"cmp rsp, 0; 1: je 1b; inc rdx", "48 83 fc 00; 74 fe; 48 ff c2", 0},
        {"jmp 1f; | inc rcx; 1: inc rdx", "eb 03 | 48 ff c1; 48 ff c2", 0},
        {"jmp back behind the run", "eb 05; 48 ff c2; eb 02; eb f9 | 48 ff c1", 0},
        {"jl 1f; jp 1f; inc rcx; | inc rdx; int3; 1: inc rbx", "7c 09; 7a 07; 48 ff c1 | 48 ff c2; cc; 48 ff c3", 0},
        {"jo 1f; js 1f; jz 1f; jc 1f; jp 1f; jl 1f; jle 1f; jbe 1f; | inc rdx; int3; 1: inc rbx",
         "70 12; 78 10; 74 0e; 72 0c; 7a 0a; 7c 08; 7e 06; 76 04 | 48 ff c2; cc; 48 ff c3", 0},
        {"jmp into mov eax, imm32", "eb 01; b8 48 ff c1 90; 90", 0},
        {"jz into mov eax, imm32", "74 01; b8 48 ff c1 90; 90", 0},
        {"jmp back into mov rax, imm64", "48 b8 48 ff c1 90 90 90 90 cc; eb f6", 0},
        {"jmp and jc into the same mov", "72 03; eb 01; b8 48 ff c1 90; 90", 0},
        {"66 jmp short", "66 eb 03; 48 ff c1; 48 ff c2", 0},
        {"66 jc short", "66 72 03; 48 ff c1; 48 ff c2", 0},
        {"bnd jz 1f; inc rcx; 1: inc rdx", "f2 74 03; 48 ff c1; 48 ff c2", 0},
        {"jz 1f, taken by hint", "3e 74 03; 48 ff c1; 48 ff c2", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Calls of the next instruction, of others in the run, and of code outside of it. */
static void direct_calls_go_where_they_went(void)
{
    static const struct relocation_case tried[] = {
        {"call 1f; 1: pop rax", "e8 00 00 00 00; 58", 0},
        {"call 1f; 1: mov rax, [rsp]; lea rsp, [rsp+8]; add rax, [rip+data+8]",
         "e8 00 00 00 00; 48 8b 04 24; 48 8d 64 24 08; 48 03 05 @8", 0},
        {"call 1f; inc rdx; jmp 2f; 1: inc rcx; ret; 2: mov qword ptr [rsp-8], 0",
         "e8 05 00 00 00; 48 ff c2; eb 04; 48 ff c1; c3; 48 c7 44 24 f8 00 00 00 00", 0},
        {"jmp 2f; 1: inc rcx; ret; 2: call 1b; inc rdx",
         "eb 04; 48 ff c1; c3; e8 f7 ff ff ff; 48 ff c2; 48 c7 44 24 f8 00 00 00 00", 0},
        {"call 1f; inc rdx", "e8 0e 00 00 00; 48 ff c2; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"call 1f; call 1f",
         "e8 10 00 00 00; e8 0b 00 00 00; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"call 1f; | 1: pop rax", "e8 00 00 00 00 | 58", RELOCATION_RETURN_SHOWS},
        {"call 1f; inc rcx; 1: mov rax, [rsp]", "e8 03 00 00 00; 48 ff c1; 48 8b 04 24", RELOCATION_RETURN_SHOWS},
        {"bnd call 1f; inc rdx",
         "f2 e8 0e 00 00 00; 48 ff c2; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"call into mov eax, imm32; pop", "e8 01 00 00 00; b8 90 58 cc 90", RELOCATION_RETURN_SHOWS},
        {"call outside, which faults", "e8 00 00 00 20", RELOCATION_RETURN_SHOWS},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Calls through registers. */
static void calls_through_registers_go_where_they_went(void)
{
    static const struct relocation_case tried[] = {
        {"lea rax, [rip+1f]; call rax; inc rdx",
         "48 8d 05 10 00 00 00; ff d0; 48 ff c2; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"lea r12, [rip+1f]; call r12; inc rdx",
         "4c 8d 25 11 00 00 00; 41 ff d4; 48 ff c2; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"lea rbp, [rip+1f]; notrack call rbp",
         "48 8d 2d 0e 00 00 00; 3e ff d5; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"lea rax, [rip+1f]; call rax; nop; | 1: pop rbx", "48 8d 05 03 00 00 00; ff d0; 90 | 5b",
         RELOCATION_RETURN_SHOWS},
        {"call rsp", "ff d4", RELOCATION_RETURN_SHOWS},
        {"mov rax, 0x123456789; call rax", "48 b8 89 67 45 23 01 00 00 00; ff d0", RELOCATION_RETURN_SHOWS},
        {"mov rcx, 0x8000000000000000; call rcx", "48 b9 00 00 00 00 00 00 00 80; ff d1", RELOCATION_RETURN_SHOWS},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Calls through memory. */
static void calls_through_memory_go_where_they_went(void)
{
    static const struct relocation_case tried[] = {
        {"lea rax, [rip+1f]; mov [rip+data+8], rax; call [rip+data+8]",
         "48 8d 05 18 00 00 00; 48 89 05 @8; ff 15 @8; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; "
         "48 ff c3",
         0},
        {"lea rax, [rip+1f]; push rax; push rcx; call [rsp+8]",
         "48 8d 05 11 00 00 00; 50; 51; ff 54 24 08; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"lea rax, [rip+1f]; push rax; call [rsp]",
         "48 8d 05 0f 00 00 00; 50; ff 14 24; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3", 0},
        {"lea rax, [rip+1f]; mov [rsp-8], rax; call [rsp-8]",
         "48 8d 05 14 00 00 00; 48 89 44 24 f8; ff 54 24 f8; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; "
         "48 ff c3",
         0},
        {"lea rax, [rip+1f]; mov [rsp-0x80], rax; call [rsp-0x80]",
         "48 8d 05 14 00 00 00; 48 89 44 24 80; ff 54 24 80; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; "
         "48 ff c3",
         0},
        {"lea rdx, [rip+1f]; mov [rip+data+0x20], rdx; movabs rax, data+8; mov ecx, 2; call [rax+rcx*8+8]",
         "48 8d 15 25 00 00 00; 48 89 15 @20; 48 b8 #8; b9 02 00 00 00; ff 54 c8 08; 48 c7 44 24 f8 00 00 00 00; "
         "eb 04 | 48 ff c1; c3; 48 ff c3",
         0},
        {"lea rdx, [rip+1f]; push rdx; mov ecx, 2; call [rsp+rcx*8-16]",
         "48 8d 15 15 00 00 00; 52; b9 02 00 00 00; ff 54 cc f0; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; "
         "c3; 48 ff c3",
         0},
        {"lea rdx, [rip+1f]; mov [rip+data+0x20], rdx; movabs r13, data; mov r14d, 4; call [r13+r14*8]",
         "48 8d 15 27 00 00 00; 48 89 15 @20; 49 bd #0; 41 be 04 00 00 00; 43 ff 54 f5 00; "
         "48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; c3; 48 ff c3",
         0},
        {"lea rdx, [rip+1f]; mov [rip+data+0x20], rdx; movabs rbp, data; call [rbp+0x20]",
         "48 8d 15 1f 00 00 00; 48 89 15 @20; 48 bd #0; ff 55 20; 48 c7 44 24 f8 00 00 00 00; eb 04 | 48 ff c1; "
         "c3; 48 ff c3",
         0},
        {"lea rax, [rip+1f]; mov [rip+data+8], rax; call [rip+data+8]; nop; | 1: pop rbx",
         "48 8d 05 0e 00 00 00; 48 89 05 @8; ff 15 @8; 90 | 5b", RELOCATION_RETURN_SHOWS},
        {"call gs:[0x40]", "65 ff 14 25 40 00 00 00", RELOCATION_RETURN_SHOWS},
        {"call [rip+data+8]", "ff 15 @8", RELOCATION_RETURN_SHOWS},
        {"call gs:[rip+data+8]", "65 ff 15 @8", RELOCATION_RETURN_SHOWS},
        {"call [rip+data+0x2000]", "ff 15 @2000", 0},
        {"call [rsp+0x7fffffff]", "ff 94 24 ff ff ff 7f", 0},
        {"call [rsp-0x80000000]", "ff 94 24 00 00 00 80", 0},
        {"call [esp+0x8]", "67 ff 54 24 08", 0},
        {"call [esp+0x7fffffff]", "67 ff 94 24 ff ff ff 7f", 0},
        {"call [eip+data+8]", "67 ff 15 @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Jumps through registers and memory. */
static void jumps_through_registers_and_memory_go_where_they_went(void)
{
    static const struct relocation_case tried[] = {
        {"lea rax, [rip+1f]; jmp rax; inc rcx; 1: inc rdx", "48 8d 05 05 00 00 00; ff e0; 48 ff c1; 48 ff c2", 0},
        {"lea r15, [rip+1f]; notrack jmp r15; inc rcx; 1: inc rdx",
         "4c 8d 3d 07 00 00 00; 3e 41 ff e7; 48 ff c1; 48 ff c2", 0},
        {"jmp rsp", "ff e4", 0},
        {"lea rax, [rip+1f]; mov [rip+data+8], rax; jmp [rip+data+8]; inc rcx; 1: inc rdx",
         "48 8d 05 10 00 00 00; 48 89 05 @8; ff 25 @8; 48 ff c1; 48 ff c2", 0},
        {"lea rax, [rip+1f]; mov [rip+data+8], rax; bnd jmp [rip+data+8]; inc rcx; 1: inc rdx",
         "48 8d 05 11 00 00 00; 48 89 05 @8; f2 ff 25 @8; 48 ff c1; 48 ff c2", 0},
        {"lea rax, [rip+1f]; push rax; jmp [rsp]; inc rcx; 1: inc rdx",
         "48 8d 05 07 00 00 00; 50; ff 24 24; 48 ff c1; 48 ff c2", 0},
        {"lea rax, [rip+1f]; mov [rsp-0x80], rax; jmp [rsp-0x80]; inc rcx; 1: inc rdx",
         "48 8d 05 0c 00 00 00; 48 89 44 24 80; ff 64 24 80; 48 ff c1; 48 ff c2", 0},
        {"jmp gs:[0x40]", "65 ff 24 25 40 00 00 00", 0},
        {"jmp gs:[rip+data+8]", "65 ff 25 @8", 0},
        {"jmp [rip+data+8]", "ff 25 @8", 0},
        {"jmp [rip+data+0x2000]", "ff 25 @2000", 0},
        {"jmp [eip+data+8]", "67 ff 25 @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Returns. */
static void returns_go_where_they_went(void)
{
    static const struct relocation_case tried[] = {
        {"lea rax, [rip+1f]; push rax; ret; inc rcx; 1: inc rdx", "48 8d 05 05 00 00 00; 50; c3; 48 ff c1; 48 ff c2",
         0},
        {"lea rax, [rip+1f]; push rax; ret 16; inc rcx; 1: inc rdx",
         "48 8d 05 07 00 00 00; 50; c2 10 00; 48 ff c1; 48 ff c2", 0},
        {"lea rax, [rip+1f]; push rax; rep ret; inc rcx; 1: inc rdx",
         "48 8d 05 06 00 00 00; 50; f3 c3; 48 ff c1; 48 ff c2", 0},
        {"lea rax, [rip+1f]; push rax; bnd ret; inc rcx; 1: inc rdx",
         "48 8d 05 06 00 00 00; 50; f2 c3; 48 ff c1; 48 ff c2", 0},
        {"mov [rsp-0x80], rcx; lea rax, [rip+1f]; push rax; ret; 1: mov rdx, [rsp-0x80]",
         "48 89 4c 24 80; 48 8d 05 02 00 00 00; 50; c3; 48 8b 54 24 80", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* System calls show the original address behind them. */
static void system_calls_leave_the_original_address(void)
{
    static const struct relocation_case tried[] = {
        {"mov eax, 39; syscall; mov r8, rcx", "b8 27 00 00 00; 0f 05; 49 89 c8", RELOCATION_ENDS_ONLY},
        {"mov eax, 39; syscall", "b8 27 00 00 00; 0f 05", RELOCATION_ENDS_ONLY},
        {"mov eax, 39; rex.w syscall; sub rcx, [rip+data+8]", "b8 27 00 00 00; 48 0f 05; 48 2b 0d @8",
         RELOCATION_ENDS_ONLY},
        {"mov eax, 20; int 0x80", "b8 14 00 00 00; cd 80", RELOCATION_ENDS_ONLY},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Traps. */
static void traps_stay_where_they_were(void)
{
    static const struct relocation_case tried[] = {
        {"int3; inc rcx", "cc; 48 ff c1", 0},
        {"f3 int3", "f3 cc; 48 ff c1", 0},
        {"66 rex.w int3", "66 48 cc; 48 ff c1", 0},
        {"int1; inc rcx", "f1; 48 ff c1", 0},
        {"ud2; inc rcx", "0f 0b; 48 ff c1", 0},
        {"ud1 eax, [rip+data+8]", "0f b9 05 @8", 0},
        {"ud0 rcx, [rip+data+0x2000]", "48 0f ff 0d @2000", 0},
        {"hlt", "f4", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/*
 * Transactions, which not every CPU has: then they are no instruction. A step into one aborts it and ends behind the
 * first instruction of where it goes then, which in a copy may be a jump there.
 */
static void transactions_abort_to_where_they_did(void)
{
    static const struct relocation_case tried[] = {
        {"xbegin 1f; inc rcx; xend; 1: inc rdx", "c7 f8 06 00 00 00; 48 ff c1; 0f 01 d5; 48 ff c2", 0},
        {"xbegin 1f; inc rcx; xend; | inc rdx; 1: inc rdx",
         "c7 f8 09 00 00 00; 48 ff c1; 0f 01 d5 | 48 ff c2; 48 ff c2", RELOCATION_ENDS_ONLY},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Far branches. */
static void far_branches_are_moved_or_refused(void)
{
    static const struct relocation_case tried[] = {
        {"mov dword ptr [rip+data+8], 0x12345; mov word ptr [rip+data+0xc], 0x33; jmp far ptr [rip+data+8]",
         "c7 05 @8 45 23 01 00; 66 c7 05 @c 33 00; ff 2d @8", RELOCATION_NEAR_ONLY},
        {"call fword ptr [rip+data+8]", "ff 1d @8", RELOCATION_REFUSED},
        {"call fword ptr [rax]", "ff 18", RELOCATION_REFUSED},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

static void branches_keep_their_condition(void)
{
    static const char *const shapes[] = {
        "%x 03; 48 ff c1; 48 ff c2",              /* short, in the run */
        "%x 03 | 48 ff c1; 48 ff c2",             /* short, out of it */
        "0f %x 03 00 00 00; 48 ff c1; 48 ff c2",  /* near, in the run */
        "0f %x 03 00 00 00 | 48 ff c1; 48 ff c2", /* near, out of it */
    };

    for (unsigned condition = 0; condition < 16; condition++) {
        for (size_t i = 0; i < COUNT(shapes); i++) {
            char code[64];
            struct relocation_case tried = {code, code, 0};

            snprintf(code, sizeof(code), shapes[i], (i < 2 ? 0x70 : 0x80) + condition);
            CHECK_EQUAL(relocation_case_try(&lab, &tried), 0);
        }
    }
}

/* ---- return addresses -----------------------------------------------------------------------------------------------
 */

/* A call of code that traps at once, and where the instruction behind the call is. */
struct call_sample {
    const char *text;
    unsigned next;
};

/* Runs the copy up to the trap, and looks at what the call pushed. */
static void check_pushed(void *context, const struct relocation_setup *setup)
{
    const struct call_sample *sample = context;
    struct relocation_setup own = *setup;
    static struct run_result result;
    struct cache_pc in_copy = {0};
    struct random random;
    uint64_t next = relocation_lab_code_pc(&lab) + sample->next, pushed = 0;

    CHECK_EQUAL(relocation_code_copy(&lab, &own, sample->text), 0);
    CHECK_EQUAL(x86_relocation_map_start(&lab.map, app_pc_of(next), &in_copy), 0);
    random_init(&random, 1);
    relocation_lab_randomize(&lab, &random, &own.initial);
    own.initial.rip = lab.map.cache_start.value;
    code_runner_run(&lab.runner, &own.initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), next + 1);
    memcpy(&pushed, lab.stack.base + (result.state.gpr[X86_RSP] - (uint64_t)lab.stack.base), sizeof(pushed));
    CHECK_EQUAL(pushed, own.options.return_address == X86_RETURN_TO_COPY ? in_copy.value : next);
}

static void calls_push_the_return_address_that_was_chosen(void)
{
    static const struct call_sample samples[] = {
        {"e8 01 00 00 00; 90 | cc", 5},
        {"48 8d 05 03 00 00 00; ff d0; 90 | cc", 9},                   /* lea rax, [rip]; call rax */
        {"48 8d 05 0e 00 00 00; 48 89 05 @8; ff 15 @8; 90 | cc", 20},  /* lea; mov [rip], rax; call [rip] */
        {"48 8d 05 05 00 00 00; 50; ff 14 24; 90 | cc", 11},           /* lea; push rax; call [rsp] */
        {"48 8d 05 08 00 00 00; 48 89 e1; 50; ff 51 f8; 90 | cc", 14}, /* lea; mov rcx, rsp; push; call [rcx-8] */
    };

    for (size_t i = 0; i < COUNT(samples); i++)
        relocation_setup_for_each(check_pushed, (void *)&samples[i]);
}

/* ---- branches by a count --------------------------------------------------------------------------------------------
 */

struct loop_shape {
    const char *name;
    const char *before, *behind; /* the instructions around the branch */
    int target;                  /* from the end of the branch, or from its start if it is not above 0 */
};

/* mov rcx, count; before; prefix opcode target; behind */
static unsigned try_loop(const struct loop_shape *shape, const char *prefix, unsigned opcode, uint64_t count)
{
    char name[96], code[160];
    struct relocation_case tried = {name, code, 0};
    unsigned length = 2 + (unsigned)(strlen(prefix) + 1) / 3;
    int displacement = shape->target > 0 ? shape->target : shape->target - (int)length;
    int used = 0;

    snprintf(name, sizeof(name), "%s %02x %s, rcx %" PRIx64, prefix, opcode, shape->name, count);
    used += snprintf(code, sizeof(code), "48 b9");
    for (unsigned i = 0; i < 8; i++)
        used += snprintf(code + used, sizeof(code) - (size_t)used, " %02x", (unsigned)(count >> 8 * i) & 0xff);
    snprintf(code + used, sizeof(code) - (size_t)used, "; %s%s %02x %02x%s", shape->before, prefix, opcode,
             (unsigned)displacement & 0xff, shape->behind);
    return relocation_case_try(&lab, &tried);
}

static const char *const loop_prefixes[] = {"", "67", "66", "f2", "f3", "3e", "67 f3"};

static void branches_by_a_count_go_forward(void)
{
    static const struct loop_shape shapes[] = {
        {"in the run", "", "; 48 ff c2; 48 ff c3", 3},
        {"out of the run", "", " | 48 ff c2; 48 ff c3", 3},
    };
    static const uint64_t counts[] = {0, 1, 2, 1ull << 32, (1ull << 32) + 1};

    for (unsigned opcode = 0xe0; opcode <= 0xe3; opcode++)
        for (size_t p = 0; p < COUNT(loop_prefixes); p++)
            for (size_t s = 0; s < COUNT(shapes); s++)
                for (size_t c = 0; c < COUNT(counts); c++)
                    CHECK_EQUAL(try_loop(&shapes[s], loop_prefixes[p], opcode, counts[c]), 0);
}

static void branches_by_a_count_go_back(void)
{
    static const struct loop_shape shapes[] = {
        {"back", "48 ff c2; ", "", -3},
        {"to itself", "", "; 48 ff c2", 0},
    };

    for (unsigned opcode = 0xe0; opcode <= 0xe3; opcode++)
        for (size_t p = 0; p < COUNT(loop_prefixes); p++)
            for (size_t s = 0; s < COUNT(shapes); s++)
                for (uint64_t count = 1; count <= 3; count += 2)
                    CHECK_EQUAL(try_loop(&shapes[s], loop_prefixes[p], opcode, count), 0);
}

/* ---- what cannot be seen by running it ------------------------------------------------------------------------------
 */

static int copy_code(const char *text, bool is_far, unsigned decode_options)
{
    struct relocation_setup setup = {.is_far = is_far, .options.decode_options = decode_options};

    return relocation_code_copy(&lab, &setup, text);
}

static uint64_t start_in_copy(unsigned offset)
{
    struct cache_pc pc = {0};

    CHECK_EQUAL(x86_relocation_map_start(&lab.map, app_pc_of(relocation_lab_code_pc(&lab) + offset), &pc), 0);
    return pc.value;
}

static void a_transaction_aborts_to_the_copy_or_the_original(void)
{
    struct x86_insn insn = {0};

    /* xbegin, 3 bytes on: inside of the run, then outside of it */
    CHECK_EQUAL(copy_code("c7 f8 03 00 00 00; 48 ff c1; 48 ff c2", true, 0), 0);
    CHECK(relocation_copy_find(&lab, X86_MNEMONIC_xbegin, &insn));
    CHECK_EQUAL(insn.target, start_in_copy(9));
    CHECK_EQUAL(copy_code("c7 f8 03 00 00 00 | 48 ff c1; 48 ff c2", false, 0), 0);
    CHECK(relocation_copy_find(&lab, X86_MNEMONIC_xbegin, &insn));
    CHECK_EQUAL(insn.target, relocation_lab_code_pc(&lab) + 9);
}

/* A far target is reached by a jump in the copy, through a constant. */
static void a_far_transaction_aborts_by_way_of_a_jump(void)
{
    struct x86_insn insn = {0}, jump = {0};
    const struct x86_relocation_point *point;
    uint64_t target, constant = 0;

    CHECK_EQUAL(copy_code("c7 f8 03 00 00 00 | 48 ff c1; 48 ff c2", true, 0), 0);
    CHECK(relocation_copy_find(&lab, X86_MNEMONIC_xbegin, &insn));
    target = insn.target - (uint64_t)lab.far.base;
    CHECK(target < lab.copy_size);
    CHECK_EQUAL(x86_decode(lab.far.base + target, 16, app_pc_of(insn.target), 0, &jump), 0);
    CHECK_EQUAL(jump.flow, X86_FLOW_JUMP_INDIRECT);
    CHECK(jump.properties & X86_PC_RELATIVE);
    memcpy(&constant, lab.far.base + (jump.target - (uint64_t)lab.far.base), sizeof(constant));
    CHECK_EQUAL(constant, relocation_lab_code_pc(&lab) + 9);
    point = x86_relocation_map_find(&lab.map, cache_pc_of(insn.target));
    CHECK(point != NULL && point->app_pc.value == constant);
}

static void a_jump_to_itself_stays_where_it_is(void)
{
    struct x86_insn insn = {0};

    CHECK_EQUAL(copy_code("48 ff c1; eb fe", true, 0), 0);
    CHECK(relocation_copy_insn(&lab, 1, &insn));
    CHECK_EQUAL(insn.flow, X86_FLOW_JUMP);
    CHECK_EQUAL(insn.target, insn.pc.value);
    CHECK_EQUAL(copy_code("48 ff c1; 0f 84 fa ff ff ff", true, 0), 0);
    CHECK(relocation_copy_insn(&lab, 1, &insn));
    CHECK_EQUAL(insn.flow, X86_FLOW_BRANCH);
    CHECK_EQUAL(insn.target, insn.pc.value);
}

static void branches_in_the_run_stay_in_the_copy(void)
{
    static const struct {
        unsigned branch, target; /* the offsets of both */
    } branches[] = {{0, 5}, {2, 8}, {11, 5}, {13, 18}};

    CHECK_EQUAL(copy_code("72 03; 74 04; 90; 48 ff c1; 48 ff c2; 75 f8; eb 03; 48 ff c1; 48 ff c2", true, 0), 0);
    for (size_t i = 0; i < COUNT(branches); i++) {
        uint64_t start = start_in_copy(branches[i].branch);
        struct x86_insn insn = {0};

        CHECK_EQUAL(x86_decode(lab.far.base + (start - (uint64_t)lab.far.base), 16, app_pc_of(start), 0, &insn), 0);
        CHECK_EQUAL(insn.target, start_in_copy(branches[i].target));
    }
}

/* Where the address behind a system call was in rcx, and the copy has not put the original one there yet. */
static void behind_a_system_call_rcx_is_recovered(void)
{
    struct relocation_spill_memory memory = {0};
    uint64_t gpr[X86_GPR_COUNT];
    struct x86_insn insn = {0};
    struct app_pc pc = {0};

    CHECK_EQUAL(copy_code("0f 05; 48 ff c2", true, 0), 0);
    CHECK(relocation_copy_insn(&lab, 1, &insn));
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        gpr[i] = 0x1000 + i;
    CHECK_EQUAL(relocation_run_recover(&lab.map, &memory, cache_pc_of(insn.pc.value), gpr, &pc), 0);
    CHECK_EQUAL(pc.value, relocation_lab_code_pc(&lab) + 2);
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        CHECK_EQUAL(gpr[i], i == X86_RCX ? pc.value : 0x1000 + i);
    /* Other system calls leave rcx alone. */
    CHECK_EQUAL(copy_code("cd 80; 48 ff c2", true, 0), 0);
    CHECK(relocation_copy_insn(&lab, 1, &insn));
    CHECK_EQUAL(insn.mnemonic, X86_MNEMONIC_inc);
}

/* With 66 in front AMD's CPUs cut the target to 16 bits, and push as many. */
static void short_branches_are_refused_where_they_cannot_be_moved(void)
{
    struct x86_insn insn = {0};

    CHECK_EQUAL(copy_code("66 e8 00 01; 48 ff c2", true, X86_DECODE_AMD), -EOPNOTSUPP);
    CHECK_EQUAL(copy_code("66 ff d0; 48 ff c2", true, X86_DECODE_AMD), -EOPNOTSUPP);
    CHECK_EQUAL(copy_code("66 ff 15 @8; 48 ff c2", true, X86_DECODE_AMD), -EOPNOTSUPP);
    CHECK_EQUAL(copy_code("66 ff 15 @8; 48 ff c2", false, X86_DECODE_AMD), -EOPNOTSUPP);
    CHECK_EQUAL(copy_code("66 ff 25 @8; 48 ff c2", true, X86_DECODE_AMD), -EOPNOTSUPP);
    CHECK_EQUAL(copy_code("66 ff 25 @8; 48 ff c2", false, X86_DECODE_AMD), 0);
    CHECK_EQUAL(copy_code("66 ff e0; 48 ff c2", true, X86_DECODE_AMD), 0);
    CHECK_EQUAL(copy_code("66 c3; 48 ff c2", true, X86_DECODE_AMD), 0);

    CHECK_EQUAL(copy_code("66 e8 00 01 00 00; 48 ff c2", true, X86_DECODE_INTEL), 0);
    CHECK_EQUAL(copy_code("66 ff d0; 48 ff c2", true, X86_DECODE_INTEL), 0);
    CHECK_EQUAL(copy_code("66 ff 15 @8; 48 ff c2", true, X86_DECODE_INTEL), 0);
    CHECK_EQUAL(copy_code("66 ff 25 @8; 48 ff c2", true, X86_DECODE_INTEL), 0);

    /* jc: the copy goes to the address that is left */
    CHECK_EQUAL(copy_code("66 0f 82 00 01; 48 ff c2", false, X86_DECODE_AMD), 0);
    CHECK(relocation_copy_insn(&lab, 0, &insn));
    CHECK_EQUAL(insn.flow, X86_FLOW_BRANCH);
    CHECK(relocation_copy_find(&lab, X86_MNEMONIC_jmp, &insn));
    CHECK_EQUAL(copy_code("66 0f 82 00 01 00 00; 48 ff c2", false, X86_DECODE_INTEL), 0);
    CHECK(relocation_copy_insn(&lab, 0, &insn));
    CHECK_EQUAL(insn.target, relocation_lab_code_pc(&lab) + 7 + 0x100);
}

static void equal_far_targets_share_a_constant(void)
{
    size_t one, two;

    CHECK_EQUAL(copy_code("e9 00 01 00 00", true, 0), 0);
    one = lab.copy_size;
    CHECK_EQUAL(copy_code("e9 05 01 00 00; e9 00 01 00 00", true, 0), 0);
    two = lab.copy_size;
    CHECK_EQUAL(two - one, 6);
}

static const struct check_case cases[] = {
    CHECK_CASE(jumps_go_where_they_went),
    CHECK_CASE(direct_calls_go_where_they_went),
    CHECK_CASE(calls_through_registers_go_where_they_went),
    CHECK_CASE(calls_through_memory_go_where_they_went),
    CHECK_CASE(jumps_through_registers_and_memory_go_where_they_went),
    CHECK_CASE(returns_go_where_they_went),
    CHECK_CASE(system_calls_leave_the_original_address),
    CHECK_CASE(traps_stay_where_they_were),
    CHECK_CASE(transactions_abort_to_where_they_did),
    CHECK_CASE(far_branches_are_moved_or_refused),
    CHECK_CASE(branches_keep_their_condition),
    CHECK_CASE(calls_push_the_return_address_that_was_chosen),
    CHECK_CASE(branches_by_a_count_go_forward),
    CHECK_CASE(branches_by_a_count_go_back),
    CHECK_CASE(a_transaction_aborts_to_the_copy_or_the_original),
    CHECK_CASE(a_far_transaction_aborts_by_way_of_a_jump),
    CHECK_CASE(a_jump_to_itself_stays_where_it_is),
    CHECK_CASE(branches_in_the_run_stay_in_the_copy),
    CHECK_CASE(behind_a_system_call_rcx_is_recovered),
    CHECK_CASE(short_branches_are_refused_where_they_cannot_be_moved),
    CHECK_CASE(equal_far_targets_share_a_constant),
};

int main(void)
{
    return relocation_lab_ready(&lab) ? check_run(cases, COUNT(cases)) : 1;
}
