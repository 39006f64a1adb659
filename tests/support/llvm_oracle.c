/* SPDX-License-Identifier: MIT */
/* The few functions of LLVM's C interface that are needed, by name: no headers, no package needed to build. */
#include "support/llvm_oracle.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

/* Values of the C interface. */
#define LLVM_OPTION_HEXADECIMAL  2
#define LLVM_OPTION_INTEL_SYNTAX 4

struct llvm_oracle {
    void *library, *disassembler;
    size_t (*print)(void *disassembler, uint8_t *bytes, uint64_t available, uint64_t pc, char *text, size_t size);
    void (*dispose)(void *disassembler);
};

static void *open_library(void)
{
    static const char *const names[] = {"libLLVM.so." LLVM_ORACLE_RELEASE ".1", "libLLVM-" LLVM_ORACLE_RELEASE ".so.1",
                                        "libLLVM-" LLVM_ORACLE_RELEASE ".so"};
    void *library = NULL;

    for (size_t i = 0; library == NULL && i < sizeof(names) / sizeof(names[0]); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void set_up(struct llvm_oracle *oracle)
{
    static const char *const steps[] = {"LLVMInitializeX86TargetInfo", "LLVMInitializeX86TargetMC",
                                        "LLVMInitializeX86Disassembler"};
    void *(*create)(const char *, void *, int, void *, void *) = dlsym(oracle->library, "LLVMCreateDisasm");
    int (*set_options)(void *, uint64_t) = dlsym(oracle->library, "LLVMSetDisasmOptions");

    oracle->print = dlsym(oracle->library, "LLVMDisasmInstruction");
    oracle->dispose = dlsym(oracle->library, "LLVMDisasmDispose");
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        void (*step)(void) = dlsym(oracle->library, steps[i]);

        if (step == NULL)
            return;
        step();
    }
    if (create == NULL || set_options == NULL || oracle->print == NULL || oracle->dispose == NULL)
        return;
    oracle->disassembler = create("x86_64-linux-gnu", NULL, 0, NULL, NULL);
    if (oracle->disassembler == NULL)
        return;
    /* One after the other: choosing the syntax forgets the other option. */
    set_options(oracle->disassembler, LLVM_OPTION_INTEL_SYNTAX);
    set_options(oracle->disassembler, LLVM_OPTION_HEXADECIMAL);
}

int llvm_oracle_create(struct llvm_oracle **oracle_out)
{
    struct llvm_oracle *oracle = calloc(1, sizeof(*oracle));

    if (oracle == NULL)
        return -ENOMEM;
    oracle->library = open_library();
    if (oracle->library != NULL)
        set_up(oracle);
    if (oracle->disassembler == NULL) {
        llvm_oracle_destroy(oracle);
        return -ENOENT;
    }
    *oracle_out = oracle;
    return 0;
}

void llvm_oracle_destroy(struct llvm_oracle *oracle)
{
    if (oracle == NULL)
        return;
    if (oracle->disassembler != NULL)
        oracle->dispose(oracle->disassembler);
    /* The library stays: it does not like to be unloaded. */
    free(oracle);
}

size_t llvm_oracle_print(struct llvm_oracle *oracle, const uint8_t *bytes, size_t available, uint64_t pc,
                         char text_out[LLVM_ORACLE_TEXT_BYTES])
{
    size_t length =
        oracle->print(oracle->disassembler, (uint8_t *)bytes, available, pc, text_out, LLVM_ORACLE_TEXT_BYTES);

    if (length == 0)
        text_out[0] = 0;
    return length;
}
