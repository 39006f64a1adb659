/* SPDX-License-Identifier: MIT */
/* What is public: everything else in the library is hidden. */
#ifndef GAIT_LIBGAIT_EXPORT_H
#define GAIT_LIBGAIT_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

#endif
