/* SPDX-License-Identifier: MIT */
/*
 * The gates that stubs of system calls jump to: see hook/system_call_gate.h. r11 is what the stub knows; it and rcx are
 * the kernel's to overwrite, so they are free here. The 128 bytes below the stack pointer may be in use, and are stepped
 * over. All else, and the flags, is the program's when a gate goes on.
 *
 * C runs where the program's stack is if that is the thread's own and there is enough of it. Coroutines and handlers may
 * have little, and nobody knows how much: then C runs on the thread's stack for listeners, or on one that is mapped for
 * it, with signals blocked, since handlers would come there and are not to see it.
 */
#include "arch/x86_64/host/gate.inc"
#include "arch/x86_64/host/own_call.inc"

#include <asm/unistd.h>

#define RED_ZONE 128
#define ENTER_BYTES (RED_ZONE + 32)
#define ENTER_RAX 0
#define ENTER_RDX 8
#define ENTER_RSI 16
#define ENTER_FLAGS 24
#define ENTER_KIND 28

/* What C is not to use up of the thread's own stack; how large one is that is mapped; what of <asm/signal.h> and
   <linux/mman.h> is needed. */
#define STACK_ENOUGH 32768
#define STACK_BYTES 65536
#define SIGNALS_BLOCK 0
#define SIGNALS_SET 2
#define READ_WRITE 3
#define PRIVATE_ANONYMOUS 0x22
#define ERRORS 4095

        .text
        /* A struct system_call_frame at rsp, which C can be called on; rbx is put behind it, and then the stack pointer. */
        .macro SAVE_FRAME
        leaq    -RED_ZONE(%rsp), %rsp
        pushfq
        cld
        pushq   %rbx
        movq    %rsp, %rbx
        leaq    -CALL_FRAME_BYTES(%rsp), %rsp
        andq    $-16, %rsp
        movq    %rdi, CALL_FRAME_ARGUMENTS + 8 * 0(%rsp)
        movq    %rsi, CALL_FRAME_ARGUMENTS + 8 * 1(%rsp)
        movq    %rdx, CALL_FRAME_ARGUMENTS + 8 * 2(%rsp)
        movq    %r10, CALL_FRAME_ARGUMENTS + 8 * 3(%rsp)
        movq    %r8, CALL_FRAME_ARGUMENTS + 8 * 4(%rsp)
        movq    %r9, CALL_FRAME_ARGUMENTS + 8 * 5(%rsp)
        movq    %r11, CALL_FRAME_STUB(%rsp)
        movq    (%rbx), %rdx
        movq    %rdx, CALL_FRAME_REGISTERS + 8 * 0(%rsp)
        movq    %rbp, CALL_FRAME_REGISTERS + 8 * 1(%rsp)
        movq    %r12, CALL_FRAME_REGISTERS + 8 * 2(%rsp)
        movq    %r13, CALL_FRAME_REGISTERS + 8 * 3(%rsp)
        movq    %r14, CALL_FRAME_REGISTERS + 8 * 4(%rsp)
        movq    %r15, CALL_FRAME_REGISTERS + 8 * 5(%rsp)
        leaq    RED_ZONE + 16(%rbx), %rdx
        movq    %rdx, CALL_FRAME_SP(%rsp)
        .endm

        /* Leaves rcx as it is. */
        .macro RESTORE_FRAME
        movq    CALL_FRAME_ARGUMENTS + 8 * 0(%rsp), %rdi
        movq    CALL_FRAME_ARGUMENTS + 8 * 1(%rsp), %rsi
        movq    CALL_FRAME_ARGUMENTS + 8 * 2(%rsp), %rdx
        movq    CALL_FRAME_ARGUMENTS + 8 * 3(%rsp), %r10
        movq    CALL_FRAME_ARGUMENTS + 8 * 4(%rsp), %r8
        movq    CALL_FRAME_ARGUMENTS + 8 * 5(%rsp), %r9
        movq    CALL_FRAME_STUB(%rsp), %r11
        movq    %rbx, %rsp
        popq    %rbx
        popfq
        leaq    RED_ZONE(%rsp), %rsp
        .endm

        /* Whether C can run where the stack is: rcx is the thread; uses rdx. */
        .macro CHECK_STACK otherwise
        leaq    -STACK_ENOUGH(%rsp), %rdx
        CHECK_OWN_STACK %rdx, \otherwise
        .endm

        /* These use what the frame has. */
        .macro BLOCK_SIGNALS
        movl    $__NR_rt_sigprocmask, %eax
        movl    $SIGNALS_BLOCK, %edi
        leaq    all_signals(%rip), %rsi
        leaq    CALL_FRAME_MASK(%rsp), %rdx
        movl    $8, %r10d
        call    make_own_call
        .endm

        .macro UNBLOCK_SIGNALS
        movl    $__NR_rt_sigprocmask, %eax
        movl    $SIGNALS_SET, %edi
        leaq    CALL_FRAME_MASK(%rsp), %rsi
        xorl    %edx, %edx
        movl    $8, %r10d
        call    make_own_call
        .endm

        /* The thread of the frame is on its stack for listeners; rdi is the thread, rsi the frame. Signals are blocked. */
        .macro GO_ELSEWHERE
        movq    %rsp, %rsi
        movl    $1, CALL_FRAME_ELSEWHERE(%rsi)
        movq    CALL_FRAME_KEPT(%rsi), %rdi
        movq    %rsi, HOOK_THREAD_GATE_SP(%rdi)
        movb    $HOOK_LISTENING_RUN, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rdi)
        movq    HOOK_THREAD_STACK_TOP(%rdi), %rsp
        pushq   %rsi
        pushq   %rdi
        .endm

        .macro COME_BACK
        popq    %rdi
        popq    %rsp
        movb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rdi)
        .endm

        .section .rodata
        .balign 8
all_signals:
        .quad   -1
        .text

make_own_call:
        OWN_CALL_ANYWHERE call_gate
        ret

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* rcx is its kind. */
FUNCTION system_call_gate_enter
        leaq    -ENTER_BYTES(%rsp), %rsp
        movq    %rax, ENTER_RAX(%rsp)
        movq    %rdx, ENTER_RDX(%rsp)
        movq    %rsi, ENTER_RSI(%rsp)
        movl    %ecx, ENTER_KIND(%rsp)
        FLAGS_TO_EAX
        movl    %eax, ENTER_FLAGS(%rsp)
        cmpl    $CALL_KIND_ORDINARY, %ecx
        jne     1f
        FIND_THREAD 1f
        /* A handler that comes before the place is taken, or behind that, leaves all as it is here. */
        movl    HOOK_THREAD_CALL_NEXT(%rcx), %esi
        incl    HOOK_THREAD_CALL_NEXT(%rcx)
        andl    $(HOOK_THREAD_CALLS_MAX - 1), %esi
        shll    $5, %esi
        addq    HOOK_THREAD_CALLS(%rcx), %rsi
        movq    ENTER_RAX(%rsp), %rax
        movq    %rax, HOOK_CALL_NUMBER(%rsi)
        leaq    ENTER_BYTES(%rsp), %rax
        movq    %rax, HOOK_CALL_SP(%rsi)
        movq    $0, HOOK_CALL_NOTE(%rsi)
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %rax, HOOK_CALL_TIME(%rsi)
        movl    ENTER_FLAGS(%rsp), %eax
        FLAGS_FROM_EAX
        movq    ENTER_RAX(%rsp), %rax
        movq    ENTER_RDX(%rsp), %rdx
        movq    ENTER_RSI(%rsp), %rsi
        leaq    ENTER_BYTES(%rsp), %rsp
        jmpq    *CALL_STUB_CALL_AT(%r11)

1:      movl    ENTER_FLAGS(%rsp), %eax
        FLAGS_FROM_EAX
        movl    ENTER_KIND(%rsp), %ecx
        movq    ENTER_RAX(%rsp), %rax
        movq    ENTER_RDX(%rsp), %rdx
        leaq    ENTER_BYTES(%rsp), %rsp
        SAVE_FRAME
        movq    %rax, CALL_FRAME_NUMBER(%rsp)
        movl    %ecx, CALL_FRAME_KIND(%rsp)
        FIND_THREAD 3f
        CHECK_STACK 2f
        jmp     enter_here
        /* While a listener runs, its stack is in use. */
2:      cmpb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        jne     enter_here
        movq    %rcx, CALL_FRAME_KEPT(%rsp)
        BLOCK_SIGNALS
        GO_ELSEWHERE
        movq    %rsi, %rdi
        call    system_call_gate_entered
        COME_BACK
        movl    %eax, CALL_FRAME_KIND(%rsp)
        UNBLOCK_SIGNALS
        jmp     go_on

        /* The first call of a thread, of which nothing is known. */
3:      BLOCK_SIGNALS
        movl    $__NR_mmap, %eax
        xorl    %edi, %edi
        movl    $STACK_BYTES, %esi
        movl    $READ_WRITE, %edx
        movl    $PRIVATE_ANONYMOUS, %r10d
        movq    $-1, %r8
        xorl    %r9d, %r9d
        call    make_own_call
        movq    %rax, CALL_FRAME_KEPT(%rsp)
        movl    $0, CALL_FRAME_ELSEWHERE(%rsp)
        movq    %rsp, %rdi
        cmpq    $-ERRORS, %rax
        jae     4f
        movl    $1, CALL_FRAME_ELSEWHERE(%rsp)
        leaq    STACK_BYTES(%rax), %rsp
4:      pushq   %rdi
        pushq   %rdi
        call    system_call_gate_entered
        popq    %rdi
        popq    %rsp
        movl    %eax, CALL_FRAME_KIND(%rsp)
        cmpl    $0, CALL_FRAME_ELSEWHERE(%rsp)
        je      5f
        movl    $__NR_munmap, %eax
        movq    CALL_FRAME_KEPT(%rsp), %rdi
        movl    $STACK_BYTES, %esi
        call    make_own_call
5:      UNBLOCK_SIGNALS
        jmp     go_on
END system_call_gate_enter

FUNCTION system_call_gate_enter_any
        SAVE_FRAME
        movq    %rax, CALL_FRAME_NUMBER(%rsp)
        movl    %ecx, CALL_FRAME_KIND(%rsp)
enter_here:
        movl    $0, CALL_FRAME_ELSEWHERE(%rsp)
        movq    %rsp, %rdi
        call    system_call_gate_entered
        movl    %eax, CALL_FRAME_KIND(%rsp)
        /* As the frame's kind says by now. */
go_on:
        movl    CALL_FRAME_KIND(%rsp), %ecx
        movq    CALL_FRAME_NUMBER(%rsp), %rax
        cmpl    $CALL_MADE_UNTOLD, %ecx
        je      2f
        jb      1f
        cmpl    $CALL_MADE_BY_CHILD, %ecx
        je      3f
        movq    CALL_FRAME_RESULT(%rsp), %rax
        RESTORE_FRAME
        jmpq    *CALL_STUB_AFTER(%r11)
1:      RESTORE_FRAME
        jmpq    *CALL_STUB_CALL_AT(%r11)
2:      RESTORE_FRAME
        jmpq    *CALL_STUB_PLAIN_AT(%r11)
3:      RESTORE_FRAME
        jmpq    *CALL_STUB_CHILD_AT(%r11)
END system_call_gate_enter_any

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* rax is the result. */
FUNCTION system_call_gate_leave
        SAVE_FRAME
        movq    %rax, CALL_FRAME_RESULT(%rsp)
        FIND_THREAD left_unknown
        CHECK_STACK 2f
1:      movq    %rcx, %rdi
        movq    %rsp, %rsi
        call    system_call_gate_left
        movq    CALL_FRAME_RESULT(%rsp), %rax
        RESTORE_FRAME
        jmpq    *CALL_STUB_AFTER(%r11)

2:      cmpb    $0, HOOK_THREAD_IGNORING + HOOK_IGNORING_LISTENER(%rcx)
        jne     1b
        movq    %rcx, CALL_FRAME_KEPT(%rsp)
        BLOCK_SIGNALS
        GO_ELSEWHERE
        call    system_call_gate_left
        COME_BACK
        UNBLOCK_SIGNALS
        movq    CALL_FRAME_RESULT(%rsp), %rax
        RESTORE_FRAME
        jmpq    *CALL_STUB_AFTER(%r11)
END system_call_gate_leave

FUNCTION system_call_gate_leave_any
        SAVE_FRAME
        movq    %rax, CALL_FRAME_RESULT(%rsp)
left_unknown:
        movq    %rsp, %rdi
        call    system_call_gate_left_unknown
        movq    CALL_FRAME_RESULT(%rsp), %rax
        RESTORE_FRAME
        jmpq    *CALL_STUB_AFTER(%r11)
END system_call_gate_leave_any

        .section .note.GNU-stack, "", @progbits
