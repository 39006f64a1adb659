/* SPDX-License-Identifier: MIT */
/*
 * The gates that stubs of hooked functions call: see hook/hook_gate.h. At all of them (%rsp) is the return address in
 * the stub; behind it is the slot, where the hooked function's return address is, or was. What is below the stack
 * pointer is free, as it is when a function is entered or has returned; signal handlers keep off 128 bytes of it.
 *
 * Registers and flags that a gate uses are put there, and back. All else is left alone.
 */
#include "arch/x86_64/host/gate.inc"
#include "arch/x86_64/host/gate_layout.h"
#include "hook/go/goroutine_layout.h"

/* Single step, direction and alignment checks: off in functions, and not put back by sahf. */
#define FLAGS_ODD 0x40500

        .section .rodata.hook_gate_records, "a"
        .p2align 2
        .globl  hook_gate_records
        .hidden hook_gate_records
hook_gate_records:

        .text

/* ---- the thread and its calls ------------------------------------------------------------------------------------- */

        /*
         * rax, rcx, rdx, rsi and the flags are free from here on. Whole words: a stack may end here, and there are
         * handlers that take a fault for that only if its address is aligned.
         */
        .macro SAVE_SCRATCH
        movq    %rax, -8(%rsp)
        movq    %rcx, -16(%rsp)
        movq    %rdx, -24(%rsp)
        movq    %rsi, -32(%rsp)
        FLAGS_TO_EAX
        movq    %rax, -40(%rsp)
        .endm

        .macro RESTORE_SCRATCH
        movl    -40(%rsp), %eax
        movq    -32(%rsp), %rsi
        movq    -24(%rsp), %rdx
        movq    -16(%rsp), %rcx
        FLAGS_FROM_EAX
        movq    -8(%rsp), %rax
        .endm

        /* Read as they are written: a word that was just written in parts would be waited for. */
        .macro CHECK_IGNORING otherwise
        cmpb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        jne     \otherwise
        cmpw    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_ASKED(%rcx)
        jne     \otherwise
        .endm

        /*
         * rsi = a new invocation that is complete but for its slot; uses rax and rdx. Its depth is written while it is
         * nobody's yet: a signal handler that uses it meanwhile writes the same. Goes to 5 where the innermost one is
         * not outside of this, and comes back to 4 if it is no worse than a JUMPER. Where a thread has other stacks there
         * seems to be no room: then it goes to 10, and comes back to 11 if it has not changed to one of them.
         */
        .macro PUSH otherwise, above
        CHECK_IGNORING \otherwise
        movq    HOOK_THREAD_TOP(%rcx), %rsi
        leaq    8 + \above(%rsp), %rdx
        cmpq    %rdx, INVOCATION_SLOT - INVOCATION_BYTES(%rsi)
        jbe     5f
4:      cmpq    HOOK_THREAD_LIMIT(%rcx), %rsi
        jae     10f
11:     movl    INVOCATION_DEPTH - INVOCATION_BYTES(%rsi), %eax
        incl    %eax
        movq    %rax, INVOCATION_DEPTH(%rsi)
        leaq    INVOCATION_BYTES(%rsi), %rax
        movq    %rax, HOOK_THREAD_TOP(%rcx)
        movq    8 + \above(%rsp), %rax
        movq    %rax, INVOCATION_RETURN(%rsi)
        movq    \above(%rsp), %rax
        movq    %rax, INVOCATION_STUB(%rsi)
        .endm

        /*
         * Behind the gate's end: the innermost one is over, or it is that of a function which jumped to this one, so that
         * its landing is what this one returns to. Of those there may be some, but no endless row: see
         * return_tracking.c. Only what is below a call is looked at, so there is something.
         */
        .macro JUMPER otherwise
5:      jb      \otherwise
        movq    INVOCATION_STUB - INVOCATION_BYTES(%rsi), %rax
        addq    $STUB_LANDING, %rax
        cmpq    %rax, (%rdx)
        jne     \otherwise
        cmpq    %rdx, INVOCATION_SLOT - 2 * INVOCATION_BYTES(%rsi)
        jne     4b
        cmpq    %rdx, INVOCATION_SLOT - 3 * INVOCATION_BYTES(%rsi)
        jne     4b
        cmpq    %rdx, INVOCATION_SLOT - 4 * INVOCATION_BYTES(%rsi)
        jne     4b
        jmp     \otherwise
10:     cmpq    HOOK_THREAD_FULL(%rcx), %rsi
        jae     \otherwise
        cmpq    HOOK_THREAD_FLOOR(%rcx), %rdx
        ja      11b
        jmp     \otherwise
        .endm

        /* Makes it a call. Before this it is in the making. */
        .macro PUSHED above
        leaq    8 + \above(%rsp), %rdx
        movq    %rdx, INVOCATION_SLOT(%rsi)
        .endm

        /* rsi = the innermost invocation, which is this one's, and is popped; its return address is in the slot. */
        .macro POP otherwise, above
        movq    HOOK_THREAD_TOP(%rcx), %rsi
        leaq    8 + \above(%rsp), %rdx
        subq    $INVOCATION_BYTES, %rsi
        cmpq    %rdx, INVOCATION_SLOT(%rsi)
        jne     \otherwise
        movq    \above(%rsp), %rax
        subq    $STUB_LEFT, %rax
        cmpq    %rax, INVOCATION_STUB(%rsi)
        jne     \otherwise
        movq    INVOCATION_RETURN(%rsi), %rax
        movq    %rax, 8 + \above(%rsp)
        notq    %rdx
        .endm

        .macro POPPED
        movq    %rdx, INVOCATION_SLOT(%rsi)
        movq    %rsi, HOOK_THREAD_TOP(%rcx)
        .endm

        /*
         * Writes a record of the invocation in rsi, or of what is `deeper`; uses rax and rdx. Its place is taken by one
         * instruction, so that signal handlers get others. The header is written last. Flags tell by zero that the
         * buffer is full. A handler may never come back: from 6 to 7 it is for hook_interruption.c to write it.
         */
        .macro RECORD stub_offset, kind, deeper=0
        rdtsc
        shlq    $32, %rdx
        orq     %rax, %rdx
        movl    $HOOK_RECORD_BYTES, %eax
        xaddq   %rax, HOOK_THREAD_POSITION(%rcx)
6:      movq    %rdx, HOOK_RECORD_TIME(%rax)
        movl    INVOCATION_DEPTH(%rsi), %edx
        .if \deeper
        addl    $\deeper, %edx
        .endif
        movl    %edx, HOOK_RECORD_DEPTH(%rax)
        movq    (%rsp), %rdx
        movl    STUB_HEADER - \stub_offset(%rdx), %edx
        .if \kind
        addl    $\kind, %edx
        .endif
7:      movl    %edx, (%rax)
        addl    $HOOK_RECORD_BYTES, %eax
        testl   $HOOK_RECORD_FULL, %eax
        .pushsection .rodata.hook_gate_records, "a"
        .long   6b - ., 7b - 6b, STUB_HEADER - \stub_offset, \kind, \deeper
        .popsection
        .endm

        /* From within a gate, whose scratch is below the stack pointer. */
        .macro CALL_FULL
        leaq    -64(%rsp), %rsp
        call    full_gate
        leaq    64(%rsp), %rsp
        .endm

/* ---- recording --------------------------------------------------------------------------------------------------- */

FUNCTION hook_gate_enter_record
        SAVE_SCRATCH
        FIND_THREAD enter_otherwise
        PUSH    enter_otherwise, 0
        RECORD  0, 0
        jz      2f
1:      PUSHED  0
        RESTORE_SCRATCH
        ret     $8
2:      PUSHED  0
        CALL_FULL
        RESTORE_SCRATCH
        ret     $8
        JUMPER  enter_otherwise
END hook_gate_enter_record

FUNCTION hook_gate_leave_record
        SAVE_SCRATCH
        FIND_THREAD leave_otherwise
        POP     leave_otherwise, 0
        POPPED
        RECORD  STUB_LEFT, 1
        jz      2f
1:      RESTORE_SCRATCH
        ret
2:      CALL_FULL
        jmp     1b
END hook_gate_leave_record

/* Its leaving is not going to be seen: EVENT_RECORD_PASSED. */
FUNCTION hook_gate_once_record
        SAVE_SCRATCH
        FIND_THREAD once_otherwise
        CHECK_IGNORING once_otherwise
        movq    HOOK_THREAD_TOP(%rcx), %rsi
        subq    $INVOCATION_BYTES, %rsi
        RECORD  0, 3, 1
        jz      2f
1:      RESTORE_SCRATCH
        ret
2:      CALL_FULL
        jmp     1b
END hook_gate_once_record

/*
 * The stack is where it was when the function was entered, or below that; r14 is the goroutine. What is told of it is
 * how far the stack's end is above, and before that, the slow way, that the thread runs it now.
 */
FUNCTION hook_gate_goroutine_record
        SAVE_SCRATCH
        FIND_THREAD once_otherwise
        CHECK_IGNORING once_otherwise
        movq    hook_goroutine_number_at(%rip), %rax
        movq    (%r14, %rax), %rax
        testq   %rax, %rax
        jz      once_otherwise
        cmpq    HOOK_THREAD_GOROUTINE(%rcx), %rax
        jne     once_otherwise
        movq    GOROUTINE_STACK_END(%r14), %rsi
        leaq    8(%rsp), %rdx
        subq    %rdx, %rsi
        orl     $EVENT_HEIGHT_BIT, %esi
        rdtsc
        shlq    $32, %rdx
        orq     %rax, %rdx
        movl    $HOOK_RECORD_BYTES, %eax
        xaddq   %rax, HOOK_THREAD_POSITION(%rcx)
        movq    %rdx, HOOK_RECORD_TIME(%rax)
        movl    %esi, HOOK_RECORD_DEPTH(%rax)
        movq    (%rsp), %rdx
        movl    STUB_HEADER(%rdx), %edx
        movl    %edx, (%rax)
        addl    $HOOK_RECORD_BYTES, %eax
        testl   $HOOK_RECORD_FULL, %eax
        jz      2f
1:      RESTORE_SCRATCH
        ret
2:      CALL_FULL
        jmp     1b
END hook_gate_goroutine_record

/* ---- listening --------------------------------------------------------------------------------------------------- */

        /*
         * Gates that call listeners begin with the flags on the stack: (%rsp) are the flags, then come the return address
         * in the stub and the slot.
         */
        .macro SAVE_LISTENING
        pushfq
        movq    %rax, -8(%rsp)
        movq    %rcx, -16(%rsp)
        movq    %rdx, -24(%rsp)
        movq    %rsi, -32(%rsp)
        .endm

        .macro RESTORE_LISTENING
        movq    -32(%rsp), %rsi
        movq    -24(%rsp), %rdx
        movq    -16(%rsp), %rcx
        movq    -8(%rsp), %rax
        popfq
        .endm

        /*
         * On a signal handler's stack signals must be blocked while listeners run: the kernel would begin another
         * handler where that one is, since it does not see it in use. Elsewhere than on the thread's own stack it may be
         * one. rdx is the slot; uses rax.
         */
        .macro CHECK_STACK otherwise
        movq    %rdx, %rax
        CHECK_OWN_STACK %rax, \otherwise
        .endm

        .macro BEGIN_LISTENING
        movq    %rsp, HOOK_THREAD_GATE_SP(%rcx)
        movb    $HOOK_LISTENING_GATE, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        .endm

        /* To the context at rcx + HOOK_THREAD_CONTEXT; rax, rcx, rdx, rsi are where SAVE_LISTENING put them. */
        .macro SAVE_CONTEXT
        movq    %rbx, HOOK_THREAD_CONTEXT + 8 * 3(%rcx)
        movq    %rbp, HOOK_THREAD_CONTEXT + 8 * 5(%rcx)
        movq    %rdi, HOOK_THREAD_CONTEXT + 8 * 7(%rcx)
        SAVE_R8_TO_R15 HOOK_THREAD_CONTEXT, %rcx
        movq    -8(%rsp), %rax
        movq    -16(%rsp), %rdx
        movq    -24(%rsp), %r8
        movq    -32(%rsp), %r9
        movq    %rax, HOOK_THREAD_CONTEXT + 8 * 0(%rcx)
        movq    %rdx, HOOK_THREAD_CONTEXT + 8 * 1(%rcx)
        movq    %r8, HOOK_THREAD_CONTEXT + 8 * 2(%rcx)
        movq    %r9, HOOK_THREAD_CONTEXT + 8 * 6(%rcx)
        .endm

        /*
         * rbx = the stack pointer, r12 = the thread, r13 = the flags, which are in the context, too; the program's stack
         * pointer is `above` ours. Then on the listeners' stack.
         */
        .macro SWITCH above
        leaq    \above(%rsp), %rax
        movq    (%rsp), %r13
        movq    %rax, HOOK_THREAD_CONTEXT + CONTEXT_RSP(%rcx)
        movq    %r13, HOOK_THREAD_CONTEXT + CONTEXT_FLAGS(%rcx)
        movq    %rsp, %rbx
        movq    %rcx, %r12
        movq    HOOK_THREAD_STACK_TOP(%rcx), %rsp
        movb    $HOOK_LISTENING_RUN, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        testl   $FLAGS_ODD, %r13d
        jz      9f
        pushq   $2
        popfq
9:
        .endm

        /*
         * Back on the program's stack with all of the context but its stack pointer. What is needed last is put below
         * the stack pointer, since the context may be used by others once the thread listens again.
         */
        .macro RESTORE_CONTEXT
        movb    $HOOK_LISTENING_GATE, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%r12)
        movq    %rbx, %rsp
        movq    %r12, %rcx
        movq    HOOK_THREAD_CONTEXT + CONTEXT_FLAGS(%rcx), %rdx
        cmpq    %r13, %rdx
        jne     7f
        testl   $FLAGS_ODD, %edx
        jnz     7f
8:      movq    HOOK_THREAD_CONTEXT + 8 * 0(%rcx), %rax
        movq    HOOK_THREAD_CONTEXT + 8 * 1(%rcx), %rsi
        movq    %rax, -8(%rsp)
        movq    %rsi, -16(%rsp)
        movb    %dh, %al
        andb    $8, %al
        addb    $0x78, %al
        movb    %dl, %ah
        movq    HOOK_THREAD_CONTEXT + 8 * 2(%rcx), %rdx
        movq    HOOK_THREAD_CONTEXT + 8 * 3(%rcx), %rbx
        movq    HOOK_THREAD_CONTEXT + 8 * 5(%rcx), %rbp
        movq    HOOK_THREAD_CONTEXT + 8 * 6(%rcx), %rsi
        movq    HOOK_THREAD_CONTEXT + 8 * 7(%rcx), %rdi
        LOAD_R8_TO_R15 HOOK_THREAD_CONTEXT, %rcx
        sahf
        movb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        movq    -16(%rsp), %rcx
        movq    -8(%rsp), %rax
        leaq    8(%rsp), %rsp
        .endm

        /* Behind the gate's end: flags that a listener has changed, or that sahf does not know. */
        .macro RARE_FLAGS
7:      leaq    -64(%rsp), %rsp
        pushq   %rdx
        popfq
        leaq    64(%rsp), %rsp
        jmp     8b
        .endm

FUNCTION hook_gate_enter_listen
        SAVE_LISTENING
        FIND_THREAD enter_listening_otherwise
        leaq    16(%rsp), %rdx
        CHECK_STACK enter_listening_otherwise
        PUSH    enter_listening_otherwise, 8
        movq    $0, INVOCATION_DATA(%rsi)
        PUSHED  8
        BEGIN_LISTENING
        SAVE_CONTEXT
        SWITCH  16
        movq    %rcx, %rdi
        leaq    HOOK_THREAD_CONTEXT(%rcx), %rdx
        call    listener_call_enter
        testl   %eax, %eax
        jnz     listened_jump
        RESTORE_CONTEXT
        ret     $8
        RARE_FLAGS
        JUMPER  enter_listening_otherwise
END hook_gate_enter_listen

FUNCTION hook_gate_leave_listen
        SAVE_LISTENING
        FIND_THREAD leave_listening_otherwise
        leaq    16(%rsp), %rdx
        CHECK_STACK leave_listening_otherwise
        cmpb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        jne     leave_listening_otherwise
        POP     leave_listening_otherwise, 8
        BEGIN_LISTENING
        POPPED
        SAVE_CONTEXT
        SWITCH  24
        movq    %rcx, %rdi
        leaq    HOOK_THREAD_CONTEXT(%rcx), %rdx
        call    listener_call_leave
        testl   %eax, %eax
        jnz     listened_jump
        RESTORE_CONTEXT
        ret
        RARE_FLAGS
END hook_gate_leave_listen

/* A function whose return is not seen, or an instruction: the stub has made room for what is below the stack pointer. */
FUNCTION hook_gate_once_listen
        SAVE_LISTENING
        FIND_THREAD once_listening_otherwise
        leaq    16(%rsp), %rdx
        CHECK_STACK once_listening_otherwise
        CHECK_IGNORING once_listening_otherwise
        movq    8(%rsp), %rsi
        BEGIN_LISTENING
        SAVE_CONTEXT
        SWITCH  16
        testl   $HOOK_PART_PROBE, STUB_PARTS(%rsi)
        jz      1f
        addq    $128, HOOK_THREAD_CONTEXT + CONTEXT_RSP(%rcx)
1:      movq    %rcx, %rdi
        leaq    HOOK_THREAD_CONTEXT(%rcx), %rdx
        call    listener_call_once
        testl   %eax, %eax
        jnz     listened_jump
        RESTORE_CONTEXT
        ret
        RARE_FLAGS
END hook_gate_once_listen

/* A listener has sent the thread elsewhere: with the context of r12. */
listened_jump:
        movb    $HOOK_LISTENING_GATE, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%r12)
        movq    %rbx, %rsp
        movq    HOOK_THREAD_CONTEXT + CONTEXT_RSP(%r12), %rax
        leaq    HOOK_THREAD_CONTEXT(%r12), %rbx
        movq    CONTEXT_PC(%rbx), %rcx
        movq    CONTEXT_FLAGS(%rbx), %rdx
        movq    8 * 0(%rbx), %rsi
        movq    8 * 3(%rbx), %rdi
        movq    8 * 12(%rbx), %r8
        movq    %rcx, -16(%rax)
        movq    %rdx, -24(%rax)
        movq    %rsi, -32(%rax)
        movq    %rdi, -40(%rax)
        movq    %r8, -48(%rax)
        movq    8 * 1(%rbx), %rcx
        movq    8 * 2(%rbx), %rdx
        movq    8 * 5(%rbx), %rbp
        movq    8 * 6(%rbx), %rsi
        movq    8 * 7(%rbx), %rdi
        movq    8 * 8(%rbx), %r8
        movq    8 * 9(%rbx), %r9
        movq    8 * 10(%rbx), %r10
        movq    8 * 11(%rbx), %r11
        movq    8 * 13(%rbx), %r13
        movq    8 * 14(%rbx), %r14
        movq    8 * 15(%rbx), %r15
        leaq    -48(%rax), %rsp
        movb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%r12)
        popq    %r12
        popq    %rbx
        popq    %rax
        popfq
        leaq    16(%rsp), %rsp
        jmpq    *-16(%rsp)

/* ---- the slow way ------------------------------------------------------------------------------------------------ */

enter_otherwise:
        RESTORE_SCRATCH
        jmp     hook_gate_enter_any
leave_otherwise:
        RESTORE_SCRATCH
        jmp     hook_gate_leave_any
once_otherwise:
        RESTORE_SCRATCH
        jmp     hook_gate_once_any
enter_listening_otherwise:
        RESTORE_LISTENING
        jmp     hook_gate_enter_any
leave_listening_otherwise:
        RESTORE_LISTENING
        jmp     hook_gate_leave_any
once_listening_otherwise:
        RESTORE_LISTENING
        jmp     hook_gate_once_any

        /* A frame on the stack, complete but for the pc. `above`: from the gate's stack pointer to the program's. */
        .macro SLOWLY kind, above
        pushfq
        leaq    8 - HOOK_FRAME_BYTES(%rsp), %rsp
        movq    %rax, HOOK_FRAME_REGISTERS + 8 * 0(%rsp)
        leaq    HOOK_FRAME_BYTES + \above(%rsp), %rax
        movq    %rax, HOOK_FRAME_RSP(%rsp)
        movl    $\kind, HOOK_FRAME_KIND(%rsp)
        .endm

FUNCTION hook_gate_enter_any
        SLOWLY  HOOK_GATE_ENTER, 8
        call    slow_way
        jc      1f
        leaq    HOOK_FRAME_BYTES - 8(%rsp), %rsp
        popfq
        ret     $8
1:      leaq    HOOK_FRAME_BYTES - 8(%rsp), %rsp
        popfq
        ret
END hook_gate_enter_any

FUNCTION hook_gate_leave_any
        SLOWLY  HOOK_GATE_LEAVE, 16
        call    slow_way
        leaq    HOOK_FRAME_BYTES - 8(%rsp), %rsp
        popfq
        ret
END hook_gate_leave_any

FUNCTION hook_gate_once_any
        SLOWLY  HOOK_GATE_ONCE, 8
        movq    HOOK_FRAME_BYTES(%rsp), %rax
        testl   $HOOK_PART_PROBE, STUB_PARTS(%rax)
        jz      1f
        addq    $128, HOOK_FRAME_RSP(%rsp)
1:      call    slow_way
        leaq    HOOK_FRAME_BYTES - 8(%rsp), %rsp
        popfq
        ret
END hook_gate_once_any

full_gate:
        SLOWLY  HOOK_GATE_FULL, 8
        call    slow_way
        leaq    HOOK_FRAME_BYTES - 8(%rsp), %rsp
        popfq
        ret

/*
 * Does what the frame behind the return address is for, and has all registers but the flags as they are to be then. The
 * carry tells that the call is not tracked: then the gate's return address is what it is to be. Or does not return.
 */
slow_way:
        movq    %rcx, 8 + HOOK_FRAME_REGISTERS + 8 * 1(%rsp)
        movq    %rdx, 8 + HOOK_FRAME_REGISTERS + 8 * 2(%rsp)
        movq    %rbx, 8 + HOOK_FRAME_REGISTERS + 8 * 3(%rsp)
        movq    %rbp, 8 + HOOK_FRAME_REGISTERS + 8 * 5(%rsp)
        movq    %rsi, 8 + HOOK_FRAME_REGISTERS + 8 * 6(%rsp)
        movq    %rdi, 8 + HOOK_FRAME_REGISTERS + 8 * 7(%rsp)
        SAVE_R8_TO_R15 8+HOOK_FRAME_REGISTERS, %rsp
        testl   $FLAGS_ODD, 8 + HOOK_FRAME_FLAGS(%rsp)
        jz      1f
        pushq   $2
        popfq
1:      movq    %rsp, %r12
        leaq    8(%rsp), %rbx
        movq    %rbx, %rdi
        andq    $-16, %rsp
        call    hook_gate_find
        testq   %rax, %rax
        jz      2f
        movq    %rax, %rsp
        movq    %rbx, %rdi
        call    hook_gate_track
        movq    %r12, %rsp
        andq    $-16, %rsp
        movq    %rbx, %rdi
        call    hook_gate_unblock
        testq   %rax, %rax
        jz      2f
        movq    %rax, %rsp
        movq    %rbx, %rdi
        call    hook_gate_listen
        movq    %r12, %rsp
        andq    $-16, %rsp
        movq    %rbx, %rdi
        call    hook_gate_listened
2:      movq    %r12, %rsp
        movl    HOOK_FRAME_OUTCOME(%rbx), %eax
        cmpl    $HOOK_OUTCOME_JUMP, %eax
        je      slow_jump
        cmpl    $HOOK_OUTCOME_UNTRACKED, %eax
        jne     3f
        addq    $STUB_UNTRACKED, HOOK_FRAME_BYTES(%rbx)
3:      movq    8 + HOOK_FRAME_REGISTERS + 8 * 1(%rsp), %rcx
        movq    8 + HOOK_FRAME_REGISTERS + 8 * 2(%rsp), %rdx
        movq    8 + HOOK_FRAME_REGISTERS + 8 * 3(%rsp), %rbx
        movq    8 + HOOK_FRAME_REGISTERS + 8 * 5(%rsp), %rbp
        movq    8 + HOOK_FRAME_REGISTERS + 8 * 6(%rsp), %rsi
        movq    8 + HOOK_FRAME_REGISTERS + 8 * 7(%rsp), %rdi
        LOAD_R8_TO_R15 8+HOOK_FRAME_REGISTERS, %rsp
        /* The carry says whether it is 1. */
        cmpl    $HOOK_OUTCOME_UNTRACKED, %eax
        cmc
        movq    8 + HOOK_FRAME_REGISTERS + 8 * 0(%rsp), %rax
        ret

/*
 * With the context of the frame at rbx, which may be where it is to go: all that is read is read before anything is
 * written there.
 */
slow_jump:
        movq    HOOK_FRAME_REGISTERS + 8 * 5(%rbx), %rbp
        movq    HOOK_FRAME_REGISTERS + 8 * 6(%rbx), %rsi
        movq    HOOK_FRAME_REGISTERS + 8 * 7(%rbx), %rdi
        LOAD_R8_TO_R15 HOOK_FRAME_REGISTERS, %rbx
        pushq   HOOK_FRAME_PC(%rbx)
        pushq   HOOK_FRAME_FLAGS(%rbx)
        pushq   HOOK_FRAME_REGISTERS + 8 * 0(%rbx)
        pushq   HOOK_FRAME_REGISTERS + 8 * 1(%rbx)
        pushq   HOOK_FRAME_REGISTERS + 8 * 2(%rbx)
        pushq   HOOK_FRAME_REGISTERS + 8 * 3(%rbx)
        movq    HOOK_FRAME_RSP(%rbx), %rax
        popq    -56(%rax)
        popq    -48(%rax)
        popq    -40(%rax)
        popq    -32(%rax)
        popq    -24(%rax)
        popq    -16(%rax)
        leaq    -56(%rax), %rsp
        popq    %rbx
        popq    %rdx
        popq    %rcx
        popq    %rax
        popfq
        leaq    16(%rsp), %rsp
        jmpq    *-16(%rsp)

/* ---- unwinders --------------------------------------------------------------------------------------------------- */

/* As stubs are, from their landing on: hook_unwinder_stub is where the call of an entering gate would return to. */
        .p2align 6
        .skip   STUB_HEADER - STUB_FUNCTION
        .long   0
        .long   HOOK_PART_UNWINDER
        .skip   6
        .globl  hook_unwinder_stub
        .hidden hook_unwinder_stub
hook_unwinder_stub:
        .skip   STUB_LANDING, 0xcc
        leaq    -8(%rsp), %rsp
        .byte   0x48 /* calls of stubs are a byte longer */
        call    hook_gate_leave_any
        ret

        .section .rodata.hook_gate_records, "a"
        .globl  hook_gate_records_end
        .hidden hook_gate_records_end
hook_gate_records_end:

        .section .note.GNU-stack, "", @progbits
