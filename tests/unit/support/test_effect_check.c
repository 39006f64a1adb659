/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/* The check must see each kind of false claim: true claims of real instructions are falsified one at a time. */
#define _GNU_SOURCE
#include "support/effect_check.h"

#include "support/check.h"
#include "support/insn_lab.h"
#include "support/random.h"

#if defined(__x86_64__)

enum { MEMORY_BYTES = INSN_LAB_ARENA_BYTES };

static struct insn_lab lab;
static struct effect_run first, second;
static uint8_t zeros[MEMORY_BYTES], ones[MEMORY_BYTES], after_first[MEMORY_BYTES], after_second[MEMORY_BYTES];
static struct x86_insn insn;
static char details[256];
static const struct effect_text text = {details, sizeof(details)};

/* Decodes the instruction and prepares two equal states in which all registers but rsp point into the data. */
static void prepare(const uint8_t *code, size_t count)
{
    uint8_t bytes[32];

    memset(bytes, 0xcc, sizeof(bytes));
    memcpy(bytes, code, count);
    CHECK_EQUAL(x86_decode(bytes, sizeof(bytes), app_pc_of(INSN_LAB_PC), 0, &insn), 0);
    insn_lab_place(&lab, bytes);
    machine_state_init(&first.initial);
    first.initial.rip = INSN_LAB_PC;
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        first.initial.gpr[i] = INSN_LAB_DATA + 0x1000 + 0x100 * i;
    second.initial = first.initial;
    first.memory_before = second.memory_before = zeros;
}

#define PREPARE(...) prepare((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void run(struct effect_run *run)
{
    memcpy(lab.data.base, run->memory_before, MEMORY_BYTES);
    code_runner_run(&lab.runner, &run->initial, &run->result);
    run->is_complete = insn_lab_completed(&run->result, &insn);
    memcpy(run->memory_after, lab.data.base, MEMORY_BYTES);
}

static const char *single(void)
{
    run(&first);
    return effect_check_single(&insn, &first, text);
}

static const char *pair(void)
{
    run(&first);
    run(&second);
    return effect_check_pair(&insn, &first, &second, text);
}

static void check_claim(const char *broken, const char *expected)
{
    CHECK_TEXT(broken != NULL ? broken : "holds", expected);
}

static void a_register_written_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x01, 0xd8); /* add rax, rbx */
    check_claim(single(), "holds");
    insn.gpr_written = 0;
    check_claim(single(), "register-written");
}

static void a_flag_written_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x01, 0xd8);
    first.initial.rflags |= X86_FLAG_ZF;
    insn.flags.written &= ~(uint32_t)X86_FLAG_ZF;
    check_claim(single(), "flag-written");
}

static void a_register_read_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x01, 0xd8);
    second.initial.gpr[X86_RBX]++;
    check_claim(pair(), "read");
}

static void a_flag_read_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x11, 0xd8); /* adc rax, rbx */
    second.initial.rflags |= X86_FLAG_CF;
    check_claim(pair(), "read");
}

static void a_register_kept_without_a_claim_is_seen(void)
{
    PREPARE(0x88, 0xd8); /* mov al, bl */
    second.initial.gpr[X86_RAX] = ~first.initial.gpr[X86_RAX];
    check_claim(pair(), "holds");
    insn.gpr_kept = 0;
    check_claim(pair(), "register-kept");
}

static void a_flag_kept_without_a_claim_is_seen(void)
{
    PREPARE(0xd3, 0xe0); /* shl eax, cl */
    first.initial.gpr[X86_RCX] = second.initial.gpr[X86_RCX] = 0;
    second.initial.rflags |= X86_FLAG_ZF;
    check_claim(pair(), "holds");
    insn.flags.kept = 0;
    check_claim(pair(), "flag-result");
}

static void memory_written_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x89, 0x03); /* mov [rbx], rax */
    check_claim(single(), "holds");
    insn.properties &= ~(uint32_t)X86_MEMORY_WRITE;
    check_claim(single(), "memory-write");
}

static void memory_read_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x8b, 0x03); /* mov rax, [rbx] */
    second.memory_before = ones;
    run(&first);
    run(&second);
    check_claim(effect_check_memory(&insn, &first, &second, text), "memory-read");
}

static void a_fault_without_a_claim_is_seen(void)
{
    PREPARE(0x48, 0x8b, 0x03);
    first.initial.gpr[X86_RBX] = 0;
    check_claim(single(), "holds");
    insn.properties &= ~(uint32_t)X86_MEMORY_READ;
    check_claim(single(), "memory-access");
    insn.properties &= ~(uint32_t)X86_MAY_FAULT;
    check_claim(single(), "may-fault");
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_register_written_without_a_claim_is_seen),
        CHECK_CASE(a_flag_written_without_a_claim_is_seen),
        CHECK_CASE(a_register_read_without_a_claim_is_seen),
        CHECK_CASE(a_flag_read_without_a_claim_is_seen),
        CHECK_CASE(a_register_kept_without_a_claim_is_seen),
        CHECK_CASE(a_flag_kept_without_a_claim_is_seen),
        CHECK_CASE(memory_written_without_a_claim_is_seen),
        CHECK_CASE(memory_read_without_a_claim_is_seen),
        CHECK_CASE(a_fault_without_a_claim_is_seen),
    };

    if (machine_state_components() == 0 || insn_lab_init(&lab) != 0)
        check_skip("the laboratory cannot be set up");
    memset(ones, 0xff, sizeof(ones));
    first.memory_bytes = second.memory_bytes = MEMORY_BYTES;
    first.memory_after = after_first;
    second.memory_after = after_second;

    int status = check_run(cases, sizeof(cases) / sizeof(cases[0]));

    insn_lab_deinit(&lab);
    return status;
}

#else

int main(void)
{
    check_skip("this is not an x86-64");
}

#endif
