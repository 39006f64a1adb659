/* SPDX-License-Identifier: MIT */
/*
 * What only the running CPU can say of itself. Implemented once for each CPU in arch/<cpu>/host. No libc, no locks;
 * usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_HOST_CPU_H
#define GAIT_ARCH_HOST_CPU_H

#include <stdbool.h>

/* The options with which code is to be decoded as this CPU would. The answer never changes; asking again is cheap. */
unsigned host_cpu_decode_options(void);

/*
 * Whether the system lets programs change the bases of segments by instructions, without a system call. False where
 * there is no such thing. As above.
 */
bool host_cpu_has_base_insns(void);

/*
 * How many bits of an address count: the CPU refuses to go to one whose bits above are not all the same as the highest
 * of them. As above.
 */
unsigned host_cpu_address_bits(void);

#endif
