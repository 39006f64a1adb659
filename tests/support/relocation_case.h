/* SPDX-License-Identifier: MIT */
/*
 * Code for the relocation laboratory, written as text, and its trial by every way to relocate it: near and far, with
 * registers kept on the stack and in slots, with calls that return to the original and to the copy, each from several
 * random states, by its end and by each of its steps.
 *
 * The text holds bytes in hexadecimal and
 *     ;       the end of an instruction, also at | and at the end of the text
 *     @8      four bytes: the displacement, from the end of the instruction, to byte 0x8 of the data
 *     #8      eight bytes: the address of byte 0x8 of the data
 *     $8      eight bytes: the address of byte 0x8 of the code
 *     |       the end of the run: what follows stays where it is
 */
#ifndef GAIT_TESTS_RELOCATION_CASE_H
#define GAIT_TESTS_RELOCATION_CASE_H

#include "support/relocation_lab.h"

enum relocation_case_option {
    RELOCATION_SP_STRAYS = 1,    /* rsp leaves the stack, and nothing is kept there from then on */
    RELOCATION_RETURN_SHOWS = 2, /* the program looks at a return address: only calls that push the original one */
    RELOCATION_NEAR_ONLY = 4,    /* a far copy is refused */
    RELOCATION_REFUSED = 8,      /* every copy is */
    RELOCATION_ENDS_ONLY = 16,   /* a system call: the CPU leaves out a step after it */
};

struct relocation_case {
    const char *name; /* what the code is, for people */
    const char *code;
    unsigned options; /* of enum relocation_case_option */
};

#define RELOCATION_CASE_MAX_BYTES 256

struct relocation_code {
    uint8_t bytes[RELOCATION_CASE_MAX_BYTES];
    size_t size;
    size_t run_size;
};

/* Reads the text as code for the place where the laboratory has its original. False: it is no such text. */
bool relocation_code_read(const struct relocation_lab *lab, const char *text, struct relocation_code *code_out);

/* Tries the case in every way; prints what went wrong and returns how often something did. */
unsigned relocation_case_try(struct relocation_lab *lab, const struct relocation_case *tried);

/* The same for several; the number of failures. */
unsigned relocation_cases_try(struct relocation_lab *lab, const struct relocation_case *cases, size_t count);

/*
 * Makes the far or the near copy of a text, as the setup says, without running it: what relocation_run() returns, or
 * -EINVAL if it is no such text.
 */
int relocation_code_copy(struct relocation_lab *lab, const struct relocation_setup *setup, const char *text)
    __attribute__((warn_unused_result));

/* Decodes instruction number `which` of the last copy. False: there are not so many. */
bool relocation_copy_insn(const struct relocation_lab *lab, unsigned which, struct x86_insn *insn_out);

/* Decodes the first instruction of the last copy that has this name. False: none has. */
bool relocation_copy_find(const struct relocation_lab *lab, unsigned mnemonic, struct x86_insn *insn_out);

/* Calls back for each way to relocate: eight setups, without their initial state. */
void relocation_setup_for_each(void (*callback)(void *context, const struct relocation_setup *setup), void *context);

/* "far, spills on the stack, returns to the copy" */
const char *relocation_setup_name(const struct relocation_setup *setup, char *text, size_t text_bytes);

#endif
