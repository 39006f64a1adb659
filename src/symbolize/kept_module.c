/* SPDX-License-Identifier: MIT */
#include "symbolize/kept_module.h"

#include "symbolize/kept_debug.h"
#include "symbolize/symbol_index.h"
#include "trace/crc32c.h"
#include "trace/kept_names.h"
#include "trace/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int kept_module_read(int trace, const struct recorded_module *module, struct kept_names *names_out)
{
    char name[KEPT_NAME_BYTES], path[KEPT_NAME_BYTES + sizeof(TRACE_NAMES_FOLDER)];
    struct kept_names names;

    if (trace < 0)
        return -ENOENT;
    kept_names_file(module, name);
    snprintf(path, sizeof(path), TRACE_NAMES_FOLDER "/%s", name);
    if (faccessat(trace, path, F_OK, 0) != 0)
        return -ENOENT;
    if (kept_names_read(&names, trace, path, NULL) != 0)
        return -EPROTO;
    if (!kept_names_are_of(&names, module)) {
        bool is_older =
            module->build_id_bytes == 0 && names.file.build_id_bytes == 0 && strcmp(names.path, module->path) == 0;

        kept_names_deinit(&names);
        return is_older ? -ESTALE : -ENOENT;
    }
    *names_out = names;
    return 0;
}

int kept_module_index(const struct kept_names *names, struct symbol_index *index_out)
{
    struct symbol_index index = {.symbols = calloc(names->function_count + 1, sizeof(*index.symbols))};

    if (index.symbols == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < names->function_count; i++) {
        const struct kept_function *function = &names->functions[i];
        const char *name = names->text + function->name;

        index.symbols[index.count++] = (struct indexed_symbol){
            .symbol = {function->address, function->size_bytes, name, strlen(name), .is_function = true},
            .which = i,
            .covered_end = function->covered_end,
        };
    }
    *index_out = index;
    return 0;
}

bool kept_module_is_file(const struct kept_names *names, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    uint64_t size_bytes;
    uint32_t crc;
    bool is_same;

    if (fd < 0)
        return false;
    is_same = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
              (uint64_t)status.st_size == names->file.file_bytes && file_sum_read(fd, &size_bytes, &crc) == 0 &&
              size_bytes == names->file.file_bytes && crc == names->file.file_crc;
    close(fd);
    return is_same;
}

void kept_module_debug_path(int trace, const struct recorded_module *module, char *path_out, size_t path_bytes)
{
    char path[KEPT_DEBUG_PATH_BYTES];

    path_out[0] = '\0';
    kept_debug_path(module, path);
    /* Those who read debug information know files by their paths only. */
    if (trace >= 0 && path[0] != '\0' && faccessat(trace, path, R_OK, 0) == 0)
        snprintf(path_out, path_bytes, "/proc/self/fd/%d/%s", trace, path);
}
