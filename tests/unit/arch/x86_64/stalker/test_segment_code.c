/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/segment_code.h"

#include "arch/host_cpu.h"
#include "support/check.h"
#include "support/stalker_lab.h"

static struct stalker_lab lab;

struct encoding {
    uint8_t bytes[12];
    uint8_t size;
};

static struct x86_insn decoded(const struct encoding *encoding)
{
    struct x86_insn insn;

    CHECK_EQUAL(x86_decode(encoding->bytes, encoding->size, app_pc_of(0x1000), host_cpu_decode_options(), &insn), 0);
    CHECK_EQUAL(insn.length, encoding->size);
    return insn;
}

static void operands_of_the_usual_form_can_be_translated(void)
{
    static const struct encoding usual[] = {
        {{0x65, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0}, 9}, /* mov rax, gs:[8] */
        {{0x65, 0x48, 0x89, 0x4c, 0x24, 8}, 6},          /* mov gs:[rsp+8], rcx */
        {{0x65, 0xf3, 0x0f, 0x10, 0x00}, 5},             /* movss xmm0, gs:[rax] */
        {{0x65, 0xff, 0x30}, 3},                         /* push gs:[rax] */
        {{0x65, 0x8f, 0x00}, 3},                         /* pop gs:[rax] */
    };

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        struct x86_insn insn = decoded(&usual[i]);

        CHECK(x86_uses_our_segment(&insn));
        CHECK(x86_segment_can_be_put(&insn));
    }
}

static void others_cannot(void)
{
    static const struct encoding others[] = {
        {{0x65, 0xff, 0x10}, 3},                          /* call gs:[rax] */
        {{0x65, 0xff, 0x20}, 3},                          /* jmp gs:[rax] */
        {{0x65, 0xa4}, 2},                                /* movs */
        {{0x65, 0x48, 0xa1, 1, 2, 3, 4, 5, 6, 7, 8}, 11}, /* mov rax, gs:[address] */
        {{0x65, 0xd7}, 2},                                /* xlat */
        {{0x65, 0x8f, 0x04, 0x24}, 4},                    /* pop gs:[rsp] */
        {{0x65, 0x67, 0x8b, 0x00}, 4},                    /* mov eax, gs:[eax] */
        {{0x65, 0x8b, 0x05, 0, 0, 0, 0}, 7},              /* mov eax, gs:[rip] */
        {{0x65, 0x48, 0x0f, 0xc7, 0x0c, 0x37}, 6},        /* cmpxchg16b gs:[rdi+rsi]: no register is left */
        {{0x8e, 0xe8}, 2},                                /* mov gs, eax */
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct x86_insn insn = decoded(&others[i]);

        CHECK(x86_uses_our_segment(&insn));
        CHECK(!x86_segment_can_be_put(&insn));
    }
}

static void what_is_not_ours_is_not_taken_for_it(void)
{
    static const struct encoding others[] = {
        {{0x64, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0}, 9}, /* mov rax, fs:[8] */
        {{0xf3, 0x48, 0x0f, 0xae, 0xc0}, 5},             /* rdfsbase rax */
        {{0x65, 0x90}, 2},                               /* nop */
        {{0x8c, 0xc8}, 2},                               /* mov eax, cs */
        {{0x8c, 0xe8}, 2},                               /* mov eax, gs */
        {{0x0f, 0xa8}, 2},                               /* push gs */
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct x86_insn insn = decoded(&others[i]);

        CHECK(!x86_uses_our_segment(&insn));
    }
}

/* Runs one instruction and a trap, followed, with the program's base at the lab's data. */
static void run(const struct encoding *encoding, uint32_t events, struct machine_state *state)
{
    struct stalker_lab_options options = {.events = events};
    struct run_result result;

    stalker_lab_init(&lab, &options);
    lab.thread.thread_base = (uintptr_t)lab.data.base;
    for (unsigned i = 0; i < 16; i++)
        ((uint64_t *)lab.data.base)[i] = 0x1000 + i;
    stalker_lab_state(&lab, stalker_lab_write_at(&lab, 0), state);
    code_writer_put_bytes(&lab.writer, encoding->bytes, encoding->size);
    state->gpr[X86_RCX] = 8;
    state->gpr[X86_R11] = 2;
    stalker_lab_run(&lab, state, &result, NULL);
    CHECK_EQUAL(result.state.gpr[X86_RDX], state->gpr[X86_RDX]);
    CHECK_EQUAL(result.state.gpr[X86_RBX], state->gpr[X86_RBX]);
    CHECK_EQUAL(result.state.gpr[X86_RDI], state->gpr[X86_RDI]);
    CHECK_EQUAL(result.state.gpr[X86_RSP], state->gpr[X86_RSP]);
    *state = result.state;
}

static void operands_are_found_by_the_programs_base(void)
{
    static const struct encoding load = {{0x65, 0x4a, 0x8b, 0x44, 0xd9, 16}, 6}; /* mov rax, gs:[rcx+r11*8+16] */
    static const struct encoding store = {{0x65, 0x4c, 0x89, 0x59, 24}, 5};      /* mov gs:[rcx+24], r11 */
    static const struct encoding load_r11 = {{0x65, 0x4c, 0x8b, 0x19}, 4};       /* mov r11, gs:[rcx] */
    static const uint32_t events[] = {0, GAIT_EVENT_BLOCK};
    struct machine_state state;

    for (unsigned i = 0; i < 2; i++) {
        run(&load, events[i], &state);
        CHECK_EQUAL(state.gpr[X86_RAX], 0x1005);
        stalker_lab_deinit(&lab);
        run(&store, events[i], &state);
        CHECK_EQUAL(((uint64_t *)lab.data.base)[4], 2);
        stalker_lab_deinit(&lab);
        run(&load_r11, events[i], &state);
        CHECK_EQUAL(state.gpr[X86_R11], 0x1001);
        stalker_lab_deinit(&lab);
    }
}

static void the_base_is_read_and_written_in_the_thread(void)
{
    static const struct encoding read = {{0xf3, 0x48, 0x0f, 0xae, 0xc8}, 5};  /* rdgsbase rax */
    static const struct encoding write = {{0xf3, 0x48, 0x0f, 0xae, 0xd9}, 5}; /* wrgsbase rcx */
    static const struct encoding write_32 = {{0xf3, 0x0f, 0xae, 0xd9}, 4};    /* wrgsbase ecx */
    struct machine_state state;

    if (!host_cpu_has_base_insns())
        return;
    run(&read, 0, &state);
    CHECK_EQUAL(state.gpr[X86_RAX], (uintptr_t)lab.data.base);
    stalker_lab_deinit(&lab);
    run(&write, 0, &state);
    CHECK_EQUAL(lab.thread.thread_base, 8);
    stalker_lab_deinit(&lab);
    run(&write_32, 0, &state);
    CHECK_EQUAL(lab.thread.thread_base, 8);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(operands_of_the_usual_form_can_be_translated), CHECK_CASE(others_cannot),
    CHECK_CASE(what_is_not_ours_is_not_taken_for_it),         CHECK_CASE(operands_are_found_by_the_programs_base),
    CHECK_CASE(the_base_is_read_and_written_in_the_thread),
};

CHECK_MAIN(cases)
