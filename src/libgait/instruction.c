/* SPDX-License-Identifier: MIT */
/*
 * The public face of the decoder and the formatter. The enums of the public header and of arch.h are the same, value by
 * value: the assertions below keep them so. Stateless.
 */
#include "gait/instruction.h"

#include "arch/arch.h"
#include "arch/cpu.h"
#include "arch/host_cpu.h"
#include "base/text_format.h"
#include "hosted/error_text.h"
#include "libgait/export.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define SAME(public_name, internal_name) _Static_assert((int)(public_name) == (int)(internal_name), "the enums differ")
SAME(GAIT_FLOW_NEXT, ARCH_FLOW_NEXT);
SAME(GAIT_FLOW_JUMP, ARCH_FLOW_JUMP);
SAME(GAIT_FLOW_JUMP_INDIRECT, ARCH_FLOW_JUMP_INDIRECT);
SAME(GAIT_FLOW_BRANCH, ARCH_FLOW_BRANCH);
SAME(GAIT_FLOW_CALL, ARCH_FLOW_CALL);
SAME(GAIT_FLOW_CALL_INDIRECT, ARCH_FLOW_CALL_INDIRECT);
SAME(GAIT_FLOW_RETURN, ARCH_FLOW_RETURN);
SAME(GAIT_FLOW_SYSTEM_CALL, ARCH_FLOW_SYSTEM_CALL);
SAME(GAIT_FLOW_TRAP, ARCH_FLOW_TRAP);
SAME(GAIT_FLOW_OTHER, ARCH_FLOW_OTHER);
SAME(GAIT_READS_MEMORY, ARCH_READS_MEMORY);
SAME(GAIT_WRITES_MEMORY, ARCH_WRITES_MEMORY);
SAME(GAIT_PC_RELATIVE, ARCH_PC_RELATIVE);
SAME(GAIT_ATOMIC, ARCH_ATOMIC);
SAME(GAIT_REPEATED, ARCH_REPEATED);
SAME(GAIT_PRIVILEGED, ARCH_PRIVILEGED);
SAME(GAIT_THREAD_LOCAL, ARCH_THREAD_LOCAL);
SAME(GAIT_INSTRUCTION_BYTES_MAX, ARCH_INSN_BYTES_MAX);

/* The struct as it first was: a caller cannot have less. */
#define FIRST_SIZE sizeof(struct gait_instruction)

static int fail(int result, size_t available, uint64_t address, struct gait_error *err)
{
    if (result == -ENODATA)
        return error_set(err, result,
                         "cannot decode the instruction at 0x%llx: it goes on behind the %zu bytes given; "
                         "give more bytes",
                         (unsigned long long)address, available);
    return error_set(err, result,
                     "cannot decode the instruction at 0x%llx: no CPU would execute these bytes; "
                     "check that the address is where an instruction begins",
                     (unsigned long long)address);
}

static const struct arch *find_host(struct gait_error *err)
{
    const struct arch *arch = arch_host();

    if (arch == NULL)
        error_set(err, ENOTSUP,
                  "cannot read machine code of this CPU: gait does not know the instructions of %s yet; "
                  "use a machine of another kind",
                  cpu_host()->name);
    return arch;
}

EXPORT int gait_instruction_decode(const void *bytes, size_t available, uint64_t address,
                                   struct gait_instruction *instruction_out, struct gait_error *err)
{
    struct arch_insn insn;
    const struct arch *arch;
    int result;

    if (instruction_out == NULL || instruction_out->size_bytes < FIRST_SIZE)
        return error_set(err, EINVAL,
                         "cannot decode an instruction: size_bytes of the result is not set; "
                         "set it to sizeof(struct gait_instruction)");
    if (bytes == NULL)
        return error_set(err, EINVAL, "cannot decode an instruction: there are no bytes; give where they are");
    arch = find_host(err);
    if (arch == NULL)
        return -ENOTSUP;
    result = arch->decode(bytes, available, app_pc_of(address), host_cpu_decode_options(), &insn);
    if (result != 0)
        return fail(result, available, address, err);
    instruction_out->address = address;
    instruction_out->target = insn.target;
    instruction_out->memory_address = insn.memory_address;
    instruction_out->registers_read = insn.registers_read;
    instruction_out->registers_written = insn.registers_written;
    instruction_out->flags_read = insn.flags_read;
    instruction_out->flags_written = insn.flags_written;
    instruction_out->flags_undefined = insn.flags_undefined;
    instruction_out->mnemonic = insn.mnemonic;
    instruction_out->properties = insn.properties;
    instruction_out->flow = insn.flow;
    instruction_out->length = insn.length;
    memset(instruction_out->bytes, 0, sizeof(instruction_out->bytes));
    memcpy(instruction_out->bytes, bytes, insn.length);
    return 0;
}

EXPORT int gait_instruction_format(const struct gait_instruction *instruction, char *text_out, size_t text_size,
                                   struct gait_error *err)
{
    struct text_writer text;
    const struct arch *arch;
    int result;

    if (text_out == NULL || text_size == 0)
        return error_set(err, EINVAL,
                         "cannot write an instruction's text: there is no room; "
                         "give GAIT_INSTRUCTION_TEXT_BYTES bytes");
    if (instruction == NULL || instruction->size_bytes < FIRST_SIZE || instruction->length == 0 ||
        instruction->length > sizeof(instruction->bytes))
        return error_set(err, EINVAL,
                         "cannot write an instruction's text: it was not decoded; "
                         "call gait_instruction_decode() first");
    arch = find_host(err);
    if (arch == NULL)
        return -ENOTSUP;
    text_init(&text, text_out, text_size);
    result = arch->format(instruction->bytes, instruction->length, app_pc_of(instruction->address),
                          host_cpu_decode_options(), &text);
    if (result != 0)
        return fail(result, instruction->length, instruction->address, err);
    if (text_truncated(&text))
        return error_set(err, ERANGE,
                         "cannot write all of an instruction's text: %zu bytes are too few; "
                         "give GAIT_INSTRUCTION_TEXT_BYTES bytes",
                         text_size);
    return 0;
}

EXPORT const char *gait_register_name(unsigned number)
{
    const struct arch *arch = arch_host();

    return arch == NULL || number >= arch->register_count ? NULL : arch->register_name(number);
}
