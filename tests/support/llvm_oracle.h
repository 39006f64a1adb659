/* SPDX-License-Identifier: MIT */
/* LLVM's disassembler, from the shared library of one release, loaded when a test wants it. */
#ifndef GAIT_TESTS_LLVM_ORACLE_H
#define GAIT_TESTS_LLVM_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#define LLVM_ORACLE_RELEASE    "22"
#define LLVM_ORACLE_TEXT_BYTES 256

struct llvm_oracle;

/* Returns 0; -ENOENT when the library is not installed. One oracle belongs to one thread. */
__attribute__((warn_unused_result)) int llvm_oracle_create(struct llvm_oracle **oracle_out);

void llvm_oracle_destroy(struct llvm_oracle *oracle);

/* Prints the instruction at bytes in Intel's syntax. Returns its length, 0 if there is none. */
size_t llvm_oracle_print(struct llvm_oracle *oracle, const uint8_t *bytes, size_t available, uint64_t pc,
                         char text_out[LLVM_ORACLE_TEXT_BYTES]);

#endif
