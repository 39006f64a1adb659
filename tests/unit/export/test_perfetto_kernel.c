/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_format.h"

#include "support/check.h"
#include "support/kernel_trace.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static char *output;
static size_t output_bytes;

/* Without the threads of the trace: what there is, is the kernel's. */
static void export(void (*put)(const struct trace_folder *folder))
{
    struct export_job job = {.trace = &trace, .functions = &functions, .to_ns = UINT64_MAX};
    struct gait_error err = {0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    job.stream = open_memstream(&output, &output_bytes);
    CHECK_EQUAL(export_formats_find("perfetto")->write(&job, &err), 0);
    fclose(job.stream);
}

static void end(void)
{
    free(output);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static size_t count(const void *bytes, size_t size_bytes)
{
    size_t found = 0;

    for (const char *at = output; (at = memmem(at, (size_t)(output + output_bytes - at), bytes, size_bytes)) != NULL;
         at++)
        found++;
    return found;
}

static void switches_are_those_of_the_kernels_tracer(void)
{
    /* CPU 0, an event at 100 of thread 0, which ceases to run for thread 100, "early" */
    static const char in[] = "\x0a\x1d\x08\x00\x12\x19\x08\x64\x10\x00\x22\x13\x0a\x00\x10\x00\x18\x00\x20\x00\x2a\x05"
                             "early\x30\x64\x38\x00";
    /* at 200 thread 100 waits, state 1; at 400 it is pushed aside, state 0 */
    static const char waits[] = "\x08\xc8\x01\x10\x64\x22\x13\x0a\x05"
                                "early\x10\x64\x18\x00\x20\x01";
    static const char aside[] = "\x08\x90\x03\x10\x64\x22\x13\x0a\x05"
                                "early\x10\x64\x18\x00\x20\x00";
    /* at 250 thread 200 wakes thread 100, of priority 120, for CPU 1 */
    static const char wakes[] = "\x08\xfa\x01\x10\xc8\x01\xa2\x01\x0f\x0a\x05"
                                "early\x10\x64\x18\x78\x20\x01\x28\x01";

    export(kernel_trace_put_run);
    CHECK_EQUAL(count(in, sizeof(in) - 1), 1);
    CHECK_EQUAL(count(waits, sizeof(waits) - 1), 1);
    CHECK_EQUAL(count(aside, sizeof(aside) - 1), 1);
    CHECK_EQUAL(count(wakes, sizeof(wakes) - 1), 1);
    end();
}

static void samples_name_stacks_once(void)
{
    /* the second sample: at 160, a sample on CPU 0 of 100/100, with stack 3, in the kernel */
    static const char sample[] = "\x40\xa0\x01\x92\x04\x0a\x08\x00\x10\x64\x18\x64\x20\x03\x28\x01";

    export(kernel_trace_put_run);
    CHECK_EQUAL(count(sample, sizeof(sample) - 1), 1);
    CHECK_EQUAL(count("ticking", 7), 1);
    CHECK_EQUAL(count("[kernel.kallsyms]", 17), 1);
    CHECK_EQUAL(count("/nowhere/example", 16), 1);
    /* stack 3 is frames 1, which is there twice, and 2 */
    CHECK_EQUAL(count("\x3a\x08\x08\x03\x10\x01\x10\x01\x10\x02", 10), 1);
    end();
}

static void others_are_instants_with_fields(void)
{
    export(kernel_trace_put_example);
    /* "number" is -7, "text" is "word" */
    CHECK_EQUAL(count("\x52\x06number\x20\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01", 19), 1);
    CHECK_EQUAL(count("\x52\x04text\x32\x04word", 12), 3);
    CHECK_EQUAL(count("\xb2\x01\x06kernel\xba\x01\x04tick", 16), 3);
    CHECK_EQUAL(count("\xb2\x01\x06kernel\xba\x01\x04tock", 16), 1);
    CHECK_EQUAL(count("\x52\x05stack\x32\x07ticking", 16), 1);
    /* one thread, told once */
    CHECK_EQUAL(count("\x2a\x05"
                      "early",
                      7),
                1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(switches_are_those_of_the_kernels_tracer),
    CHECK_CASE(samples_name_stacks_once),
    CHECK_CASE(others_are_instants_with_fields),
};

CHECK_MAIN(cases)
