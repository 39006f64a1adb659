/* SPDX-License-Identifier: MIT */
/* The program debuginfod_fetch, as part of the command: fetch_image to fetch_image_end. */
        .section .rodata
        .globl  fetch_image, fetch_image_end
        .hidden fetch_image, fetch_image_end
        .balign 16
fetch_image:
        .incbin FETCH_IMAGE_FILE
fetch_image_end:
        .section .note.GNU-stack, "", %progbits
