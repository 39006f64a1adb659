/* SPDX-License-Identifier: MIT */
/*
 * Corrections to libZydis' description, each with its reason. The comparison test knows the same list by its effect:
 * tests/data/x86_decoder_differences says for each which instructions may differ, and how.
 */
#include "corrections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const struct form *form, const char *name)
{
    return strcmp(form->mnemonic, name) == 0;
}

/* Adds an access to the first operand that is the given fixed general register. */
static void add_access(struct form *form, enum x86_gpr gpr, uint8_t access)
{
    for (int i = 0; i < form->operand_count; i++) {
        struct form_operand *operand = &form->operands[i];
        uint8_t reg = operand->type.register_class[1];

        if (operand->form.kind == X86_OPERAND_REGISTER && operand->form.source == X86_SOURCE_FIXED &&
            operand->form.fixed == gpr && reg >= X86_REGISTER_GPR8 && reg <= X86_REGISTER_GPR64) {
            operand->form.access |= access;
            return;
        }
    }
}

/* Adds a hidden operand and returns it. */
static struct form_operand *add_operand(struct form *form, enum x86_operand_kind kind, enum x86_gpr gpr, uint8_t access)
{
    struct form_operand *operand;

    if (form->operand_count == FORM_MAX_OPERANDS) {
        fprintf(stderr, "x86_tables: too many operands\n");
        exit(1);
    }
    operand = &form->operands[form->operand_count++];
    operand->form.kind = (uint8_t)kind;
    operand->form.source = X86_SOURCE_FIXED;
    operand->form.access = access;
    operand->form.visibility = X86_HIDDEN;
    operand->form.fixed = (uint8_t)gpr;
    return operand;
}

static void add_register(struct form *form, enum x86_gpr gpr, uint8_t access)
{
    struct form_operand *operand = add_operand(form, X86_OPERAND_REGISTER, gpr, access);

    for (int size = 0; size < 3; size++) {
        operand->type.register_class[size] = X86_REGISTER_GPR64;
        operand->type.size_bits[size] = 64;
    }
}

/* A memory operand of the default segment, which a prefix can change. */
static void add_memory(struct form *form, enum x86_gpr base, uint8_t access, uint16_t size_bits)
{
    struct form_operand *operand = add_operand(form, X86_OPERAND_MEMORY, base, access);

    operand->form.memory_kind = X86_MEMORY_ACCESS;
    operand->form.is_overridable = 1;
    for (int size = 0; size < 3; size++)
        operand->type.size_bits[size] = size_bits;
    form->properties |= X86_FORM_SEGMENT_OVERRIDE;
}

static bool has_memory_at(const struct form *form, enum x86_gpr base)
{
    for (int i = 0; i < form->operand_count; i++) {
        const struct x86_operand_form *operand = &form->operands[i].form;

        if (operand->kind == X86_OPERAND_MEMORY && operand->source == X86_SOURCE_FIXED && operand->fixed == base)
            return true;
    }
    return false;
}

/* cmps and scas step their pointers like the other string instructions, perhaps not at all under a repeat prefix. */
static void correct_string_comparison(struct form *form)
{
    uint8_t access = X86_READ | X86_WRITE;

    if (strncmp(form->mnemonic, "cmps", 4) != 0 && strncmp(form->mnemonic, "scas", 4) != 0)
        return;
    if (!has_memory_at(form, X86_RDI))
        return; /* cmpss and cmpsd of sse */
    for (int i = 0; i < form->operand_count; i++)
        if (form->operands[i].form.kind == X86_OPERAND_MEMORY && form->operands[i].form.access & X86_MAY_READ)
            access = X86_READ | X86_MAY_WRITE;
    if (has_memory_at(form, X86_RSI))
        add_register(form, X86_RSI, access);
    add_register(form, X86_RDI, access);
}

static void correct_flags(struct form *form)
{
    /* All status flags that do not tell the result become 0, as ptest's do. */
    if (is_named(form, "vptest") || is_named(form, "vtestps") || is_named(form, "vtestpd"))
        form->flags.written |= X86_FLAGS_STATUS;
    /* The 16-bit form leaves the upper half of the flags alone. */
    if (is_named(form, "popf"))
        form->flags.written &= 0xffff;
}

static void correct_memory(struct form *form)
{
    /* rax is an address: a cache line is cleared there. */
    if (is_named(form, "clzero"))
        add_memory(form, X86_RAX, X86_WRITE, 512);
    /* By AMD's manual its address is checked as that of a load is, and faults as one. */
    if (is_named(form, "monitorx"))
        add_memory(form, X86_RAX, X86_READ, 8);
    /* A nesting level above 1 copies frame pointers from where rbp points. */
    if (is_named(form, "enter"))
        form->properties |= X86_MEMORY_READ;
}

static void correct_privilege(struct form *form)
{
    static const char *const privileged[] = {"lgdt", "lidt", "vmrun",  "vmload", "vmsave",
                                             "stgi", "clgi", "skinit", "invlpga"};

    for (size_t i = 0; i < sizeof(privileged) / sizeof(privileged[0]); i++)
        if (is_named(form, privileged[i]))
            form->properties |= X86_PRIVILEGED;
    /* Not privileged by name, since the I/O privilege level decides. */
    if (is_named(form, "cli") || is_named(form, "sti"))
        form->properties |= X86_MAY_FAULT;
}

/* Lightweight profiling reads the register that libZydis takes for a destination, and writes records into memory. */
static void correct_profiling(struct form *form)
{
    if (!is_named(form, "llwpcb") && !is_named(form, "lwpins") && !is_named(form, "lwpval"))
        return;
    form->operands[0].form.access = X86_READ;
    form->properties |= X86_MEMORY_READ | X86_MEMORY_WRITE;
}

/* VIA's manuals do not say which of the registers that they use come out unchanged. */
static void correct_padlock(struct form *form)
{
    bool is_hash = is_named(form, "xsha1") || is_named(form, "xsha256");

    if (is_hash) {
        add_register(form, X86_RCX, X86_READ | X86_MAY_WRITE);
        add_register(form, X86_RDI, X86_READ | X86_MAY_WRITE);
    }
    if (is_named(form, "montmul"))
        form->properties |= X86_MEMORY_WRITE;
}

/* What calls a hypervisor or an enclave: they use these registers for arguments and results, as they like. */
static void correct_calls(struct form *form)
{
    static const enum x86_gpr hypercall_registers[] = {X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI};

    if (is_named(form, "vmcall") || is_named(form, "vmmcall"))
        for (size_t i = 0; i < sizeof(hypercall_registers) / sizeof(hypercall_registers[0]); i++)
            add_register(form, hypercall_registers[i], X86_READ | X86_MAY_WRITE);
    if (is_named(form, "vmfunc"))
        add_register(form, X86_RCX, X86_READ);
    if (is_named(form, "enclu")) {
        add_access(form, X86_RAX, X86_MAY_WRITE);
        form->is_conditional = true;
        form->flags.written |= X86_FLAGS_STATUS;
        form->properties |= X86_FORM_FLAGS_MAY_STAY | X86_MEMORY_READ | X86_MEMORY_WRITE;
    }
}

/* By the manuals alone: the CPUs that have these were not at hand. */
static void correct_unproven(struct form *form)
{
    correct_profiling(form);
    correct_padlock(form);
    correct_calls(form);
    /* The command goes to where the register points. */
    if (is_named(form, "enqcmd") || is_named(form, "enqcmds"))
        form->properties |= X86_MEMORY_WRITE;
    /* Its address is checked as that of a load is. */
    if (is_named(form, "umonitor") || is_named(form, "monitor"))
        form->properties |= X86_MEMORY_READ;
    /* A fault outside of a transaction. */
    if (is_named(form, "xend"))
        form->properties |= X86_MAY_FAULT;
    /* The status flags that tell nothing become 0. */
    if (is_named(form, "testui") || is_named(form, "mcommit"))
        form->flags.written |= X86_FLAGS_STATUS;
    if (is_named(form, "mcommit"))
        form->properties |= X86_FORM_FLAGS_MAY_STAY;
}

static void correct_writes(struct form *form)
{
    /* al is the index into the table before it is the result. */
    if (is_named(form, "xlat"))
        add_access(form, X86_RAX, X86_READ);
    /* A source of zero leaves the destination alone; a selector that may not be seen does too. */
    if (is_named(form, "bsf") || is_named(form, "bsr") || is_named(form, "lar") || is_named(form, "lsl"))
        form->is_conditional = true;
    /* No operation where shadow stacks are off. */
    if (is_named(form, "rdsspd") || is_named(form, "rdsspq"))
        form->is_conditional = true;
    /* Where user code may not see system registers, Linux answers instead and leaves the upper half alone. */
    if (is_named(form, "sldt") || is_named(form, "str") || is_named(form, "smsw"))
        form->is_conditional = true;
}

void corrections_apply(struct form *form)
{
    correct_string_comparison(form);
    correct_flags(form);
    correct_memory(form);
    correct_privilege(form);
    correct_writes(form);
    correct_unproven(form);
}
