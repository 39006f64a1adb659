/* SPDX-License-Identifier: MIT */
/*
 * The gates between translated code and the engine. gs:0 is the struct stalker_thread. No gate touches the program's
 * stack or the vector registers; the engine is compiled without those.
 */
#include "arch/x86_64/host/own_call.inc"
#include "stalker/thread_layout.h"

#include <asm/unistd.h>

#define SIG_SETMASK 2
#define SIGNAL_MASK_BYTES 8

/* Single step, direction and alignment checks: off in functions, and not put back by sahf. */
#define FLAGS_ODD 0x40500

#define HOME(number) %gs:THREAD_CONTEXT + 8 * number

/* From struct hash_map and its tables; stalker/dispatch.c asserts that these are right. */
#define TABLE_SHIFT 8
#define TABLE_MASK  0
#define TABLE_SLOTS 64
#define BLOCK_LANDING 16

#define COLLISIONS_MASK 63

        .text
        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .endm

        /* Within one: a place that others know. */
        .macro FUNCTION_HERE name
        .globl  \name
        .hidden \name
\name:
        .endm

        .macro SAVE register, number
        movq    %\register, HOME(\number)
        .endm

        .macro RESTORE register, number
        movq    HOME(\number), %\register
        .endm

        /* The registers that gates are free to use once they are at home. */
        .macro EACH_FIRST operation
        \operation rax, 0
        \operation rcx, 1
        \operation rdi, 7
        .endm

        /* All others but rsp, and r11, where the position of events may be. */
        .macro EACH_OTHER operation
        \operation rdx, 2
        \operation rbx, 3
        \operation rbp, 5
        \operation rsi, 6
        \operation r8, 8
        \operation r9, 9
        \operation r10, 10
        \operation r12, 12
        \operation r13, 13
        \operation r14, 14
        \operation r15, 15
        .endm

        /* To the engine, with all registers the program's but r11 where the position of events is there. */
        .macro LEAVE reason
        EACH_FIRST SAVE
        movl    $\reason, %gs:THREAD_REASON
        jmpq    *%gs:THREAD_LEAVE
        .endm

/* Out of the cache through an exit: all registers are the program's. */
FUNCTION stalker_gate_exit
        LEAVE STALKER_REASON_EXIT
/* The same with rax, rcx and rdi at home and the reason set; r11 is the position of events. */
FUNCTION stalker_leave_with_position
        movq    %r11, %gs:THREAD_EVENT_POSITION
        RESTORE r11, 11
/* The same, r11 is the program's. */
FUNCTION stalker_leave
        EACH_OTHER SAVE
        SAVE r11, 11
        SAVE rsp, 4
        movq    %gs:THREAD_ENGINE_SP, %rsp
        pushfq
        popq    %gs:THREAD_CONTEXT_FLAGS
        /* No direction, no alignment checks, no single step in the engine. */
        pushq   $2
        popfq
        movq    %gs:THREAD_SELF, %rdi
        call    stalker_dispatch
/*
 * Into the cache, or natively to wherever `resume` says. From here to stalker_resume_end the context is the program's
 * state: a signal that comes here is handled with that.
 */
FUNCTION_HERE stalker_resume
        cmpq    $0, %gs:THREAD_IS_LEAVING
        jne     3f
        cmpq    $0, %gs:THREAD_SIGNALS_HELD
        jne     2f
1:      EACH_FIRST RESTORE
        EACH_OTHER RESTORE
        RESTORE r11, 11
        /* Late: a program that single steps gets a trap behind each instruction from here on. */
        pushq   %gs:THREAD_CONTEXT_FLAGS
        popfq
        RESTORE rsp, 4
        jmpq    *%gs:THREAD_ENTER
FUNCTION stalker_enter_with_position
        movq    %gs:THREAD_EVENT_POSITION, %r11
FUNCTION stalker_enter
        jmpq    *%gs:THREAD_RESUME
/* Signals that were held back come with the system call. */
2:      movq    $0, %gs:THREAD_SIGNALS_HELD
        movl    $SIG_SETMASK, %edi
        movq    %gs:THREAD_SELF, %rsi
        addq    $THREAD_SIGNALS_MASK, %rsi
        xorl    %edx, %edx
        movl    $SIGNAL_MASK_BYTES, %r10d
        movl    $__NR_rt_sigprocmask, %eax
        OWN_CALL gate_signals
        jmp     1b
3:      movq    %gs:THREAD_SELF, %rdi
        call    signal_thread_end
FUNCTION_HERE stalker_resume_end

/* Out of the cache because the event buffer is full: all registers are the program's, and `resume` is set. */
FUNCTION stalker_gate_events
        LEAVE STALKER_REASON_EVENTS

/* Out of the cache because a block's original changed; its number is where an exit's would be. */
FUNCTION stalker_gate_changed
        LEAVE STALKER_REASON_CHANGED

/* Out of the cache because an excluded call is over, at the block whose number is where an exit's would be. */
FUNCTION stalker_gate_quiet_end
        LEAVE STALKER_REASON_QUIET_END

/* Back from a piece that made a system call. The position of events, if any, was not in its register. */
FUNCTION stalker_gate_called
        EACH_FIRST SAVE
        movl    $STALKER_REASON_CALLED, %gs:THREAD_REASON
        jmp     stalker_leave

/*
 * An indirect branch found nothing, or a block that is not its target's: rcx is the target, rdi has the number of the
 * exit that it came from above its low 16 bits; the program's rcx and rdi are at home.
 */
FUNCTION stalker_gate_indirect
        SAVE rax, 0
        lahf
        seto    %al
        shrq    $16, %rdi
        movl    %edi, %gs:THREAD_EXIT
        movq    %rcx, %gs:THREAD_TARGET
        SAVE rdx, 2
        movq    %rcx, %rdi
        movq    %gs:THREAD_BLOCKS, %rdx
        movq    (%rdx), %rdx
        movabsq $0x9e3779b97f4a7c15, %rcx
        imulq   %rcx, %rdi
        movl    TABLE_SHIFT(%rdx), %ecx
        shrq    %cl, %rdi
        movq    %gs:THREAD_TARGET, %rcx
        testq   %rcx, %rcx
        jz      4f
        /* rdx: table, rdi: index, rcx: key */
2:      shlq    $4, %rdi
        cmpq    %rcx, TABLE_SLOTS(%rdx, %rdi)
        jne     3f
        movq    TABLE_SLOTS + 8(%rdx, %rdi), %rdi
        cmpq    $-1, %rdi
        je      4f
        /* Without a landing the engine makes one, so that the next time is quicker. */
        cmpl    $0, BLOCK_LANDING(%rdi)
        je      4f
        /* Somebody else has its place in the table. Now and then the engine gives it to who comes by. */
        incl    %gs:THREAD_COLLISIONS
        testb   $COLLISIONS_MASK, %gs:THREAD_COLLISIONS
        jz      4f
        movq    (%rdi), %rdi
        movq    %rdi, %gs:THREAD_RESUME
        addb    $0x7f, %al
        sahf
/* To stalker_found_end: rax, rcx, rdx and rdi are at home, the pc is the target. Signals that are held need the engine. */
FUNCTION_HERE stalker_found
        movq    %gs:THREAD_SIGNALS_HELD, %rcx
        jrcxz   5f
        jmp     6f
5:      RESTORE rax, 0
        RESTORE rdx, 2
        RESTORE rcx, 1
        RESTORE rdi, 7
        jmpq    *%gs:THREAD_RESUME
FUNCTION_HERE stalker_found_end
3:      cmpq    $0, TABLE_SLOTS(%rdx, %rdi)
        je      4f
        shrq    $4, %rdi
        incq    %rdi
        andq    TABLE_MASK(%rdx), %rdi
        jmp     2b
4:      addb    $0x7f, %al
        sahf
6:      RESTORE rdx, 2
        movl    $STALKER_REASON_INDIRECT, %gs:THREAD_REASON
        jmpq    *%gs:THREAD_LEAVE

/*
 * A callout: called on the engine's stack, where a struct callout_call begins with the return address; rsp is at home,
 * all other registers are the program's, but for r11 in the second form.
 */
        .macro CALLOUT leave_callout, with_position
        EACH_FIRST SAVE
        EACH_OTHER SAVE
        SAVE r11, 11
        pushfq
        popq    %rbx
        movq    %rbx, %gs:THREAD_CONTEXT_FLAGS
        testl   $FLAGS_ODD, %ebx
        jnz     \leave_callout\()_odd
\leave_callout\()_call:
        movl    $\with_position, %edx
        movq    %rsp, %rsi
        movq    %gs:THREAD_SELF, %rdi
        call    stalker_callout
/* From here to its end the context is the program's state. */
FUNCTION_HERE stalker_\leave_callout\()_called
        testb   %al, %al
        jnz     stalker_resume_far
        cmpq    $0, %gs:THREAD_SIGNALS_HELD
        jne     \leave_callout\()_held
        /* Flags that the function left alone are put back without the slow popf. */
        cmpq    %gs:THREAD_CONTEXT_FLAGS, %rbx
        jne     \leave_callout\()_flags
        testl   $FLAGS_ODD, %ebx
        jnz     \leave_callout\()_flags
        movb    %bh, %al
        andb    $8, %al
        addb    $0x78, %al
        movb    %bl, %ah
        sahf
\leave_callout\()_restore:
        EACH_FIRST RESTORE
        EACH_OTHER RESTORE
        .endm

        .macro CALLOUT_RARE leave_callout, with_position
\leave_callout\()_flags:
        pushq   %gs:THREAD_CONTEXT_FLAGS
        popfq
        jmp     \leave_callout\()_restore
FUNCTION_HERE stalker_\leave_callout\()_called_end
\leave_callout\()_odd:
        pushq   $2
        popfq
        jmp     \leave_callout\()_call
/* Signals came during the callout. */
\leave_callout\()_held:
        movl    $\with_position, %edx
        movq    %rsp, %rsi
        movq    %gs:THREAD_SELF, %rdi
        call    stalker_callout_interrupted
        jmp     stalker_resume_far
        .endm

FUNCTION stalker_gate_callout
        CALLOUT callout, 0
        RESTORE r11, 11
        ret     $8
        CALLOUT_RARE callout, 0

FUNCTION stalker_gate_callout_with_position
        movq    %r11, %gs:THREAD_EVENT_POSITION
        RESTORE r11, 11
        CALLOUT positioned, 1
        movq    %gs:THREAD_EVENT_POSITION, %r11
        ret     $8
        CALLOUT_RARE positioned, 1

/* A callout sent the thread elsewhere: what is on the engine's stack is done with. */
stalker_resume_far:
        movq    %gs:THREAD_ENGINE_SP, %rsp
        jmp     stalker_resume

/*
 * stalker_follow_caller(a, b, c, prepare): lets prepare make a stalker_thread of a, b and c. If it does, returns 0 to the
 * caller through the cache, with the caller followed from there on. Else returns its error.
 */
FUNCTION stalker_follow_caller
        subq    $24, %rsp
        movq    $0, (%rsp)
        movq    %rcx, %rax
        movq    %rsp, %rcx
        call    *%rax
        movq    (%rsp), %rdi
        addq    $24, %rsp
        testl   %eax, %eax
        jnz     1f
        movq    %rax, THREAD_CONTEXT + 8 * 0(%rdi)
        movq    %rbx, THREAD_CONTEXT + 8 * 3(%rdi)
        movq    %rbp, THREAD_CONTEXT + 8 * 5(%rdi)
        movq    %r12, THREAD_CONTEXT + 8 * 12(%rdi)
        movq    %r13, THREAD_CONTEXT + 8 * 13(%rdi)
        movq    %r14, THREAD_CONTEXT + 8 * 14(%rdi)
        movq    %r15, THREAD_CONTEXT + 8 * 15(%rdi)
        popq    THREAD_CONTEXT_PC(%rdi)
        movq    %rsp, THREAD_CONTEXT + 8 * 4(%rdi)
        movq    THREAD_ENGINE_SP(%rdi), %rsp
        pushfq
        popq    THREAD_CONTEXT_FLAGS(%rdi)
        call    stalker_dispatch
        jmp     stalker_resume
1:      ret

/*
 * Where a thread that was stopped begins to be followed: its registers are in its context. Signals are blocked before
 * the stack is changed: as long as the kernel has the program's alternate stack, it must see whether that is in use.
 */
FUNCTION stalker_gate_begin
        cmpq    $0, %gs:THREAD_SIGNALS_HELD
        jne     1f
        movl    $SIG_SETMASK, %edi
        leaq    all_signals(%rip), %rsi
        movq    %gs:THREAD_SELF, %rdx
        addq    $THREAD_SCRATCH, %rdx
        movl    $SIGNAL_MASK_BYTES, %r10d
        movl    $__NR_rt_sigprocmask, %eax
        OWN_CALL gate_begin
        /* One that came just before may have been held back already. */
        cmpq    $0, %gs:THREAD_SIGNALS_HELD
        jne     1f
        movq    %gs:THREAD_SCRATCH, %rax
        movq    %rax, %gs:THREAD_SIGNALS_MASK
        movq    $1, %gs:THREAD_SIGNALS_HELD
1:      movq    %gs:THREAD_ENGINE_SP, %rsp
        pushq   $2
        popfq
        movq    %gs:THREAD_SELF, %rdi
        call    stalker_dispatch
        jmp     stalker_resume

/* stalker_clone(parent, child): see stalker/stalker_gate.h. The kernel keeps r12 in both of them. */
FUNCTION stalker_clone
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        movq    %rdi, %r13
        movq    %rsi, %r12
        movq    THREAD_CONTEXT + 8 * 0(%r13), %rax
        movq    THREAD_CONTEXT + 8 * 2(%r13), %rdx
        movq    THREAD_CONTEXT + 8 * 6(%r13), %rsi
        movq    THREAD_CONTEXT + 8 * 7(%r13), %rdi
        movq    THREAD_CONTEXT + 8 * 8(%r13), %r8
        movq    THREAD_CONTEXT + 8 * 9(%r13), %r9
        movq    THREAD_CONTEXT + 8 * 10(%r13), %r10
        syscall
FUNCTION_HERE stalker_clone_called
        testq   %rax, %rax
        jz      1f
        popq    %r13
        popq    %r12
        popq    %rbx
        ret
1:      movq    %rsp, THREAD_CONTEXT + 8 * 4(%r12)
        movq    THREAD_ENGINE_SP(%r12), %rsp
        movq    %r12, %rdi
        call    stalker_thread_begin
        jmp     stalker_resume

        .section .rodata
        .p2align 3
all_signals:
        .quad   -1

        .section .note.GNU-stack, "", @progbits
