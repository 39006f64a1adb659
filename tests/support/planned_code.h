/* SPDX-License-Identifier: MIT */
/*
 * A module that is made by hand, of x86-64 code, and a planner of hooks for it. Functions are added one behind the
 * other, then the module is surveyed, then plans are made. Mistakes in a test end it.
 */
#ifndef GAIT_TESTS_PLANNED_CODE_H
#define GAIT_TESTS_PLANNED_CODE_H

#include "hook/hook_plan.h"

#define PLANNED_CODE      0x401000u
#define PLANNED_DATA      0x500000u
#define PLANNED_MACHINE   62u
#define PLANNED_FUNCTIONS 32u

struct planned_code {
    uint8_t code[2048];
    uint8_t data[512];
    struct elf_function functions[PLANNED_FUNCTIONS];
    struct elf_function_list list;
    struct hook_module module;
    struct hook_planner planner;
    size_t code_bytes;
    void *memory;
};

void planned_code_init(struct planned_code *code);
void planned_code_deinit(struct planned_code *code);

/* Adds bytes that belong to no function, or so many of one kind. Where they are. */
uint64_t planned_code_put(struct planned_code *code, const void *bytes, size_t size_bytes);
uint64_t planned_code_fill(struct planned_code *code, uint8_t byte, size_t count);

/* Adds a function, which the caller may change until the survey; name NULL: it has none. */
struct elf_function *planned_code_add(struct planned_code *code, const char *name, const void *bytes,
                                      size_t size_bytes);

/* The same for the bytes of a text. */
#define PLANNED_ADD(code, name, text) planned_code_add((code), (name), (text), sizeof(text) - 1)
#define PLANNED_PUT(code, text)       planned_code_put((code), (text), sizeof(text) - 1)

/* Looks at all of it. */
void planned_code_survey(struct planned_code *code);

struct hook_plan planned_code_plan(struct planned_code *code, const struct elf_function *function);

/* A plan of the only function of that code, which has no neighbours and no padding. */
struct hook_plan planned_code_alone(const void *bytes, size_t size_bytes);

#endif
