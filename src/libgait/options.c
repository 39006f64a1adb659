/* SPDX-License-Identifier: MIT */
/* Reading option structs; see options.h. Stateless. */
#include "libgait/options.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int options_read(const struct options_type *type, const void *given, void *options_out, struct gait_error *err)
{
    const uint8_t *bytes = given;
    size_t given_bytes = type->size_bytes;

    if (given != NULL)
        memcpy(&given_bytes, given, sizeof(given_bytes));
    if (given_bytes < sizeof(given_bytes))
        return error_set(err, EINVAL, "cannot %s: size_bytes of the options is %zu; set it to sizeof(struct %s)",
                         type->doing, given_bytes, type->name);
    for (size_t i = type->size_bytes; given != NULL && i < given_bytes; i++)
        if (bytes[i] != 0)
            return error_set(err, EINVAL,
                             "cannot %s: an option is set that this version of gait does not know; use the library "
                             "that belongs to the header",
                             type->doing);
    memset(options_out, 0, type->size_bytes);
    if (given != NULL)
        memcpy(options_out, given, given_bytes < type->size_bytes ? given_bytes : type->size_bytes);
    memcpy(options_out, &type->size_bytes, sizeof(type->size_bytes));
    return 0;
}
