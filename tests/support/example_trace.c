/* SPDX-License-Identifier: MIT */
#include "support/example_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void open_trace(struct example_trace *example)
{
    if (view_trace_open(&example->trace, example->folder.path, NULL) == 0)
        return;
    puts("the example of a trace cannot be opened");
    exit(1);
}

void example_trace_init(struct example_trace *example)
{
    trace_folder_init(&example->folder);
    trace_folder_put_example(&example->folder);
    open_trace(example);
}

void example_trace_deinit(struct example_trace *example)
{
    view_trace_close(&example->trace);
    trace_folder_deinit(&example->folder);
}

void example_trace_open_again(struct example_trace *example)
{
    view_trace_close(&example->trace);
    open_trace(example);
}

void example_trace_put_other_file(const struct example_trace *example)
{
    struct trace_module module = {
        .change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x401000, .end = 0x402000, .file_offset = 0x1000};
    struct trace_bytes modules = {.size_bytes = 0};

    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    module.time = EXAMPLE_TRACE_LATER;
    module.change = TRACE_MODULE_UNLOADED;
    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    module.change = TRACE_MODULE_LOADED;
    trace_bytes_put_module(&modules, &module, "/nowhere/other");
    unlinkat(example->folder.fd, "100/modules.gait", 0);
    trace_folder_put_stream(&example->folder,
                            &(struct trace_stream_plan){.name = "100/modules.gait",
                                                        .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                                        .bytes = &modules});
}
