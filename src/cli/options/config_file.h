/* SPDX-License-Identifier: MIT */
/*
 * Options in a file, in the part of TOML that they need: lines "key = value" with bare keys, where a value is a string
 * in double or single quotes on one line, a whole number, a number with a point, true or false, or an array of strings;
 * and comments. Everything else is refused, with the number of its line.
 */
#ifndef GAIT_CLI_OPTIONS_CONFIG_FILE_H
#define GAIT_CLI_OPTIONS_CONFIG_FILE_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>

enum config_kind {
    CONFIG_STRING,
    CONFIG_NUMBER,
    CONFIG_TRUTH,
    CONFIG_ITEM, /* of an array, which comes item by item */
};

struct config_value {
    const char *key;
    const char *text; /* of any kind; true or false */
    enum config_kind kind;
    bool is_first; /* of an array's items; true of all others */
};

/* Takes a value; the texts stay as long as the file's bytes. Not NULL: what it should be. */
typedef const char *config_taker(void *context, const struct config_value *value);

/*
 * Reads it all. *bytes_out is what the texts point into, for the caller to free, also after errors. -EINVAL: something
 * is wrong in it; others: it cannot be read.
 */
MUST_USE int config_file_read(const char *path, config_taker *take, void *context, char **bytes_out,
                              struct gait_error *err);

#endif
