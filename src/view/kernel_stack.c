/* SPDX-License-Identifier: MIT */
/*
 * All but the innermost frame are addresses behind calls, which may be the last thing in their function: they are
 * looked for a byte before. Of a process that executed another program each image has a list of modules; the one that
 * had something there at that time is meant.
 */
#include "view/kernel_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000

static void name_address(struct kernel_frame *frame)
{
    snprintf(frame->name, sizeof(frame->name), "0x%" PRIx64, frame->address);
}

static void find_kernel_frame(const struct kernel_sources *sources, struct kernel_frame *frame)
{
    const struct kernel_function *function = kernel_sources_function(sources, frame->address);

    frame->is_kernel = true;
    frame->is_named = function != NULL;
    if (function == NULL) {
        name_address(frame);
        return;
    }
    snprintf(frame->name, sizeof(frame->name), "%s", function->name);
    frame->distance = frame->address - function->start;
}

/* The number of the function in the image that has something there; VIEW_NO_FUNCTION: none has. */
static uint32_t number_of(struct view_functions *functions, uint32_t pid, uint64_t address, uint64_t time)
{
    const struct view_trace *trace = functions->trace;

    for (size_t i = trace->process_count; i-- > 0;) {
        if (trace->processes[i].pid != pid || modules_find(&trace->processes[i].modules, address, time, time) == NULL)
            continue;
        return view_functions_number(functions, i, address, time);
    }
    return VIEW_NO_FUNCTION;
}

/* "function+0x12" is taken apart; where there is no name it is "file+0x12", and the file is all that is known. */
static void take_name(struct kernel_frame *frame, const char *text)
{
    const char *mark = strrchr(text, '+'), *slash = strrchr(frame->module->path, '/');
    const char *file = slash == NULL ? frame->module->path : slash + 1;
    size_t length = mark != NULL && strncmp(mark, "+0x", 3) == 0 ? (size_t)(mark - text) : strlen(text);

    frame->is_named = length != strlen(file) || strncmp(text, file, length) != 0;
    frame->distance = text[length] == '\0' ? 0 : strtoull(text + length + 3, NULL, 16);
    if (frame->is_named)
        snprintf(frame->name, sizeof(frame->name), "%.*s", (int)length, text);
    else
        snprintf(frame->name, sizeof(frame->name), "[%s]", file);
}

/* Code that the process made itself, if its runtime wrote down names. */
static void find_made_frame(struct view_functions *functions, const struct kernel_event *event, uint64_t before,
                            struct kernel_frame *frame)
{
    const struct view_trace *trace = functions->trace;
    const struct symbol_process process = {event->pid, trace->manifest.began_unix_ns / SECOND_NS};
    uint64_t time_ns = trace->clock.first.monotonic_ns + view_trace_ns(trace, event->time);
    struct symbol_place place;

    symbolizer_find_made(&functions->names.symbolizer, &process, frame->address - before, time_ns, &place);
    frame->is_named = place.name != NULL;
    if (!frame->is_named)
        return;
    snprintf(frame->name, sizeof(frame->name), "%s", place.name);
    frame->distance = place.distance + before;
}

static void find_user_frame(struct view_functions *functions, const struct kernel_event *event, bool is_innermost,
                            struct kernel_frame *frame)
{
    uint64_t before = is_innermost ? 0 : 1;
    uint32_t number = number_of(functions, event->pid, frame->address - before, event->time);

    name_address(frame);
    if (number == VIEW_NO_FUNCTION) {
        find_made_frame(functions, event, before, frame);
        return;
    }
    frame->module = view_functions_module(functions, number);
    if (frame->module == NULL)
        return;
    take_name(frame, view_functions_at(functions, number)->name);
    frame->distance += before;
}

void kernel_stack_frame(struct view_functions *functions, const struct kernel_sources *sources,
                        const struct kernel_event *event, size_t which, struct kernel_frame *frame_out)
{
    size_t user = which - event->kernel_frame_count;

    *frame_out = (struct kernel_frame){.is_kernel = false};
    if (which < event->kernel_frame_count) {
        frame_out->address = event->kernel_frames[which];
        find_kernel_frame(sources, frame_out);
    } else {
        frame_out->address = event->user_frames[user];
        find_user_frame(functions, event, user == 0, frame_out);
    }
}

void kernel_frame_write(const struct kernel_frame *frame, char *text, size_t text_bytes)
{
    size_t length = strlen(frame->name);

    if (frame->is_named)
        snprintf(text, text_bytes, "%s+0x%" PRIx64, frame->name, frame->distance);
    else if (frame->module != NULL)
        snprintf(text, text_bytes, "%.*s+0x%" PRIx64, (int)length - 2, frame->name + 1, frame->distance);
    else
        snprintf(text, text_bytes, "%s", frame->name);
}

char *kernel_stack_write(struct view_functions *functions, const struct kernel_sources *sources,
                         const struct kernel_event *event)
{
    char text[KERNEL_FRAME_NAME_BYTES + 32], *all = NULL;
    struct kernel_frame frame;
    size_t size_bytes = 0;
    FILE *stream = kernel_stack_depth(event) == 0 ? NULL : open_memstream(&all, &size_bytes);

    if (stream == NULL)
        return NULL;
    for (size_t i = 0; i < kernel_stack_depth(event); i++) {
        kernel_stack_frame(functions, sources, event, i, &frame);
        kernel_frame_write(&frame, text, sizeof(text));
        fprintf(stream, "%s%s", i == 0 ? "" : ";", frame.is_named ? frame.name : text);
    }
    if (fclose(stream) == 0)
        return all;
    free(all);
    return NULL;
}
