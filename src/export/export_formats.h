/* SPDX-License-Identifier: MIT */
/* The list of all formats. Constant; callable from anywhere. */
#ifndef GAIT_EXPORT_EXPORT_FORMATS_H
#define GAIT_EXPORT_EXPORT_FORMATS_H

#include "export/export_format.h"

/* Format number `which`, in the order of export_formats.def; NULL behind the last. */
const struct export_format *export_formats_get(size_t which);

/* NULL: there is none of that name. */
const struct export_format *export_formats_find(const char *name);

#endif
