/* SPDX-License-Identifier: MIT */
/*
 * All that user code sees of an x86-64 CPU at one moment: general registers, pc, flags, and the x87, SSE, AVX and
 * AVX-512 registers as far as this CPU has them. Not in it: segment registers and bases, PKRU, AMX tiles.
 *
 * The vector part is an XSAVE image in standard format, where each component has the offset that this CPU gives it. It
 * is kept normalised, so that equal states have equal bytes: every component is present (one that the CPU left out
 * because it was in its initial configuration is written out as its initial values) and padding is zero.
 *
 * A state is aligned to 64 bytes: make it static, local or by aligned_alloc. Nothing here allocates or makes a system
 * call; machine_state_image_load and _store may be called from a signal handler once any other function was called.
 */
#ifndef GAIT_TESTS_MACHINE_STATE_H
#define GAIT_TESTS_MACHINE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/isa/registers.h"
#include "support/arena.h"

struct random;

/* No CPU puts the components that we keep beyond this. */
#define MACHINE_IMAGE_BYTES 2688

/* The bits of XCR0 that we keep, if the CPU has them. */
enum machine_component {
    MACHINE_X87 = 1u << 0,
    MACHINE_SSE = 1u << 1,
    MACHINE_AVX = 1u << 2,
    MACHINE_AVX512 = 7u << 5, /* mask registers, upper halves of zmm0-15, zmm16-31 */
};

/* st(i) of the present stack top, not physical register i. An MMX register is the mantissa. */
struct machine_st {
    uint64_t mantissa;
    uint16_t sign_exponent;
    uint16_t padding[3];
};

/* The start of every XSAVE image. */
struct machine_legacy {
    uint16_t x87_control;
    uint16_t x87_status;
    uint8_t x87_tag; /* one bit a physical register: 1 is in use */
    uint8_t reserved;
    uint16_t x87_opcode;
    uint64_t x87_instruction_pointer;
    uint64_t x87_data_pointer;
    uint32_t mxcsr;
    uint32_t mxcsr_mask; /* zero in a normalised image */
    struct machine_st st[8];
    uint64_t xmm[16][2]; /* use machine_state_zmm_get and _set, unless only these 128 bits are meant */
    uint8_t unused[96];
};

/* Bytes that follow the image's legacy part. */
struct machine_image_header {
    uint64_t present;
    uint64_t compacted;
    uint64_t reserved[6];
};

struct machine_state {
    uint64_t gpr[X86_GPR_COUNT];
    uint64_t rip;
    uint64_t rflags;
    union {
        struct machine_legacy legacy;
        uint8_t image[MACHINE_IMAGE_BYTES];
    } __attribute__((aligned(64)));
};

struct machine_zmm {
    uint64_t lane[8];
};

/* The components (enum machine_component) of this CPU; 0 if the CPU or the kernel knows no XSAVE. */
uint64_t machine_state_components(void);

/* How much of a zmm register is real here: 16, 32 or 64. */
unsigned machine_state_vector_bytes(void);

/* How many vector registers there are: 16 or 32. */
unsigned machine_state_vector_count(void);

/* The state after FNINIT and VZEROALL with all else zero; only the flags that are always set. */
void machine_state_init(struct machine_state *state);

/* Vector register 0-31. What the CPU does not have reads as zero and is dropped by set. */
struct machine_zmm machine_state_zmm_get(const struct machine_state *state, unsigned index);
void machine_state_zmm_set(struct machine_state *state, unsigned index, struct machine_zmm value);

/* Mask register 0-7. What the CPU does not have reads as zero and is dropped by set. */
uint64_t machine_state_k_get(const struct machine_state *state, unsigned index);
void machine_state_k_set(struct machine_state *state, unsigned index, uint64_t value);

/* Takes the vector part from an XSAVE image that the CPU or the kernel wrote, and normalises it. */
void machine_state_image_load(struct machine_state *state, const void *xsave_image);

/*
 * Puts the vector part into an XSAVE image that the kernel wrote before: its other components and the kernel's own
 * bytes stay. Bits of mxcsr that the image says do not exist are dropped, because loading them is a fault.
 */
void machine_state_image_store(const struct machine_state *state, void *xsave_image);

struct machine_random_options {
    /* Some general registers and vector lanes point into one of these. */
    const struct arena_span *spans;
    size_t span_count;
    /* If its size is not 0, rsp is a multiple of 8 in the middle half of it; else rsp is as random as the others. */
    struct arena_span stack;
    /* The flags that are drawn (DF and AC seldom: 1 in 8); the others are those of machine_state_init. */
    uint64_t flags;
};

/*
 * Draws every register but rip: small numbers, edge values, even bits, pointers, floating-point numbers. x87 and SSE
 * exceptions stay masked, rounding and the like is drawn.
 */
void machine_state_randomize(struct machine_state *state, struct random *random,
                             const struct machine_random_options *options);

/* What a comparison does not look at. */
struct machine_ignore {
    x86_gpr_set gprs;
    bool rip;
    uint64_t rflags;
    uint32_t zmm; /* bit n is register n */
    uint8_t k;    /* bit n is register n */
    bool mxcsr;
    bool x87;
    bool x87_pointers; /* last instruction, operand and opcode: code that moves changes them, CPUs differ in them */
};

/* RF, which says how the code was left rather than what it did, and the x87 pointers. */
extern const struct machine_ignore machine_ignore_default;

/*
 * Returns the number of differences and writes a line each into report (always terminated; cut off when it is full).
 * ignore may be NULL for the default.
 */
unsigned machine_state_compare(const struct machine_state *expected, const struct machine_state *actual,
                               const struct machine_ignore *ignore, char *report, size_t report_bytes);

/* "rax" and so on. */
const char *machine_gpr_name(unsigned gpr);

#endif
