/* SPDX-License-Identifier: MIT */
/* This library, among the modules of the program: where its own code is, and that it stays there. */
#ifndef GAIT_LIBGAIT_OWN_MODULE_H
#define GAIT_LIBGAIT_OWN_MODULE_H

#include <stdint.h>

/* All code of the core, which lies together in one piece. Any thread. */
void own_module_find(uint64_t *start_out, uint64_t *end_out);

/*
 * From now on dlclose() does not unload this library, for who leaves addresses of it with others for good. Any thread;
 * not in signal handlers, nor inside the loader.
 */
void own_module_stay_loaded(void);

#endif
