/* SPDX-License-Identifier: MIT */
#include "inject/seccomp_check.h"

#include <stdbool.h>
#include <string.h>

struct filter_machine {
    uint32_t accumulator;
    uint32_t index;
    uint32_t memory[BPF_MEMWORDS];
    const struct seccomp_data *data;
};

/* What an instruction's operand is. False: it has none such. */
static bool operand(const struct filter_machine *machine, const struct sock_filter *insn, uint32_t *value_out)
{
    switch (BPF_MODE(insn->code)) {
    case BPF_IMM:
        *value_out = insn->k;
        return true;
    case BPF_ABS:
        if (insn->k % 4 != 0 || insn->k > sizeof(*machine->data) - 4)
            return false;
        memcpy(value_out, (const uint8_t *)machine->data + insn->k, 4);
        return true;
    case BPF_MEM:
        if (insn->k >= BPF_MEMWORDS)
            return false;
        *value_out = machine->memory[insn->k];
        return true;
    case BPF_LEN:
        *value_out = sizeof(*machine->data);
        return true;
    default:
        return false;
    }
}

static bool calculate(struct filter_machine *machine, const struct sock_filter *insn)
{
    uint32_t value = BPF_SRC(insn->code) == BPF_X ? machine->index : insn->k;
    uint32_t *result = &machine->accumulator;

    switch (BPF_OP(insn->code)) {
    case BPF_ADD:
        *result += value;
        return true;
    case BPF_SUB:
        *result -= value;
        return true;
    case BPF_MUL:
        *result *= value;
        return true;
    case BPF_DIV:
        *result = value == 0 ? 0 : *result / value;
        return value != 0;
    case BPF_OR:
        *result |= value;
        return true;
    case BPF_AND:
        *result &= value;
        return true;
    case BPF_XOR:
        *result ^= value;
        return true;
    case BPF_LSH:
        *result = value < 32 ? *result << value : 0;
        return true;
    case BPF_RSH:
        *result = value < 32 ? *result >> value : 0;
        return true;
    case BPF_NEG:
        *result = 0 - *result;
        return true;
    default:
        return false;
    }
}

/* How many instructions are passed over. */
static size_t jump(const struct filter_machine *machine, const struct sock_filter *insn)
{
    uint32_t value = BPF_SRC(insn->code) == BPF_X ? machine->index : insn->k;
    bool is_so;

    switch (BPF_OP(insn->code)) {
    case BPF_JA:
        return insn->k;
    case BPF_JEQ:
        is_so = machine->accumulator == value;
        break;
    case BPF_JGT:
        is_so = machine->accumulator > value;
        break;
    case BPF_JGE:
        is_so = machine->accumulator >= value;
        break;
    default:
        is_so = (machine->accumulator & value) != 0;
        break;
    }
    return is_so ? insn->jt : insn->jf;
}

/* All but jumps and returns. */
static bool step(struct filter_machine *machine, const struct sock_filter *insn)
{
    switch (BPF_CLASS(insn->code)) {
    case BPF_LD:
        return operand(machine, insn, &machine->accumulator);
    case BPF_LDX:
        return operand(machine, insn, &machine->index);
    case BPF_ST:
    case BPF_STX:
        if (insn->k >= BPF_MEMWORDS)
            return false;
        machine->memory[insn->k] = BPF_CLASS(insn->code) == BPF_ST ? machine->accumulator : machine->index;
        return true;
    case BPF_ALU:
        return calculate(machine, insn);
    case BPF_MISC:
        if (BPF_MISCOP(insn->code) == BPF_TAX)
            machine->index = machine->accumulator;
        else
            machine->accumulator = machine->index;
        return true;
    default:
        return false;
    }
}

uint32_t seccomp_program_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data)
{
    struct filter_machine machine = {.data = data};

    /* There are only jumps forwards, so it ends. */
    for (size_t at = 0; at < count; at++) {
        const struct sock_filter *insn = &program[at];

        if (BPF_CLASS(insn->code) == BPF_RET)
            return BPF_RVAL(insn->code) == BPF_A ? machine.accumulator : insn->k;
        if (BPF_CLASS(insn->code) == BPF_JMP) {
            size_t over = jump(&machine, insn);

            if (over >= count - at)
                break;
            at += over;
        } else if (!step(&machine, insn)) {
            break;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}
