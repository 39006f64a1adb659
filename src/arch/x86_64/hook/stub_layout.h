/* SPDX-License-Identifier: MIT */
/*
 * Stubs of functions, as stub_code.c writes them. Distances are from the return address of a stub's call of its
 * entering gate: to what it knows, to where it goes without its return being seen, to the return addresses of the
 * function and of the stub's call of the leaving gate, and to where that call begins. Negative ones are before.
 */
#ifndef GAIT_ARCH_X86_64_HOOK_STUB_LAYOUT_H
#define GAIT_ARCH_X86_64_HOOK_STUB_LAYOUT_H

#define STUB_FUNCTION       (-38)
#define STUB_HEADER         (-14) /* 32 bits: of the record of its being entered; those of leaving and unwinding follow it */
#define STUB_PARTS          (-10) /* 32 bits */
#define STUB_LANDING        5
#define STUB_LEAVING        10
#define STUB_LEFT           16
#define STUB_UNTRACKED      17
#define HOOK_STUB_ALIGNMENT 64

/* Stubs of system calls begin at multiples of this. */
#define SYSTEM_CALL_STUB_ALIGNMENT 16

#endif
