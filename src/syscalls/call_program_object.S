/* SPDX-License-Identifier: MIT */
/* The programs for the kernel that see system calls, as clang has made them: an ELF file. */
        .section .rodata
        .balign 8
        .globl  call_program_object, call_program_object_end
        .hidden call_program_object, call_program_object_end
call_program_object:
        .incbin CALL_PROGRAM_FILE
call_program_object_end:
        .section .note.GNU-stack, "", %progbits
