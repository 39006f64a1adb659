/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include <string.h>

#define EXPORT_FORMAT(name, summary) extern const struct export_format export_format_##name;
#include "export/export_formats.def"
#undef EXPORT_FORMAT

static const struct export_format *const formats[] = {
#define EXPORT_FORMAT(name, summary) &export_format_##name,
#include "export/export_formats.def"
#undef EXPORT_FORMAT
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct export_format *export_formats_get(size_t which)
{
    return which < FORMAT_COUNT ? formats[which] : NULL;
}

const struct export_format *export_formats_find(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
