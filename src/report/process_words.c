/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "report/report_words.h"

#include "ring/left_log.h"
#include "view/trace_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

const struct manifest_process *report_listed_process(const struct view_trace *trace, const struct view_process *process)
{
    const struct manifest *manifest = &trace->manifest;

    for (size_t i = 0; i < manifest->process_count; i++)
        if (manifest->processes[i].pid == process->pid && manifest->processes[i].image == process->image)
            return &manifest->processes[i];
    return NULL;
}

const struct manifest_thread *report_listed_thread(const struct view_trace *trace, const struct view_thread *thread)
{
    const struct manifest_process *process = report_listed_process(trace, &trace->processes[thread->process]);

    for (size_t i = 0; process != NULL && i < process->thread_count; i++)
        if (process->threads[i].tid == thread->tid && process->threads[i].generation == thread->generation)
            return &process->threads[i];
    return NULL;
}

uint64_t report_duration_ns(const struct trace_report *report)
{
    const struct manifest *manifest = &report->trace->manifest;
    uint64_t began = manifest->clock_count == 0 ? 0 : manifest->clocks[0].monotonic_ns;
    uint64_t ended = manifest->clock_count == 0 ? 0 : manifest->clocks[manifest->clock_count - 1].monotonic_ns;

    /* Whoever was killed wrote no second pair. */
    for (size_t i = 0; i < report->trace->thread_count && manifest->clock_count < 2; i++)
        if (report->threads[i].ended_ns > ended)
            ended = report->threads[i].ended_ns;
    return began != 0 && ended > began ? ended - began : 0;
}

const char *report_status_write(int status, char *text, size_t text_bytes)
{
    const char *name;

    text[0] = '\0';
    if (status == -1)
        return text;
    if (WIFEXITED(status)) {
        snprintf(text, text_bytes, "exit status %d", WEXITSTATUS(status));
    } else if (WIFSIGNALED(status)) {
        name = sigabbrev_np(WTERMSIG(status));
        snprintf(text, text_bytes, "killed by signal %d (SIG%s)", WTERMSIG(status), name == NULL ? "?" : name);
    }
    return text;
}

bool report_has_crash(const struct trace_report *report, size_t process)
{
    const struct manifest_process *listed = report_listed_process(report->trace, &report->trace->processes[process]);

    return report->processes[process].has_crash ||
           (listed != NULL && listed->status != -1 && WIFSIGNALED(listed->status));
}

const char *report_left_explain(uint32_t reason)
{
    switch (reason) {
    case RING_LEFT_INSTRUCTION:
        return "gait does not know how to follow this instruction";
    case RING_LEFT_MEMORY:
        return "the process had no memory left to translate code";
    case RING_LEFT_BLIND:
        return "the code there cannot be read without /proc, a descriptor or memory";
    case RING_LEFT_NEW_THREAD:
        return "the process had no memory left to follow the new thread";
    case RING_LEFT_COUNTER:
        return "the thread has forbidden itself to read the CPU's time counter";
    case RING_LEFT_UNREADABLE:
        return "the code there may be executed, but not read";
    default:
        return "for a reason that this gait does not know";
    }
}
