/* SPDX-License-Identifier: MIT */
/* The agent, as part of the controller: agent_image to agent_image_end. */
        .section .rodata
        .globl  agent_image, agent_image_end
        .hidden agent_image, agent_image_end
        .balign 4096
agent_image:
        .incbin AGENT_IMAGE_FILE
agent_image_end:
        .section .note.GNU-stack, "", %progbits
