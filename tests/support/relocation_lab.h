/* SPDX-License-Identifier: MIT */
/*
 * Runs code where it is and a relocated copy of it elsewhere, from the same state, and compares how both ended: signal,
 * fault address, pc (mapped back), general and vector registers, flags, memory. One laboratory in a process at a time.
 */
#ifndef GAIT_TESTS_RELOCATION_LAB_H
#define GAIT_TESTS_RELOCATION_LAB_H

#include "arch/x86_64/isa/relocator.h"
#include "support/arena.h"
#include "support/code_runner.h"

#define RELOCATION_LAB_POINTS 512
#define RELOCATION_LAB_FIXUPS 64

enum relocation_verdict {
    RELOCATION_EQUAL,
    RELOCATION_DIFFERENT,
    RELOCATION_UNTOLD, /* it ran too long, or used memory that the copy is allowed to change */
};

struct relocation_lab {
    struct arena code, near, far, data, stack, slots;
    struct arena_image data_before, stack_before, data_after, stack_after;
    struct arena_image code_image, near_image, far_image; /* of the code, which must stay as it is */
    struct code_runner runner;
    struct x86_relocation_map map;
    struct x86_relocation_point points[RELOCATION_LAB_POINTS];
    struct x86_relocator_fixup fixups[RELOCATION_LAB_FIXUPS];
    struct x86_relocator_options options;
    size_t copy_size;
};

/* How a copy is made and run. */
struct relocation_setup {
    struct x86_relocator_options options; /* segment and slots are filled in */
    bool is_far;                          /* out of reach of displacements */
    bool sp_may_stray;                    /* rsp leaves the stack, and the copy keeps nothing there from then on */
    struct machine_state initial;         /* rip is filled in */
};

/* 0 or -errno. */
int relocation_lab_init(struct relocation_lab *lab) __attribute__((warn_unused_result));
void relocation_lab_deinit(struct relocation_lab *lab);

/* The same for a test program, which ends if there is no laboratory: says why not. */
bool relocation_lab_ready(struct relocation_lab *lab) __attribute__((warn_unused_result));

/* Where the original code is to stand; int3 all around it. */
uint64_t relocation_lab_code_pc(const struct relocation_lab *lab);

/* Writes the original, followed by int3. */
void relocation_lab_place(struct relocation_lab *lab, const uint8_t *bytes, size_t size);

/* Draws registers, flags and the contents of memory. */
void relocation_lab_randomize(struct relocation_lab *lab, struct random *random, struct machine_state *state_out);

/* Makes the copy of the code that was placed; what relocation_run() returns. */
int relocation_lab_copy(struct relocation_lab *lab, const struct relocation_setup *setup, size_t size)
    __attribute__((warn_unused_result));

/* Runs both and compares. The report says what differs. */
enum relocation_verdict relocation_lab_compare(struct relocation_lab *lab, const struct relocation_setup *setup,
                                               char *report, size_t report_bytes);

/*
 * Steps through both and compares the state recovered from every instruction of the copy with a state of the original.
 * Only general registers and flags; stops comparing where the code ends.
 */
enum relocation_verdict relocation_lab_compare_steps(struct relocation_lab *lab, const struct relocation_setup *setup,
                                                     char *report, size_t report_bytes);

/* Steps through the original alone, for a limited number of instructions; how that ended. */
enum run_end relocation_lab_trace(struct relocation_lab *lab, const struct relocation_setup *setup,
                                  run_step_callback callback, void *context);

#endif
