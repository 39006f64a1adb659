/* SPDX-License-Identifier: MIT */
/* Understands as much of a disassembler's line in Intel's syntax as it takes to compare control flow. */
#ifndef GAIT_TESTS_DISASSEMBLY_TEXT_H
#define GAIT_TESTS_DISASSEMBLY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct disassembly {
    char mnemonic[32]; /* empty where the line is nothing but prefixes */
    unsigned flow;     /* of enum x86_flow */
    bool has_target;   /* the operand of a branch is a number */
    uint64_t target;   /* that number: an address or a distance, as the disassembler prints it */
    bool is_pc_relative;
    int64_t displacement; /* from the next instruction, where pc-relative */
    char prefixes[64];    /* the words in front, each followed by a blank */
};

/* Parses the line. Returns false if it is empty. */
bool disassembly_parse(const char *line, struct disassembly *disassembly_out);

#endif
