/* SPDX-License-Identifier: MIT */
/*
 * What the arguments of a static probe are, as its note says: texts such as "-4@PLACE 8@PLACE", in the words of the
 * machine's assembler, become operands that can be evaluated from registers. Nothing in the text is trusted: what
 * is not understood is an argument of which nothing is known. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_PROBE_ARGUMENTS_H
#define GAIT_ELF_PROBE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_memory;
struct operand_text;

/* As many as a probe can have. */
#define PROBE_ARGUMENTS_MAX 12u

#define PROBE_NO_REGISTER   0xffu

enum probe_operand_kind {
    PROBE_OPERAND_UNKNOWN,  /* where it is is not known */
    PROBE_OPERAND_CONSTANT, /* it is `offset` */
    PROBE_OPERAND_REGISTER, /* it is in `base`, from bit `shift` on */
    PROBE_OPERAND_MEMORY,   /* it is at offset + base + (index << shift) */
    PROBE_OPERAND_SYMBOL,   /* the same, with the address of the symbol; in the file, if it is relative to the code */
};

struct probe_operand {
    uint8_t kind;       /* enum probe_operand_kind */
    uint8_t size_bytes; /* 1, 2, 4 or 8 */
    bool is_signed;
    bool is_real; /* it is a floating-point number */
    uint8_t base; /* a register, by the number that the machine's registers have */
    uint8_t index;
    uint8_t shift;
    bool is_relative; /* to where the file is loaded: `offset` is an address of the file */
    int64_t offset;
    const char *symbol; /* within the text; not ended */
    size_t symbol_length;
};

struct probe_arguments {
    uint32_t count;
    bool is_partial; /* there are more */
    struct probe_operand operands[PROBE_ARGUMENTS_MAX];
};

/* Reads an operand, the part behind "@", into one that is all zero but for its size. False: it is not understood. */
typedef bool (*probe_operand_reader)(struct operand_text text, struct probe_operand *operand);

/* Reads the text of a note. `read` is that of the file's machine (arch/abi.h); NULL: nothing is known of any operand.
 */
void probe_arguments_parse(const char *text, size_t length, probe_operand_reader read,
                           struct probe_arguments *arguments_out);

/* A symbol's address was found, as the file has it: its operands are places in memory from now on. */
void probe_operand_resolve(struct probe_operand *operand, uint64_t address);

/* The file is where its addresses are larger by `bias`. */
void probe_operand_move(struct probe_operand *operand, uint64_t bias);

/* A machine's general registers, by their numbers. */
struct probe_registers {
    const uint64_t *values;
    uint32_t count;
};

/* Where an operand in memory is. False: it is not there, or in relation to a register that is not. */
bool probe_operand_place(const struct probe_operand *operand, struct probe_registers registers, uint64_t *place_out);

/*
 * The argument's value, with its sign over all 64 bits; of a real one, its bits. False: it cannot be had. What is in
 * memory is read by `memory`.
 */
bool probe_operand_evaluate(const struct probe_operand *operand, struct probe_registers registers,
                            const struct elf_memory *memory, uint64_t *value_out);

#endif
