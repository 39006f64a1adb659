/* SPDX-License-Identifier: MIT */
/*
 * Memory with the vector and floating-point state, as stalker_vector_switch.S writes it: an XSAVE image in the standard
 * format; or, where the state is moved, of that only the x87, and the rest at places of its own. For C and assembly.
 */
#ifndef GAIT_ARCH_X86_64_HOST_VECTOR_AREA_H
#define GAIT_ARCH_X86_64_HOST_VECTOR_AREA_H

/* Where xsave leaves room for others: not 0 if the state is moved. */
#define AREA_KIND 464

/* In the image: bits of the components that it has; the others are in their initial state. */
#define AREA_PRESENT 512

/* Where the state is moved; the rest of the image is free then. */
#define AREA_VECTORS 1024
#define AREA_MASKS   3072
#define AREA_IN_USE  3136 /* 32 bits, as AREA_PRESENT */
#define AREA_MXCSR   3140
#define AREA_TILES   4096

#endif
