/* SPDX-License-Identifier: MIT */
#ifndef GAIT_VERSION_H
#define GAIT_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define GAIT_VERSION_MAJOR 0
#define GAIT_VERSION_MINOR 1
#define GAIT_VERSION_PATCH 0

/* The version of the library in use, "major.minor.patch". A constant; callable from any thread. */
const char *gait_version(void);

#ifdef __cplusplus
}
#endif

#endif
