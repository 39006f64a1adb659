/* SPDX-License-Identifier: MIT */
/*
 * The gates that stubs of system calls jump to: see hook/system_call_gate.h. r11 is what the stub knows; it and rcx are
 * the kernel's to overwrite, so they are free here. The 128 bytes below the stack pointer may be in use, and are stepped
 * over. All else, and the flags, is the program's when a gate goes on.
 */
#include "hook/hook_thread_layout.h"

#define RED_ZONE 128
#define ENTER_BYTES (RED_ZONE + 32)
#define ENTER_RAX 0
#define ENTER_RDX 8
#define ENTER_RSI 16
#define ENTER_FLAGS 24
#define ENTER_KIND 28

        .text
        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .endm

        .macro END name
        .size   \name, . - \name
        .endm

        /* rcx = the thread's state; uses rdx. */
        .macro FIND_THREAD otherwise
        rdgsbase %rcx
        movq    %rcx, %rdx
        subq    hook_arena_start(%rip), %rdx
        cmpq    hook_arena_bytes(%rip), %rdx
        jae     \otherwise
        rdfsbase %rdx
        incq    %rdx
        cmpq    HOOK_THREAD_OWNER(%rcx), %rdx
        jne     \otherwise
        .endm

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

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* rcx is its kind. */
FUNCTION system_call_gate_enter
        leaq    -ENTER_BYTES(%rsp), %rsp
        movq    %rax, ENTER_RAX(%rsp)
        movq    %rdx, ENTER_RDX(%rsp)
        movq    %rsi, ENTER_RSI(%rsp)
        movl    %ecx, ENTER_KIND(%rsp)
        lahf
        seto    %al
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
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %rax, HOOK_CALL_TIME(%rsi)
        movl    ENTER_FLAGS(%rsp), %eax
        addb    $0x7f, %al
        sahf
        movq    ENTER_RAX(%rsp), %rax
        movq    ENTER_RDX(%rsp), %rdx
        movq    ENTER_RSI(%rsp), %rsi
        leaq    ENTER_BYTES(%rsp), %rsp
        jmpq    *CALL_STUB_CALL_AT(%r11)

1:      movl    ENTER_FLAGS(%rsp), %eax
        addb    $0x7f, %al
        sahf
        movl    ENTER_KIND(%rsp), %ecx
        movq    ENTER_RAX(%rsp), %rax
        movq    ENTER_RDX(%rsp), %rdx
        leaq    ENTER_BYTES(%rsp), %rsp
        jmp     system_call_gate_enter_any
END system_call_gate_enter

FUNCTION system_call_gate_enter_any
        SAVE_FRAME
        movq    %rax, CALL_FRAME_NUMBER(%rsp)
        movl    %ecx, CALL_FRAME_KIND(%rsp)
        movq    %rsp, %rdi
        call    system_call_gate_entered
        movl    %eax, %ecx
        movq    CALL_FRAME_NUMBER(%rsp), %rax
        cmpl    $CALL_MADE_UNTOLD, %ecx
        je      2f
        ja      3f
        RESTORE_FRAME
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
        movq    %rcx, %rdi
        movq    %rsp, %rsi
        call    system_call_gate_left
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
