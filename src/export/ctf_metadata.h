/* SPDX-License-Identifier: MIT */
/* What the streams of an exported trace look like, in the language that CTF 1.8 has for that (TSDL). Stateless. */
#ifndef GAIT_EXPORT_CTF_METADATA_H
#define GAIT_EXPORT_CTF_METADATA_H

#include "trace/manifest.h"

#include <stdio.h>

/* The trace has that UUID. Errors stay with the stream. */
void ctf_metadata_write(FILE *stream, const struct manifest *manifest, const uint8_t *uuid);

#endif
