/* SPDX-License-Identifier: MIT */
/* The style and the script of a flame graph, each a text ended by a NUL. */
        .section .rodata
        .globl  flamegraph_style, flamegraph_script
        .hidden flamegraph_style, flamegraph_script
flamegraph_style:
        .incbin "src/export/flamegraph.css"
        .byte 0
flamegraph_script:
        .incbin "src/export/flamegraph.js"
        .byte 0
        .section .note.GNU-stack, "", %progbits
