/* SPDX-License-Identifier: MIT */
/*
 * Why a function failed, for a program and for a person. Functions that can fail return 0 or a negated errno number and
 * take a `struct gait_error *` last, which may be NULL: on failure they fill it, on success they leave it alone. It is
 * plain storage of the caller's; nothing has to be released.
 */
#ifndef GAIT_ERROR_H
#define GAIT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define GAIT_ERROR_TEXT_BYTES 512

struct gait_error {
    int code; /* an errno number, positive: what the function returned, negated */
    /* What failed, on what, why, and what can be done about it. One line without a full stop, ended by a NUL. */
    char text[GAIT_ERROR_TEXT_BYTES];
};

#ifdef __cplusplus
}
#endif

#endif
