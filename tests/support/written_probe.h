/* SPDX-License-Identifier: MIT */
/*
 * Notes of static probes for tests, which choose where arguments are said to be, and what is no argument at all. For
 * asm outside of functions: `place` is a label of the unit, `semaphore` another one, or 0.
 */
#ifndef GAIT_TESTS_WRITTEN_PROBE_H
#define GAIT_TESTS_WRITTEN_PROBE_H

#define WRITTEN_PROBE(place, semaphore, provider, name, arguments)                                                     \
    "        .pushsection .note.stapsdt, \"?\", \"note\"\n"                                                            \
    "        .balign 4\n"                                                                                              \
    "        .4byte  992f - 991f, 994f - 993f, 3\n"                                                                    \
    "991:    .asciz  \"stapsdt\"\n"                                                                                    \
    "992:    .balign 4\n"                                                                                              \
    "993:    .8byte  " place ", _.stapsdt.base, " semaphore "\n"                                                       \
    "        .asciz  \"" provider "\"\n"                                                                               \
    "        .asciz  \"" name "\"\n"                                                                                   \
    "        .asciz  \"" arguments "\"\n"                                                                              \
    "994:    .balign 4\n"                                                                                              \
    "        .popsection\n"                                                                                            \
    "        .ifndef _.stapsdt.base\n"                                                                                 \
    "        .pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                                \
    "        .weak   _.stapsdt.base\n"                                                                                 \
    "        .hidden _.stapsdt.base\n"                                                                                 \
    "_.stapsdt.base:\n"                                                                                                \
    "        .space  1\n"                                                                                              \
    "        .popsection\n"                                                                                            \
    "        .endif\n"

#endif
