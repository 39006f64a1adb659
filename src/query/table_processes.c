/* SPDX-License-Identifier: MIT */
/* processes: programs that were recorded, with how they ended and what they could not record. */
#include "query/place_columns.h"

#include <sys/wait.h>

enum processes_column {
    PROCESSES_PID,
    PROCESSES_IMAGE,
    PROCESSES_PARENT,
    PROCESSES_COMMAND,
    PROCESSES_EXIT_STATUS,
    PROCESSES_SIGNAL,
    PROCESSES_LATE,
    PROCESSES_NO_LANE,
    PROCESSES_NO_ROOM,
    PROCESSES_NO_MEMORY,
    PROCESSES_NOT_HOOKED,
    PROCESSES_COLUMNS,
};

static const struct query_column columns[] = {
    [PROCESSES_PID] = {"pid", "INTEGER", "as the kernel calls it", QUERY_PUSH_NUMBER},
    [PROCESSES_IMAGE] = {"image", "INTEGER", "which program of the pid it is, from 1 on", 0},
    [PROCESSES_PARENT] = {"parent_pid", "INTEGER", "NULL: the first one, or not known", 0},
    [PROCESSES_COMMAND] = {"command", "TEXT", "as it was started", 0},
    [PROCESSES_EXIT_STATUS] = {"exit_status", "INTEGER", "NULL: it did not exit, or its end was not seen", 0},
    [PROCESSES_SIGNAL] = {"signal", "INTEGER", "that ended it; NULL: none did", 0},
    [PROCESSES_LATE] = {"late_bytes", "INTEGER", "of records that were not read in time", 0},
    [PROCESSES_NO_LANE] = {"no_lane_bytes", "INTEGER", "of threads for which there was no lane", 0},
    [PROCESSES_NO_ROOM] = {"no_room", "INTEGER", "blocks and modules for which there was no room", 0},
    [PROCESSES_NO_MEMORY] = {"no_memory", "INTEGER", "things not watched, for lack of memory", 0},
    [PROCESSES_NOT_HOOKED] = {"not_hooked", "INTEGER", "functions that could not be hooked", 0},
};

struct processes_cursor {
    struct query_cursor base;
    size_t next;
    const struct view_process *process;
    const struct manifest_process *listed; /* NULL: the manifest does not know it */
};

static double cost(const struct query_source *source)
{
    return (double)source->trace->process_count + 1;
}

static const struct manifest_process *find_listed(const struct manifest *manifest, const struct view_process *process)
{
    for (size_t i = 0; i < manifest->process_count; i++)
        if (manifest->processes[i].pid == process->pid && manifest->processes[i].image == process->image)
            return &manifest->processes[i];
    return NULL;
}

static int next(struct query_cursor *base)
{
    struct processes_cursor *cursor = (struct processes_cursor *)base;
    const struct view_trace *trace = base->source->trace;

    while (cursor->next < trace->process_count) {
        cursor->process = &trace->processes[cursor->next++];
        if (!query_filter_takes_number(&base->filter, PROCESSES_PID, cursor->process->pid))
            continue;
        cursor->listed = find_listed(&trace->manifest, cursor->process);
        return 1;
    }
    return 0;
}

static void put_status(sqlite3_context *result, int which, int status)
{
    if (status == -1)
        return;
    if (which == PROCESSES_EXIT_STATUS && WIFEXITED(status))
        sqlite3_result_int64(result, WEXITSTATUS(status));
    if (which == PROCESSES_SIGNAL && WIFSIGNALED(status))
        sqlite3_result_int64(result, WTERMSIG(status));
}

static void put_loss(sqlite3_context *result, int which, const struct manifest_losses *losses)
{
    sqlite3_result_int64(result, (int64_t)(which == PROCESSES_LATE        ? losses->late_bytes
                                           : which == PROCESSES_NO_LANE   ? losses->no_lane_bytes
                                           : which == PROCESSES_NO_ROOM   ? losses->no_room_count
                                           : which == PROCESSES_NO_MEMORY ? losses->no_memory_count
                                                                          : losses->not_hooked_count));
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct processes_cursor *cursor = (struct processes_cursor *)base;

    if (which == PROCESSES_PID)
        sqlite3_result_int64(result, cursor->process->pid);
    else if (which == PROCESSES_IMAGE)
        sqlite3_result_int64(result, cursor->process->image);
    else if (which == PROCESSES_PARENT && cursor->process->parent_pid != 0)
        sqlite3_result_int64(result, cursor->process->parent_pid);
    else if (which == PROCESSES_COMMAND)
        place_text_put(result, cursor->process->command);
    else if (cursor->listed != NULL && (which == PROCESSES_EXIT_STATUS || which == PROCESSES_SIGNAL))
        put_status(result, which, cursor->listed->status);
    else if (cursor->listed != NULL && which >= PROCESSES_LATE)
        put_loss(result, which, &cursor->listed->losses);
}

extern const struct query_table query_table_processes;
const struct query_table query_table_processes = {
    .name = "processes",
    .meaning = "programs that were recorded",
    .columns = columns,
    .column_count = PROCESSES_COLUMNS,
    .cursor_bytes = sizeof(struct processes_cursor),
    .cost = cost,
    .begin = query_cursor_begin_nothing,
    .next = next,
    .column = column,
    .end = query_cursor_end_nothing,
};
