/* SPDX-License-Identifier: MIT */
/* modules: which file was mapped where and when. */
#include "query/place_columns.h"

#include <stdio.h>
#include <string.h>

enum modules_column {
    MODULES_MODULE,
    MODULES_PATH,
    MODULES_PID,
    MODULES_IMAGE,
    MODULES_LOADED,
    MODULES_UNLOADED,
    MODULES_START,
    MODULES_END,
    MODULES_FILE_OFFSET,
    MODULES_BUILD_ID,
    MODULES_COLUMNS,
};

static const struct query_column columns[] = {
    [MODULES_MODULE] = {"module", "TEXT", "the name of the file", QUERY_PUSH_TEXT},
    [MODULES_PATH] = {"path", "TEXT", "with its folders", 0},
    [MODULES_PID] = {"pid", "INTEGER", "the process", QUERY_PUSH_NUMBER},
    [MODULES_IMAGE] = {"image", "INTEGER", "which program of the pid it is, from 1 on", 0},
    [MODULES_LOADED] = {"loaded_ns", "INTEGER", "when it was mapped, since the recording began", 0},
    [MODULES_UNLOADED] = {"unloaded_ns", "INTEGER", "when it went; NULL: it stayed", 0},
    [MODULES_START] = {"start", "INTEGER", "the first address", 0},
    [MODULES_END] = {"end", "INTEGER", "the one behind the last", 0},
    [MODULES_FILE_OFFSET] = {"file_offset", "INTEGER", "what of the file is at the start", 0},
    [MODULES_BUILD_ID] = {"build_id", "TEXT", "which build it is; NULL: it does not say", 0},
};

struct modules_cursor {
    struct query_cursor base;
    size_t process; /* index, and 1 */
    size_t next;
    const struct view_process *shown;
    const struct recorded_module *module;
    const char *name;
};

static double cost(const struct query_source *source)
{
    double count = 1;

    for (size_t i = 0; i < source->trace->process_count; i++)
        count += (double)source->trace->processes[i].modules.count;
    return count;
}

static bool is_wanted(const struct modules_cursor *cursor)
{
    return query_filter_takes_number(&cursor->base.filter, MODULES_PID, cursor->shown->pid) &&
           query_filter_takes_text(&cursor->base.filter, MODULES_MODULE, cursor->name);
}

static int next(struct query_cursor *base)
{
    struct modules_cursor *cursor = (struct modules_cursor *)base;
    const struct view_trace *trace = base->source->trace;

    for (;;) {
        const char *slash;

        while (cursor->process == 0 || cursor->next == trace->processes[cursor->process - 1].modules.count) {
            if (cursor->process == trace->process_count)
                return 0;
            cursor->process++;
            cursor->next = 0;
        }
        cursor->shown = &trace->processes[cursor->process - 1];
        cursor->module = &cursor->shown->modules.modules[cursor->next++];
        slash = strrchr(cursor->module->path, '/');
        cursor->name = slash == NULL ? cursor->module->path : slash + 1;
        if (is_wanted(cursor))
            return 1;
    }
}

static void put_build_id(sqlite3_context *result, const struct recorded_module *module)
{
    char text[2 * sizeof(module->build_id) + 1] = "";

    for (uint32_t i = 0; i < module->build_id_bytes && i < sizeof(module->build_id); i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", module->build_id[i]);
    if (text[0] != '\0')
        sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct modules_cursor *cursor = (struct modules_cursor *)base;
    const struct recorded_module *module = cursor->module;

    switch (which) {
    case MODULES_MODULE:
        place_text_put(result, cursor->name);
        break;
    case MODULES_PATH:
        place_text_put(result, module->path);
        break;
    case MODULES_PID:
        sqlite3_result_int64(result, cursor->shown->pid);
        break;
    case MODULES_IMAGE:
        sqlite3_result_int64(result, cursor->shown->image);
        break;
    case MODULES_LOADED:
        sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, module->loaded));
        break;
    case MODULES_UNLOADED:
        if (module->unloaded != UINT64_MAX)
            sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, module->unloaded));
        break;
    case MODULES_START:
        sqlite3_result_int64(result, (int64_t)module->start);
        break;
    case MODULES_END:
        sqlite3_result_int64(result, (int64_t)module->end);
        break;
    case MODULES_FILE_OFFSET:
        sqlite3_result_int64(result, (int64_t)module->file_offset);
        break;
    default:
        put_build_id(result, module);
        break;
    }
}

extern const struct query_table query_table_modules;
const struct query_table query_table_modules = {
    .name = "modules",
    .meaning = "which file was mapped where and when",
    .columns = columns,
    .column_count = MODULES_COLUMNS,
    .cursor_bytes = sizeof(struct modules_cursor),
    .cost = cost,
    .begin = query_cursor_begin_nothing,
    .next = next,
    .column = column,
    .end = query_cursor_end_nothing,
};
