/* SPDX-License-Identifier: MIT */
/* What is known of a goroutine, struct g of Go's runtime: offsets, for C and assembly. */
#ifndef GAIT_HOOK_GO_GOROUTINE_LAYOUT_H
#define GAIT_HOOK_GO_GOROUTINE_LAYOUT_H

#define GOROUTINE_STACK_END 8 /* behind its stack, which is moved when it has to grow */

/* EVENT_HEIGHT, of ring/event_record.h. */
#define EVENT_HEIGHT_BIT 0x80000000

#endif
