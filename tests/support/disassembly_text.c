/* SPDX-License-Identifier: MIT */
/* Works for LLVM and GNU: both write numbers in hexadecimal and separate words by blanks and tabs. Stateless. */
#define _GNU_SOURCE
#include "support/disassembly_text.h"

#include "arch/x86_64/isa/insn.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

static bool is_prefix(const char *word)
{
    static const char *const prefixes[] = {"lock",   "rep",     "repz", "repnz",    "repne",    "data16", "data32",
                                           "addr32", "notrack", "bnd",  "xacquire", "xrelease", "es",     "cs",
                                           "ss",     "ds",      "fs",   "gs",       "rex64",    "repe",   NULL};

    return is_one_of(word, prefixes) || strncmp(word, "rex", 3) == 0 || strncmp(word, "{", 1) == 0;
}

static unsigned flow_of(const char *name, const char *operand, bool is_number)
{
    static const struct {
        const char *names[8];
        unsigned flow;
    } others[] = {
        {{"loop", "loope", "loopne", "jecxz", "jrcxz", "jcxz", NULL}, X86_FLOW_BRANCH_COUNT},
        {{"ret", "retw", NULL}, X86_FLOW_RETURN},
        {{"retf", "retfq", "lret", "iret", "iretd", "iretq", "iretw", NULL}, X86_FLOW_RETURN_FAR},
        {{"sysret", "sysretq", "sysexit", "sysexitq", "uiret", "retfw", "sysretl", NULL}, X86_FLOW_RETURN_FAR},
        {{"sysretd", "sysexitl", "rsm", NULL}, X86_FLOW_RETURN_FAR},
        {{"syscall", "sysenter", "int", NULL}, X86_FLOW_SYSTEM_CALL},
        {{"int3", "int1", "icebp", "ud0", "ud1", "ud2", NULL}, X86_FLOW_TRAP},
        {{"xbegin", NULL}, X86_FLOW_TRANSACTION},
    };
    /* GNU names the size of a far pointer, LLVM leaves it out. */
    bool is_far = strncmp(operand, "FWORD", 5) == 0 || strncmp(operand, "TBYTE", 5) == 0 ||
                  strncmp(operand, "DWORD", 5) == 0 ||
                  (strchr(operand, '[') != NULL && strcasestr(operand, " ptr ") == NULL);

    if (strcmp(name, "call") == 0 || strcmp(name, "callw") == 0)
        return is_far ? X86_FLOW_CALL_FAR : is_number ? X86_FLOW_CALL : X86_FLOW_CALL_INDIRECT;
    if (strcmp(name, "jmp") == 0 || strcmp(name, "jmpw") == 0)
        return is_far ? X86_FLOW_JUMP_FAR : is_number ? X86_FLOW_JUMP : X86_FLOW_JUMP_INDIRECT;
    if (strcmp(name, "lcall") == 0)
        return X86_FLOW_CALL_FAR;
    if (strcmp(name, "ljmp") == 0)
        return X86_FLOW_JUMP_FAR;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (is_one_of(name, others[i].names))
            return others[i].flow;
    }
    return name[0] == 'j' ? X86_FLOW_BRANCH : X86_FLOW_NEXT;
}

static bool has_target(unsigned flow)
{
    return flow == X86_FLOW_CALL || flow == X86_FLOW_JUMP || flow == X86_FLOW_BRANCH || flow == X86_FLOW_BRANCH_COUNT ||
           flow == X86_FLOW_TRANSACTION;
}

/* Finds [rip + 0x10], [rip-0x10], [eip]: the displacement, in either way of writing it. */
static void find_pc_relative(const char *operands, struct disassembly *out)
{
    const char *pc = strstr(operands, "[rip");

    if (pc == NULL)
        pc = strstr(operands, "[eip");
    if (pc == NULL)
        return;
    out->is_pc_relative = true;

    char number[32];
    size_t used = 0;

    for (pc += 4; *pc != 0 && *pc != ']' && used + 1 < sizeof(number); pc++) {
        if (*pc != ' ' && *pc != '+')
            number[used++] = *pc;
    }
    number[used] = 0;
    out->displacement = (int64_t)(int32_t)strtoull(number, NULL, 16);
    if (number[0] == '-')
        out->displacement = -(int64_t)strtoull(number + 1, NULL, 16);
}

/* Copies the next word and returns what follows it. */
static const char *take_word(const char *text, char *word_out, size_t size_bytes)
{
    text += strspn(text, " \t");

    size_t length = strcspn(text, " \t\n");

    snprintf(word_out, size_bytes, "%.*s", (int)length, text);
    text += length;
    return text + strspn(text, " \t");
}

bool disassembly_parse(const char *line, struct disassembly *disassembly_out)
{
    struct disassembly out = {0};
    char word[32];

    for (;;) {
        line = take_word(line, word, sizeof(word));
        if (!is_prefix(word))
            break;
        strncat(out.prefixes, word, sizeof(out.prefixes) - strlen(out.prefixes) - 2);
        strcat(out.prefixes, " ");
    }
    strcpy(out.mnemonic, word);
    if (out.mnemonic[0] == 0 && out.prefixes[0] == 0)
        return false;
    /* A branch hint is written as a part of the name. */
    out.mnemonic[strcspn(out.mnemonic, ",")] = 0;

    const char *digits = line[0] == '-' ? line + 1 : line;
    bool is_number =
        strspn(digits, "0123456789abcdefx") > 0 && strspn(digits, "0123456789abcdefx") == strcspn(digits, " ,\t\n");

    out.flow = flow_of(out.mnemonic, line, is_number);
    out.has_target = has_target(out.flow);
    if (out.has_target) {
        out.target = strtoull(digits, NULL, 16);
        if (digits != line)
            out.target = -out.target;
    }
    find_pc_relative(line, &out);
    *disassembly_out = out;
    return true;
}
