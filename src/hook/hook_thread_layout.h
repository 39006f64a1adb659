/* SPDX-License-Identifier: MIT */
/*
 * What the gates of stubs know of a thread's state and of its invocations: offsets, for C and assembly. The structs
 * assert that they agree. Where in a stub what is, arch/stub_layout.h says.
 */
#ifndef GAIT_HOOK_HOOK_THREAD_LAYOUT_H
#define GAIT_HOOK_HOOK_THREAD_LAYOUT_H

/* Of struct hook_thread, which the thread's base points to: see hook_thread_base_get(). */
#define HOOK_THREAD_OWNER     (-8) /* the thread pointer + 1 of the thread whose state it is; zero after a fork */
#define HOOK_THREAD_TOP       0    /* behind the innermost invocation */
#define HOOK_THREAD_LIMIT     8    /* where no invocation fits any more; 0: at once, where there is a floor */
#define HOOK_THREAD_FULL      24   /* the same whether there is a floor or not */
#define HOOK_THREAD_FLOOR     32   /* a slot at or below it is on another stack than the innermost call */
#define HOOK_THREAD_POSITION  40   /* where the next record goes */
#define HOOK_THREAD_IGNORING  48   /* 32 bits, of which bytes are HOOK_IGNORING_* */
#define HOOK_THREAD_STACK_LOW 56   /* of the stack for listeners */
#define HOOK_THREAD_STACK_TOP 64
#define HOOK_THREAD_GATE_SP   72 /* of the gate that calls listeners, while it does */
#define HOOK_THREAD_OWN_LOW   80 /* the stack that the thread began with: where no signal handler has its own */
#define HOOK_THREAD_OWN_BYTES 88
#define HOOK_THREAD_CALLS     96  /* its system calls that have not returned: struct hook_thread_call, in a circle */
#define HOOK_THREAD_CALL_NEXT 104 /* 32 bits: which one is next; only the low bits of HOOK_THREAD_CALLS_MAX count */
#define HOOK_THREAD_GOROUTINE 112 /* that it was last told to run; 0: none in this buffer of records */
#define HOOK_THREAD_CONTEXT   128 /* struct gait_cpu_context, while listeners run */

/* Why no calls are told: a byte of that word each, so that each is set without touching the others. */
#define HOOK_IGNORING_LISTENER 0 /* HOOK_LISTENING_*; set by the thread only */
#define HOOK_IGNORING_SELF     2 /* the thread asked for it */
#define HOOK_IGNORING_OTHERS   3 /* another thread asked for it */
#define HOOK_IGNORING_ASKED    2 /* 16 bits: one of these two */

/* Listeners run: a gate is about to call them, or back from that, on the program's stack; or is on theirs. */
#define HOOK_LISTENING_GATE    1
#define HOOK_LISTENING_RUN     2
#define HOOK_LISTENING_SAVED   3 /* the same, and the program's vector registers are in the thread's memory for them */
#define HOOK_LISTENING_UNWOUND 4 /* the same, for a call that does not return: the program is not at a known place */

/* Of struct hook_thread_call. */
#define HOOK_CALL_SP          0
#define HOOK_CALL_TIME        8
#define HOOK_CALL_NUMBER      16
#define HOOK_CALL_NOTE        24
#define HOOK_CALL_BYTES       32
#define HOOK_THREAD_CALLS_MAX 64 /* a power of two */

/* Of what a stub of a system call knows: struct system_call_knowledge. */
#define CALL_STUB_CALL_AT  16
#define CALL_STUB_CHILD_AT 24
#define CALL_STUB_PLAIN_AT 32
#define CALL_STUB_AFTER    40
#define CALL_STUB_BEHIND   48

/* Of struct system_call_frame. */
#define CALL_FRAME_RESULT    0
#define CALL_FRAME_ARGUMENTS 8
#define CALL_FRAME_NUMBER    56
#define CALL_FRAME_TIME      64
#define CALL_FRAME_SP        72
#define CALL_FRAME_STUB      80
#define CALL_FRAME_KIND      88 /* 32 bits */
#define CALL_FRAME_ELSEWHERE 92 /* 32 bits */
#define CALL_FRAME_MASK      96
#define CALL_FRAME_KEPT      104
#define CALL_FRAME_REGISTERS 120 /* those that functions leave as they are, 6 of them */
#define CALL_FRAME_BYTES     168

/* What is to be done about a system call: a byte for each number. */
#define CALL_KIND_PLAIN    0 /* nothing */
#define CALL_KIND_ORDINARY 1 /* it is told */
#define CALL_KIND_SPECIAL  2 /* somebody wants to know before it is made; it may not return, or return twice */

/* How a special one is made. */
#define CALL_MADE_TOLD     0 /* as an ordinary one */
#define CALL_MADE_UNTOLD   1 /* as it was in the program, and that is all */
#define CALL_MADE_BY_CHILD 2 /* if it returns 0, that is in a child, which is not told */
#define CALL_MADE_ANSWERED 3 /* not at all: the result is in the frame */

/* Of struct invocation. */
#define INVOCATION_SLOT   0
#define INVOCATION_RETURN 8
#define INVOCATION_STUB   16
#define INVOCATION_DATA   24
#define INVOCATION_DEPTH  32 /* 32 bits, then 32 of flags */
#define INVOCATION_BYTES  40

/* Of a record of a call, as it stands in a lane: struct hook_record. */
#define HOOK_RECORD_DEPTH 4 /* 32 bits, behind 32 of the header */
#define HOOK_RECORD_TIME  8
#define HOOK_RECORD_BYTES 16
#define HOOK_RECORD_FULL  0xff0000 /* none of these bits are set in a position where the buffer has ended */

/* Of struct hook_gate_frame. */
#define HOOK_FRAME_THREAD    0
#define HOOK_FRAME_KIND      8  /* 32 bits: HOOK_GATE_* */
#define HOOK_FRAME_OUTCOME   12 /* 32 bits: HOOK_OUTCOME_* */
#define HOOK_FRAME_REGISTERS 48 /* struct hook_gate_registers: by number */

/* Where a thread comes from. */
#define HOOK_GATE_ENTER 0
#define HOOK_GATE_LEAVE 1
#define HOOK_GATE_ONCE  2
#define HOOK_GATE_FULL  3 /* from within a gate: a buffer of records is full */

/* How it goes on. */
#define HOOK_OUTCOME_GO        0 /* as the stub has it */
#define HOOK_OUTCOME_UNTRACKED 1 /* without its return being seen */
#define HOOK_OUTCOME_JUMP      2 /* with the registers of the context, the pc included */

/* Of the parts of a stub: see enum hook_stub_part. */
#define HOOK_PART_PROBE    8
#define HOOK_PART_UNWINDER 0x40000000

#endif
