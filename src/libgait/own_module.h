/* SPDX-License-Identifier: MIT */
/* Where this library's own code is. */
#ifndef GAIT_LIBGAIT_OWN_MODULE_H
#define GAIT_LIBGAIT_OWN_MODULE_H

#include <stdint.h>

/* All code of the core, which lies together in one piece. Any thread. */
void own_module_find(uint64_t *start_out, uint64_t *end_out);

#endif
