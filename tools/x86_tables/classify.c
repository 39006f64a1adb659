/* SPDX-License-Identifier: MIT */
/*
 * Sorting by name where names decide, by libZydis' categories where whole families do. What can fault is decided from
 * the safe side: an instruction may fault unless it belongs to a family that only computes in registers.
 */
#include "classify.h"

#include <stdarg.h>
#include <string.h>

/* Whether name is one of the given names; the list ends with NULL. */
static bool is_one_of(const char *name, ...)
{
    va_list names;
    const char *candidate;
    bool found = false;

    va_start(names, name);
    while (!found && (candidate = va_arg(names, const char *)) != NULL)
        found = strcmp(name, candidate) == 0;
    va_end(names);
    return found;
}

static enum x86_flow flow_of_branch(const ZydisDecodedInstruction *insn, const char *name)
{
    bool is_far = insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    bool is_direct = insn->raw.imm[0].is_relative;

    if (strcmp(name, "call") == 0)
        return is_far ? X86_FLOW_CALL_FAR : is_direct ? X86_FLOW_CALL : X86_FLOW_CALL_INDIRECT;
    if (strcmp(name, "jmp") == 0)
        return is_far ? X86_FLOW_JUMP_FAR : is_direct ? X86_FLOW_JUMP : X86_FLOW_JUMP_INDIRECT;
    if (strcmp(name, "ret") == 0)
        return is_far ? X86_FLOW_RETURN_FAR : X86_FLOW_RETURN;
    if (is_one_of(name, "loop", "loope", "loopne", "jecxz", "jrcxz", "jcxz", NULL))
        return X86_FLOW_BRANCH_COUNT;
    if (strcmp(name, "xbegin") == 0)
        return X86_FLOW_TRANSACTION;
    if (strcmp(name, "xend") == 0 || strcmp(name, "xabort") == 0)
        return X86_FLOW_NEXT;
    return insn->meta.category == ZYDIS_CATEGORY_COND_BR ? X86_FLOW_BRANCH : X86_FLOW_NEXT;
}

static enum x86_flow flow_of(const ZydisDecodedInstruction *insn, const char *name)
{
    if (is_one_of(name, "iret", "iretd", "iretq", "sysret", "sysexit", "uiret", "rsm", NULL))
        return X86_FLOW_RETURN_FAR;
    if (is_one_of(name, "syscall", "sysenter", "int", NULL))
        return X86_FLOW_SYSTEM_CALL;
    if (is_one_of(name, "int1", "int3", "ud0", "ud1", "ud2", NULL))
        return X86_FLOW_TRAP;
    return flow_of_branch(insn, name);
}

static enum x86_insn_class class_of_vector(ZydisISAExt extension)
{
    switch (extension) {
    case ZYDIS_ISA_EXT_X87:
        return X86_CLASS_X87;
    case ZYDIS_ISA_EXT_MMX:
        return X86_CLASS_MMX;
    case ZYDIS_ISA_EXT_AMD3DNOW:
        return X86_CLASS_3DNOW;
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_PCLMULQDQ:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_GFNI:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_SSE4A:
    case ZYDIS_ISA_EXT_SSSE3:
        return X86_CLASS_SSE;
    case ZYDIS_ISA_EXT_AMX_BF16:
    case ZYDIS_ISA_EXT_AMX_INT8:
    case ZYDIS_ISA_EXT_AMX_TILE:
        return X86_CLASS_AMX;
    case ZYDIS_ISA_EXT_XOP:
    case ZYDIS_ISA_EXT_FMA4:
        return X86_CLASS_XOP;
    default:
        return X86_CLASS_GENERAL;
    }
}

static enum x86_insn_class class_of(const ZydisDecodedInstruction *insn, const struct form *form)
{
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_STRINGOP:
        return X86_CLASS_STRING;
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_SEGOP:
        return X86_CLASS_SYSTEM;
    default:
        break;
    }
    if (insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
        return X86_CLASS_SYSTEM;
    if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX || insn->meta.isa_ext == ZYDIS_ISA_EXT_AVX512VEX)
        return X86_CLASS_AVX512;
    if (class_of_vector(insn->meta.isa_ext) != X86_CLASS_GENERAL)
        return class_of_vector(insn->meta.isa_ext);
    for (int i = 0; i < form->operand_count; i++) {
        uint8_t reg = form->operands[i].type.register_class[1];

        if (reg == X86_REGISTER_XMM || reg == X86_REGISTER_YMM)
            return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? X86_CLASS_SSE : X86_CLASS_AVX;
    }
    return X86_CLASS_GENERAL;
}

/* Families that compute in registers and raise nothing. */
static bool is_quiet_category(ZydisInstructionCategory category)
{
    switch (category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_TBM:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_WIDENOP:
        return true;
    default:
        return false;
    }
}

/* Vector instructions whose exception class knows no floating-point exceptions. */
static bool is_quiet_exception_class(ZydisExceptionClass exceptions)
{
    switch (exceptions) {
    case ZYDIS_EXCEPTION_CLASS_SSE4:
    case ZYDIS_EXCEPTION_CLASS_SSE5:
    case ZYDIS_EXCEPTION_CLASS_SSE7:
    case ZYDIS_EXCEPTION_CLASS_AVX4:
    case ZYDIS_EXCEPTION_CLASS_AVX5:
    case ZYDIS_EXCEPTION_CLASS_AVX6:
    case ZYDIS_EXCEPTION_CLASS_AVX7:
    case ZYDIS_EXCEPTION_CLASS_E4:
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6:
    case ZYDIS_EXCEPTION_CLASS_E6NF:
    case ZYDIS_EXCEPTION_CLASS_E7NM:
    case ZYDIS_EXCEPTION_CLASS_E7NM128:
    case ZYDIS_EXCEPTION_CLASS_E9NF:
    case ZYDIS_EXCEPTION_CLASS_K20:
        return true;
    default:
        return false;
    }
}

/* A pending x87 exception is raised by whoever touches an MMX register next. */
static bool uses_mmx_register(const struct form *form)
{
    for (int i = 0; i < form->operand_count; i++)
        if (form->operands[i].form.kind == X86_OPERAND_REGISTER &&
            form->operands[i].type.register_class[1] == X86_REGISTER_MMX)
            return true;
    return false;
}

static bool may_fault(const ZydisDecodedInstruction *insn, const struct form *form)
{
    if (form->properties & (X86_MEMORY_READ | X86_MEMORY_WRITE | X86_PRIVILEGED | X86_SEGMENT_CHANGE))
        return true;
    if (is_one_of(form->mnemonic, "div", "idiv", "popf", "popfd", "popfq", NULL))
        return true;
    switch (form->flow) {
    case X86_FLOW_NEXT:
        break;
    case X86_FLOW_JUMP:
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
        return false;
    default:
        return true;
    }
    if (form->insn_class == X86_CLASS_MMX || form->insn_class == X86_CLASS_X87 || form->insn_class == X86_CLASS_3DNOW ||
        uses_mmx_register(form))
        return true;
    if (is_one_of(form->mnemonic, "lea", "pause", "cpuid", "rdtsc", "rdtscp", "lfence", "mfence", "sfence", "rdrand",
                  "rdseed", "rdpid", "endbr64", "endbr32", "cwd", "cdq", "cqo", "cbw", "cwde", "cdqe", NULL))
        return false;
    return !is_quiet_category(insn->meta.category) && !is_quiet_exception_class(insn->meta.exception_class);
}

uint32_t classify_operands(const struct form *form)
{
    uint32_t properties = 0;

    for (int i = 0; i < form->operand_count; i++) {
        const struct x86_operand_form *operand = &form->operands[i].form;
        uint8_t reg = form->operands[i].type.register_class[1];

        if (operand->kind == X86_OPERAND_MEMORY && operand->memory_kind == X86_MEMORY_VECTOR)
            properties |= X86_MEMORY_SCATTERED | X86_FORM_VECTOR_INDEX;
        if (operand->kind == X86_OPERAND_MEMORY && operand->memory_kind != X86_MEMORY_ADDRESS) {
            if (operand->access & (X86_READ | X86_MAY_READ))
                properties |= X86_MEMORY_READ;
            if (operand->access & (X86_WRITE | X86_MAY_WRITE))
                properties |= X86_MEMORY_WRITE;
        }
        if (operand->kind == X86_OPERAND_REGISTER && reg == X86_REGISTER_SEGMENT) {
            if (operand->access & (X86_READ | X86_MAY_READ))
                properties |= X86_SEGMENT_STORE;
            if (operand->access & (X86_WRITE | X86_MAY_WRITE))
                properties |= X86_SEGMENT_CHANGE;
        }
    }
    return properties;
}

static bool is_shift_by_count(const char *name)
{
    return is_one_of(name, "shl", "shr", "sar", "rol", "ror", "rcl", "rcr", "shld", "shrd", NULL);
}

static uint32_t properties_of_count(const struct form *form)
{
    if (!is_shift_by_count(form->mnemonic))
        return 0;
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];

        if (operand->form.kind == X86_OPERAND_IMMEDIATE && operand->form.source == X86_SOURCE_IMMEDIATE)
            return X86_FORM_COUNT_IN_IMMEDIATE;
        if (operand->form.kind == X86_OPERAND_REGISTER && operand->form.source == X86_SOURCE_FIXED &&
            operand->type.register_class[1] == X86_REGISTER_GPR8)
            return X86_FORM_FLAGS_MAY_STAY;
    }
    return 0;
}

static uint32_t properties_by_name(const char *name)
{
    uint32_t properties = 0;

    if (is_one_of(name, "rdtsc", "rdtscp", "rdpmc", "rdrand", "rdseed", "rdpid", "rdpru", "cpuid", "tpause", "umwait",
                  NULL))
        properties |= X86_UNPREDICTABLE;
    if (is_one_of(name, "fnstenv", "fnsave", "fxsave", "fxsave64", "xsave", "xsave64", "xsavec", "xsavec64", "xsaveopt",
                  "xsaveopt64", "xsaves", "xsaves64", NULL))
        properties |= X86_STORES_FPU_PC;
    if (is_one_of(name, "wrfsbase", "wrgsbase", "swapgs", "lkgs", NULL))
        properties |= X86_SEGMENT_CHANGE;
    if (is_one_of(name, "rdfsbase", "rdgsbase", NULL))
        properties |= X86_SEGMENT_STORE;
    if (is_one_of(name, "tileloadd", "tileloaddt1", "tilestored", NULL))
        properties |= X86_MEMORY_SCATTERED;
    return properties;
}

/* Prefetches and multi-byte nops have a memory operand and do not touch it. */
static bool only_names_memory(const ZydisDecodedInstruction *insn)
{
    return insn->meta.category == ZYDIS_CATEGORY_PREFETCH || insn->meta.category == ZYDIS_CATEGORY_NOP ||
           insn->meta.category == ZYDIS_CATEGORY_WIDENOP || insn->meta.category == ZYDIS_CATEGORY_PREFETCHWT1 ||
           insn->meta.category == ZYDIS_CATEGORY_CLDEMOTE;
}

void classify_form(const ZydisDecodedInstruction *insn, struct form *form)
{
    form->flow = (uint8_t)flow_of(insn, form->mnemonic);
    form->insn_class = (uint8_t)class_of(insn, form);
    if (only_names_memory(insn))
        for (int i = 0; i < form->operand_count; i++)
            if (form->operands[i].form.kind == X86_OPERAND_MEMORY)
                form->operands[i].form.memory_kind = X86_MEMORY_ADDRESS;
    form->properties |= classify_operands(form);
    if (form->flow == X86_FLOW_SYSTEM_CALL || form->flow == X86_FLOW_TRAP)
        form->properties &= ~(uint32_t)(X86_SEGMENT_CHANGE | X86_SEGMENT_STORE);
    if (insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
        form->properties |= X86_PRIVILEGED;
    if (insn->meta.category == ZYDIS_CATEGORY_STRINGOP || insn->meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
        form->properties |= X86_FORM_STRING;
    form->properties |= properties_by_name(form->mnemonic) | properties_of_count(form);
    switch (form->flow) {
    case X86_FLOW_JUMP:
    case X86_FLOW_JUMP_INDIRECT:
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
    case X86_FLOW_CALL:
    case X86_FLOW_CALL_INDIRECT:
    case X86_FLOW_RETURN:
        form->properties |= X86_FORM_NEAR_BRANCH;
        break;
    default:
        break;
    }
    if (may_fault(insn, form))
        form->properties |= X86_MAY_FAULT;
}
