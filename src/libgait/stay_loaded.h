/* SPDX-License-Identifier: MIT */
/* For who leaves addresses of this library with others for good. */
#ifndef GAIT_LIBGAIT_STAY_LOADED_H
#define GAIT_LIBGAIT_STAY_LOADED_H

/* From now on dlclose() does not unload this library. Any thread; not in signal handlers, nor inside the loader. */
void stay_loaded(void);

#endif
