/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "report/syscalls_json.h"

#include "support/check.h"

#include <stdlib.h>
#include <sys/syscall.h>

static char *written(const struct system_call_event *event)
{
    static const struct call_text_options options = {.string_bytes = 32};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct syscalls_json *json = syscalls_json_create(stream, &options);

    syscalls_json_put(json, event);
    syscalls_json_destroy(json);
    fclose(stream);
    return text;
}

static void calls_and_ends_are_objects(void)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT,
                                      .pid = 1,
                                      .tid = 2,
                                      .number = SYS_close,
                                      .arguments = {3},
                                      .result = -9,
                                      .system_ns = 5};
    char *text = written(&event);

    CHECK_TEXT(text, "{\"kind\": \"call\", \"time_ns\": 0, \"pid\": 1, \"tid\": 2, \"call\": \"close\", \"number\": 3, "
                     "\"arguments\": [3, 0, 0, 0, 0, 0], \"result\": -9, \"error\": \"EBADF\", \"duration_ns\": 5, "
                     "\"is_injected\": false, \"text\": \"close(3) = -1 EBADF (Bad file descriptor)\"}\n");
    free(text);
    event = (struct system_call_event){.kind = SYSTEM_CALL_EXITED, .pid = 1, .tid = 1, .status = 3 << 8};
    text = written(&event);
    CHECK_TEXT(text, "{\"kind\": \"exit\", \"time_ns\": 0, \"pid\": 1, \"tid\": 1, \"status\": 3}\n");
    free(text);
    event.kind = SYSTEM_CALL_ENTERED;
    text = written(&event);
    CHECK_TEXT(text, "");
    free(text);
}

static size_t read_changing(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const char *now = *(const char **)context;
    size_t length = strlen(now) + 1;

    (void)address;
    memcpy(bytes_out, now, length < size_bytes ? length : size_bytes);
    return length < size_bytes ? length : size_bytes;
}

/* Memory is another one when a program was executed. */
static void arguments_are_those_of_the_beginning(void)
{
    static const struct call_text_options options = {.string_bytes = 32};
    const char *now = "/before";
    const struct call_memory memory = {read_changing, &now};
    struct system_call_event event = {
        .kind = SYSTEM_CALL_ENTERED, .tid = 2, .number = SYS_chdir, .arguments = {0x1000}, .memory = &memory};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct syscalls_json *json = syscalls_json_create(stream, &options);

    syscalls_json_put(json, &event);
    now = "/after";
    event.kind = SYSTEM_CALL_LEFT;
    syscalls_json_put(json, &event);
    syscalls_json_put(json, &event);
    syscalls_json_destroy(json);
    fclose(stream);
    CHECK_EQUAL(strstr(text, "chdir(\\\"/before\\\") = 0") != NULL, 1);
    CHECK_EQUAL(strstr(text, "chdir(\\\"/after\\\") = 0") != NULL, 1);
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_and_ends_are_objects),
    CHECK_CASE(arguments_are_those_of_the_beginning),
};

CHECK_MAIN(cases)
