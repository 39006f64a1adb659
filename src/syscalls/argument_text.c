/* SPDX-License-Identifier: MIT */
/* Kinds that stand alone are written here; those that ask other arguments are in dependent_text.c. */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"

#define STRINGS_MAX 100000
/* Where the kernel has put the mask of signals that a return from a handler restores. */
#define FRAME_MASK_AT   296
#define STATX_SYNC_MASK 0x6000

bool argument_text_is_answer(const struct call_text *text, const struct system_call_argument *argument)
{
    return dependent_text_is_answer(text, argument->kind) ||
           (argument->direction == SYSTEM_CALL_OUT && argument->kind != SYSTEM_CALL_ARCH_PRCTL_ARGUMENT) ||
           argument->kind == SYSTEM_CALL_SOCKLEN;
}

static void put_flags(const struct call_text *text, unsigned set, uint64_t value)
{
    if (set == SYSTEM_CALL_SET_open) {
        file_text_put_open_flags(text->out, (uint32_t)value);
    } else if (set == SYSTEM_CALL_SET_statx) {
        bool is_first = false;
        uint64_t rest;

        constant_set_put_choice(text->out, SYSTEM_CALL_SET_statx_sync, value & STATX_SYNC_MASK);
        rest = constant_set_put_bits(text->out, set, (uint32_t)value & ~STATX_SYNC_MASK, &is_first);
        if (rest != 0)
            text_format(text->out, "|%#lx", (unsigned long)rest);
    } else {
        constant_set_put_flags(text->out, set, value);
    }
}

static void put_key(const struct call_text *text, uint32_t key)
{
    if (key == 0)
        text_put_string(text->out, "IPC_PRIVATE");
    else
        text_format(text->out, "%#x", key);
}

static bool put_number(const struct call_text *text, const struct system_call_argument *argument, uint64_t value)
{
    switch (argument->kind) {
    case SYSTEM_CALL_INT:
        text_put_signed(text->out, (int32_t)value);
        return true;
    case SYSTEM_CALL_PID:
        call_text_put_pid(text, (int32_t)value);
        return true;
    case SYSTEM_CALL_UNSIGNED:
        text_put_unsigned(text->out, (uint32_t)value);
        return true;
    case SYSTEM_CALL_LONG:
    case SYSTEM_CALL_OFFSET:
        text_put_signed(text->out, (int64_t)value);
        return true;
    case SYSTEM_CALL_SIZE:
        text_put_unsigned(text->out, value);
        return true;
    case SYSTEM_CALL_HEX:
        call_text_put_hex(text, value);
        return true;
    case SYSTEM_CALL_HEX32:
        call_text_put_hex(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_ADDRESS:
        call_text_put_address(text, value);
        return true;
    case SYSTEM_CALL_MODE:
        call_text_put_octal(text, value & 0177777);
        return true;
    case SYSTEM_CALL_FD:
        call_text_put_fd(text, (int)value);
        return true;
    case SYSTEM_CALL_DIRFD:
        call_text_put_dirfd(text, (int)value);
        return true;
    case SYSTEM_CALL_UID:
        call_text_put_id(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_SIGNAL:
        signal_text_put(text->out, (int32_t)value);
        return true;
    case SYSTEM_CALL_DEVICE:
        call_text_put_device(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_KEY:
        put_key(text, (uint32_t)value);
        return true;
    case SYSTEM_CALL_FLAGS:
        put_flags(text, argument->detail, value);
        return true;
    case SYSTEM_CALL_CHOICE:
        constant_set_put_choice(text->out, argument->detail, value);
        return true;
    default:
        return false;
    }
}

/* How many bytes or elements an argument is long. */
static uint64_t length_of(const struct call_text *text, const struct system_call_argument *argument)
{
    unsigned number = SYSTEM_CALL_LENGTH_NUMBER(argument->length);
    uint64_t result = text->result > 0 ? (uint64_t)text->result : 0;
    uint32_t length;

    switch (SYSTEM_CALL_LENGTH_SOURCE(argument->length)) {
    case SYSTEM_CALL_LENGTH_ARGUMENT:
        return text->arguments[number];
    case SYSTEM_CALL_LENGTH_AT_MOST:
        return result < text->arguments[number] ? result : text->arguments[number];
    case SYSTEM_CALL_LENGTH_POINTED_AT:
        return call_text_read(text, text->arguments[number], &length, sizeof(length)) ? length : 0;
    case SYSTEM_CALL_LENGTH_RESULT:
        return result;
    case SYSTEM_CALL_LENGTH_FIXED:
        return number;
    default:
        return 1;
    }
}

static void put_strings(const struct call_text *text, uint64_t address)
{
    uint64_t pointer;

    if (!call_text_read(text, address, &pointer, sizeof(pointer))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '[');
    for (unsigned i = 0; i < STRINGS_MAX && pointer != 0; i++) {
        text_put_string(text->out, i == 0 ? "" : ", ");
        if (i == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        call_text_put_string(text, pointer);
        if (!call_text_read(text, address + (i + 1) * 8ULL, &pointer, sizeof(pointer))) {
            text_format(text->out, ", ... /* %#lx */", (unsigned long)(address + (i + 1) * 8ULL));
            break;
        }
    }
    text_put_char(text->out, ']');
}

static void put_environment(const struct call_text *text, uint64_t address)
{
    uint64_t pointer;
    unsigned count = 0;

    if (text->options->is_verbose) {
        put_strings(text, address);
        return;
    }
    call_text_put_address(text, address);
    if (address == 0)
        return;
    while (count < STRINGS_MAX && call_text_read(text, address + count * 8ULL, &pointer, sizeof(pointer)) &&
           pointer != 0)
        count++;
    text_format(text->out, " /* %u var%s */", count, count == 1 ? "" : "s");
}

static void put_length(const struct call_text *text, uint64_t address)
{
    uint32_t length;

    if (!call_text_read(text, address, &length, sizeof(length)))
        call_text_put_address(text, address);
    else if (text->has_failed || length == text->entered_length)
        text_format(text->out, "[%d]", (int)text->entered_length);
    else
        text_format(text->out, "[%d => %d]", (int)text->entered_length, (int)length);
}

static void put_message(const struct call_text *text, const struct system_call_argument *argument, uint64_t value)
{
    uint64_t name;

    if (argument->direction == SYSTEM_CALL_IN)
        socket_text_put_message(text, value, UINT64_MAX);
    else if (!text->has_failed)
        socket_text_put_message(text, value, (uint64_t)text->result);
    else if (!call_text_read(text, value, &name, sizeof(name)))
        call_text_put_address(text, value);
    else
        text_format(text->out, "{msg_namelen=%u}", text->entered_length);
}

static void put_socket_address(const struct call_text *text, const struct system_call_argument *argument,
                               uint64_t value)
{
    uint64_t length = length_of(text, argument);

    if (argument->direction == SYSTEM_CALL_OUT && text->entered_length < length)
        length = text->entered_length;
    socket_text_put_address(text, value, length);
}

/* What is pointed at. The call has not failed, or it is something that went in. */
static void put_pointed(const struct call_text *text, const struct system_call_argument *argument, uint64_t value)
{
    switch (argument->kind) {
    case SYSTEM_CALL_PATH:
    case SYSTEM_CALL_TEXT:
        call_text_put_path(text, value);
        break;
    case SYSTEM_CALL_STRING:
        call_text_put_string(text, value);
        break;
    case SYSTEM_CALL_BYTES:
        if (argument->detail == 1)
            call_text_put_random(text, value, length_of(text, argument));
        else
            socket_text_put_bytes(text, value, length_of(text, argument));
        break;
    case SYSTEM_CALL_STRUCT:
        if (argument->detail == SYSTEM_CALL_STRUCT_sched_attr)
            process_text_put_sched_attr(text, value, UINT64_MAX);
        else if (SYSTEM_CALL_LENGTH_SOURCE(argument->length) == SYSTEM_CALL_LENGTH_ARGUMENT)
            struct_text_put_sized(text, argument->detail, value, length_of(text, argument));
        else
            struct_text_put(text, argument->detail, value);
        break;
    case SYSTEM_CALL_ARRAY:
        struct_text_put_array(text, argument->detail, value, length_of(text, argument));
        break;
    case SYSTEM_CALL_IOVEC:
        socket_text_put_iovec(text, value, length_of(text, argument),
                              argument->direction == SYSTEM_CALL_OUT ? (uint64_t)text->result : UINT64_MAX);
        break;
    case SYSTEM_CALL_IOVEC_ONLY:
        socket_text_put_iovec_only(text, value, length_of(text, argument));
        break;
    case SYSTEM_CALL_SOCKADDR:
        put_socket_address(text, argument, value);
        break;
    case SYSTEM_CALL_SOCKET_VALUE:
        socket_text_put_value(text, value, (uint32_t)length_of(text, argument), argument->direction == SYSTEM_CALL_IN);
        break;
    case SYSTEM_CALL_STRINGS:
        put_strings(text, value);
        break;
    case SYSTEM_CALL_ENVIRONMENT:
        put_environment(text, value);
        break;
    case SYSTEM_CALL_FD_SET:
        poll_text_put_fd_set(text, value, length_of(text, argument));
        break;
    case SYSTEM_CALL_CPU_SET:
        poll_text_put_cpu_set(text, value, length_of(text, argument));
        break;
    case SYSTEM_CALL_DIRENTS:
        file_text_put_entries(text, value, length_of(text, argument));
        break;
    default:
        call_text_put_address(text, value);
        break;
    }
}

static void put_frame(const struct call_text *text)
{
    uint64_t mask;

    if (!call_text_read(text, text->sp + FRAME_MASK_AT, &mask, sizeof(mask)))
        return;
    text_put_string(text->out, "{mask=");
    signal_text_put_set(text->out, mask);
    text_put_char(text->out, '}');
}

/* Whether the kernel has left the place for its answer alone, though the call has not failed: there was no child. */
static bool has_no_answer(const struct call_text *text, const struct system_call_argument *argument)
{
    if (argument->direction != SYSTEM_CALL_OUT)
        return false;
    return text->has_failed || (argument->kind == SYSTEM_CALL_STRUCT && text->result == 0 &&
                                argument->detail == SYSTEM_CALL_STRUCT_wait_status);
}

void argument_text_put(const struct call_text *text, const struct system_call_argument *argument, unsigned which)
{
    uint64_t value = text->arguments[which];

    if (argument->kind == SYSTEM_CALL_SIGRETURN_FRAME)
        put_frame(text);
    else if (put_number(text, argument, value) || dependent_text_put(text, argument, which))
        return;
    else if (argument->kind == SYSTEM_CALL_SOCKLEN)
        put_length(text, value);
    else if (argument->kind == SYSTEM_CALL_STRUCT && argument->detail == SYSTEM_CALL_STRUCT_msghdr)
        put_message(text, argument, value);
    else if (argument->kind == SYSTEM_CALL_IOVEC && argument->direction == SYSTEM_CALL_OUT && text->has_failed)
        socket_text_put_iovec_only(text, value, length_of(text, argument));
    else if (argument->kind == SYSTEM_CALL_REMAINDER && text->has_failed)
        struct_text_put(text, argument->detail, value);
    else if (argument->kind == SYSTEM_CALL_REMAINDER || has_no_answer(text, argument))
        call_text_put_address(text, value);
    else
        put_pointed(text, argument, value);
}

void argument_text_put_change(const struct call_text *text, const struct system_call_argument *argument, unsigned which)
{
    if (argument->kind != SYSTEM_CALL_STRUCT || text->has_failed)
        return;
    if (argument->detail == SYSTEM_CALL_STRUCT_position && text->arguments[which] != 0 && text->result != 0) {
        text_put_string(text->out, " => ");
        struct_text_put(text, argument->detail, text->arguments[which]);
    } else if (argument->detail == SYSTEM_CALL_STRUCT_clone_args) {
        process_text_put_clone3_end(text, text->arguments[which], text->arguments[which + 1]);
    }
}
