/* SPDX-License-Identifier: MIT */
/* The colours of a flame graph: of a name always the same, alike in a file, warm in the program. Stateless. */
#ifndef GAIT_EXPORT_FLAMEGRAPH_COLOUR_H
#define GAIT_EXPORT_FLAMEGRAPH_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

/* As 0xrrggbb, light enough for black text. module is "" for what is in no file: grey. */
uint32_t flamegraph_colour(const char *name, const char *module, bool is_program);

#endif
