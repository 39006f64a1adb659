/* SPDX-License-Identifier: MIT */
/*
 * Programs of the classic packet filter, as the macros of its header write them: BPF_STMT(code, k) and
 * BPF_JUMP(code, k, jt, jf). Filters of sockets and of system calls (seccomp) are both such programs. Stateless.
 */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"

#include <linux/filter.h>

#define INSTRUCTIONS_MAX 4096
/* A filter of system calls says what is to become of a call in the upper half. */
#define ACTION_MASK 0xffff0000u
#define DATA_MASK   0xffffu
/* Places that are below this are counted from the end of all addresses. */
#define NEGATIVE_PLACES 0xffe00000u

static const char *name_of(const char *const *names, unsigned count, unsigned which)
{
    return which < count ? names[which] : NULL;
}

static void put_rest(const struct call_text *text, unsigned rest, const char *what)
{
    if (rest != 0)
        text_format(text->out, "|%#x /* %s */", rest, what);
}

static void put_size_and_mode(const struct call_text *text, unsigned code)
{
    static const char *const sizes[] = {"BPF_W", "BPF_H", "BPF_B", NULL};
    static const char *const modes[] = {"BPF_IMM", "BPF_ABS", "BPF_IND", "BPF_MEM", "BPF_LEN", "BPF_MSH"};
    const char *size = sizes[BPF_SIZE(code) >> 3], *mode = name_of(modes, 6, BPF_MODE(code) >> 5);

    text_put_char(text->out, '|');
    if (size != NULL)
        text_put_string(text->out, size);
    else
        text_format(text->out, "%#x /* BPF_??? */", (unsigned)BPF_SIZE(code));
    text_put_char(text->out, '|');
    if (mode != NULL)
        text_put_string(text->out, mode);
    else
        text_format(text->out, "%#x /* BPF_??? */", (unsigned)BPF_MODE(code));
}

static void put_operation(const struct call_text *text, unsigned code, bool is_jump)
{
    static const char *const calculations[] = {"BPF_ADD", "BPF_SUB", "BPF_MUL", "BPF_DIV", "BPF_OR", "BPF_AND",
                                               "BPF_LSH", "BPF_RSH", "BPF_NEG", "BPF_MOD", "BPF_XOR"};
    static const char *const jumps[] = {"BPF_JA", "BPF_JEQ", "BPF_JGT", "BPF_JGE", "BPF_JSET"};
    const char *name = is_jump ? name_of(jumps, 5, BPF_OP(code) >> 4) : name_of(calculations, 11, BPF_OP(code) >> 4);

    text_format(text->out, "|%s|", BPF_SRC(code) == BPF_X ? "BPF_X" : "BPF_K");
    if (name != NULL)
        text_put_string(text->out, name);
    else
        text_format(text->out, "%#x /* BPF_??? */", (unsigned)BPF_OP(code));
}

static void put_return(const struct call_text *text, unsigned code)
{
    static const char *const values[] = {"BPF_K", "BPF_X", "BPF_A", NULL};
    const char *value = values[(code & 0x18) >> 3];

    text_put_char(text->out, '|');
    if (value != NULL)
        text_put_string(text->out, value);
    else
        text_format(text->out, "%#x /* BPF_??? */", code & 0x18);
    put_rest(text, code & 0xe0, "BPF_???");
}

static void put_miscellaneous(const struct call_text *text, unsigned code)
{
    unsigned operation = code & 0xf8;

    text_put_char(text->out, '|');
    if (operation == BPF_TAX || operation == BPF_TXA)
        text_put_string(text->out, operation == BPF_TAX ? "BPF_TAX" : "BPF_TXA");
    else
        text_format(text->out, "%#x /* BPF_??? */", operation);
}

static void put_code(const struct call_text *text, unsigned code)
{
    static const char *const classes[] = {"BPF_LD",  "BPF_LDX", "BPF_ST",  "BPF_STX",
                                          "BPF_ALU", "BPF_JMP", "BPF_RET", "BPF_MISC"};
    unsigned kind = BPF_CLASS(code), more = code & 0xff00;

    if (more != 0)
        text_format(text->out, "%#x|", more);
    text_put_string(text->out, classes[kind]);
    code &= 0xff;
    switch (kind) {
    case BPF_LD:
    case BPF_LDX:
        put_size_and_mode(text, code);
        break;
    case BPF_ST:
    case BPF_STX:
        put_rest(text, code & 0xf8, "BPF_???");
        break;
    case BPF_ALU:
    case BPF_JMP:
        put_operation(text, code, kind == BPF_JMP);
        break;
    case BPF_RET:
        put_return(text, code);
        break;
    default:
        put_miscellaneous(text, code);
        break;
    }
}

/* What a filter of sockets loads from besides the packet. */
static bool put_place(const struct call_text *text, const struct sock_filter *instruction)
{
    uint32_t place = instruction->k;
    unsigned code = instruction->code;

    if (place < NEGATIVE_PLACES || BPF_CLASS(code) != BPF_LD ||
        (BPF_MODE(code) != BPF_ABS && BPF_MODE(code) != BPF_IND))
        return false;
    if (place >= (uint32_t)SKF_AD_OFF) {
        uint32_t within = place - (uint32_t)SKF_AD_OFF;

        text_put_string(text->out, "SKF_AD_OFF+");
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_filter_data, within);
    } else if (place >= (uint32_t)SKF_NET_OFF) {
        text_format(text->out, "SKF_NET_OFF+%u", place - (uint32_t)SKF_NET_OFF);
    } else if (place >= (uint32_t)SKF_LL_OFF) {
        text_format(text->out, "SKF_LL_OFF+%u", place - (uint32_t)SKF_LL_OFF);
    } else {
        return false;
    }
    return true;
}

static void put_action(const struct call_text *text, uint32_t value)
{
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_seccomp_action, value & ACTION_MASK);
    if ((value & DATA_MASK) != 0)
        text_format(text->out, "|%#x", value & DATA_MASK);
}

static void put_instruction(const struct call_text *text, const struct sock_filter *instruction, bool is_of_calls)
{
    bool jumps = instruction->jt != 0 || instruction->jf != 0;

    text_put_string(text->out, jumps ? "BPF_JUMP(" : "BPF_STMT(");
    put_code(text, instruction->code);
    text_put_string(text->out, ", ");
    if (is_of_calls && BPF_CLASS(instruction->code) == BPF_RET && (instruction->code & 0x18) == BPF_K)
        put_action(text, instruction->k);
    else if (is_of_calls || !put_place(text, instruction))
        call_text_put_hex(text, instruction->k);
    if (jumps) {
        text_put_string(text->out, ", ");
        call_text_put_hex(text, instruction->jt);
        text_put_string(text->out, ", ");
        call_text_put_hex(text, instruction->jf);
    }
    text_put_char(text->out, ')');
}

static void put_for_sockets(const struct call_text *text, const void *instruction)
{
    put_instruction(text, instruction, false);
}

static void put_for_calls(const struct call_text *text, const void *instruction)
{
    put_instruction(text, instruction, true);
}

void filter_text_put(const struct call_text *text, uint64_t address, bool is_of_calls)
{
    struct sock_fprog program;

    if (!call_text_read(text, address, &program, sizeof(program))) {
        call_text_put_address(text, address);
        return;
    }
    text_format(text->out, "{len=%u, filter=", program.len);
    if (text->options->is_verbose && program.len <= INSTRUCTIONS_MAX) {
        const struct call_text_array array = {(uintptr_t)program.filter, program.len, sizeof(struct sock_filter),
                                              is_of_calls ? put_for_calls : put_for_sockets};

        call_text_put_array(text, &array);
    } else {
        call_text_put_address(text, (uintptr_t)program.filter);
    }
    text_put_char(text->out, '}');
}
