/* SPDX-License-Identifier: MIT */
/* The programs for the kernel, as clang has made them: an ELF file. */
        .section .rodata
        .balign 8
        .globl  kernel_program_object, kernel_program_object_end
        .hidden kernel_program_object, kernel_program_object_end
kernel_program_object:
        .incbin KERNEL_PROGRAM_FILE
kernel_program_object_end:
        .section .note.GNU-stack, "", %progbits
