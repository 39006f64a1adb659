/* SPDX-License-Identifier: MIT */
#include "view/record_words.h"

#include "base/text_format.h"
#include "process/system_call_table.h"
#include "syscalls/program_memories.h"
#include "syscalls/system_call_text.h"
#include "view/system_call_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than all that a record can have kept, each byte of it as an escape. */
#define TEXT_BYTES (64u << 10)

const char *system_call_name(uint64_t number, char name_out[SYSTEM_CALL_NAME_BYTES])
{
    const struct system_call_signature *known = system_call_by_number(number);

    if (known != NULL)
        snprintf(name_out, SYSTEM_CALL_NAME_BYTES, "%s", known->name);
    else
        snprintf(name_out, SYSTEM_CALL_NAME_BYTES, "syscall_0x%" PRIx64, number);
    return name_out;
}

/* One that was executed and did not come back has succeeded; of others nobody knows. */
static bool is_executed(const struct view_system_call *call)
{
    const struct system_call_signature *known = system_call_by_number(call->number);

    return known != NULL && (strcmp(known->name, "execve") == 0 || strcmp(known->name, "execveat") == 0);
}

char *system_call_words(const struct view_system_call *call)
{
    const struct call_text_options options = {.string_bytes = DETAIL_VALUES_BYTES_MAX};
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .number = call->number, .result = call->result};
    char *text = malloc(TEXT_BYTES), *fitting;
    struct recorded_memory memory;
    struct text_writer out;

    if (text == NULL)
        return NULL;
    recorded_memory_init(&memory, call->values);
    event.memory = &memory.memory;
    if (call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED && !is_executed(call))
        event.flags = SYSTEM_CALL_NEVER_RETURNS;
    memcpy(event.arguments, call->arguments, sizeof(event.arguments));
    text_init(&out, text, TEXT_BYTES);
    system_call_text_put(&out, &event, &options);
    fitting = strdup(text);
    free(text);
    return fitting;
}
