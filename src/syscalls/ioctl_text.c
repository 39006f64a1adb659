/* SPDX-License-Identifier: MIT */
/*
 * Commands of ioctl by name, and their arguments by the table ioctl_forms.def. What a command means to a device that is
 * not this one's is the same text: nothing but the number is known. Stateless.
 */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/value_forms.h"

#include <linux/ioctl.h>

#define VALUE_MAX 512
/* Kinds that only arguments of ioctl have. */
#define TERMINAL     IOCTL_TERMINAL, 0
#define OLD_TERMINAL IOCTL_TERMINAL, 0
#define NEW_TERMINAL IOCTL_TERMINAL, 0
#define STRING_HERE  IOCTL_STRING, 0
#define NAME_AT_MOST IOCTL_NAME, 0
#define PARTITION    IOCTL_PARTITION, 0
#define ENTROPY      IOCTL_ENTROPY, 0
#define KEY_PAIR     IOCTL_KEY, 0
#define COUNTER_AT   IOCTL_COUNTER, 0

enum ioctl_kind {
    IOCTL_TERMINAL = 200,
    IOCTL_STRING,
    IOCTL_NAME, /* a string of at most so many bytes */
    IOCTL_PARTITION,
    IOCTL_ENTROPY,
    IOCTL_KEY,
    IOCTL_COUNTER,
};

enum ioctl_moment {
    TAKEN,
    ANSWERED,
    BOTH,
    ITSELF,
    NOTHING,
};

struct ioctl_form {
    uint32_t command;
    uint8_t moment;
    uint16_t size_bytes;
    struct value_form form;
};

static const struct ioctl_form forms[] = {
#define COMMAND(number, moment, size_bytes, ...) {number, moment, size_bytes, {__VA_ARGS__}},
#include "syscalls/ioctl_forms.def"
#undef COMMAND
};

static const struct ioctl_form *find_form(uint32_t command)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i].command == command)
            return &forms[i];
    return NULL;
}

/* Those with the most used commands first. */
static const char *name_of(uint32_t command)
{
    static const uint16_t sets[] = {
        SYSTEM_CALL_SET_ioctl_terminals, SYSTEM_CALL_SET_ioctl_network, SYSTEM_CALL_SET_ioctl_storage,
        SYSTEM_CALL_SET_ioctl_machines,  SYSTEM_CALL_SET_ioctl_media,   SYSTEM_CALL_SET_ioctl_graphics,
        SYSTEM_CALL_SET_ioctl_devices,
    };
    const char *name = NULL;

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]) && name == NULL; i++)
        name = constant_set_name(sets[i], command);
    return name;
}

static void put_parts(const struct call_text *text, uint32_t command)
{
    static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};

    text_format(text->out, "_IOC(%s, ", directions[_IOC_DIR(command)]);
    call_text_put_hex(text, _IOC_TYPE(command));
    text_put_string(text->out, ", ");
    call_text_put_hex(text, _IOC_NR(command));
    text_put_string(text->out, ", ");
    call_text_put_hex(text, _IOC_SIZE(command));
    text_put_char(text->out, ')');
}

void ioctl_text_put_command(const struct call_text *text, uint32_t command)
{
    const char *name = name_of(command);
    char number[24];
    struct text_writer writer;

    text_init(&writer, number, sizeof(number));
    text_format(&writer, "%#x", command);
    if (!call_text_begin_name(text->out, number))
        return;
    if (name != NULL)
        text_put_string(text->out, name);
    else if (!input_text_put_command(text, command))
        put_parts(text, command);
    call_text_end_name(text->out);
}

bool ioctl_text_is_answer(uint32_t command)
{
    const struct ioctl_form *form = find_form(command);

    return form != NULL ? form->moment == ANSWERED || form->moment == BOTH : input_text_is_answer(command);
}

bool ioctl_text_is_alone(uint32_t command)
{
    const struct ioctl_form *form = find_form(command);

    return form != NULL && form->moment == NOTHING;
}

/* A string in an array, which need not have a NUL. */
static void put_name(const struct call_text *text, uint64_t address, size_t size_bytes)
{
    char name[VALUE_MAX];
    size_t length = 0;

    while (length < size_bytes && call_text_read(text, address + length, &name[length], 1) && name[length] != '\0')
        length++;
    if (length < size_bytes && !call_text_read(text, address + length, &name[length], 1))
        call_text_put_address(text, address);
    else
        call_text_put_quoted(text, name, length, length == size_bytes);
}

/* What is said about a partition of a disk. */
static void put_partition(const struct call_text *text, uint64_t address)
{
    struct {
        int32_t operation, flags, size_bytes, padding;
        uint64_t data;
    } request;

    if (!call_text_read(text, address, &request, sizeof(request))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{op=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_partition_operation, (uint32_t)request.operation);
    text_format(text->out, ", flags=%d, datalen=%d, data=", request.flags, request.size_bytes);
    struct_layout_put_at(text, STRUCT_LAYOUT_disk_partition, request.data);
    text_put_char(text->out, '}');
}

/* Random bytes that are added: how many bits of chance they have, and they themselves. */
static void put_entropy(const struct call_text *text, uint64_t address)
{
    int32_t head[2];

    if (!call_text_read(text, address, head, sizeof(head))) {
        call_text_put_address(text, address);
        return;
    }
    text_format(text->out, "{entropy_count=%d, buf_size=%d, buf=", head[0], head[1]);
    call_text_put_bytes(text, address + sizeof(head), head[1] > 0 ? (uint32_t)head[1] : 0);
    text_put_char(text->out, '}');
}

static void put_key(const struct call_text *text, uint64_t address)
{
    uint32_t pair[2];

    if (!call_text_read(text, address, pair, sizeof(pair))) {
        call_text_put_address(text, address);
        return;
    }
    text_format(text->out, "[%u, ", pair[0]);
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_input_key, pair[1]);
    text_put_char(text->out, ']');
}

static bool put_special(const struct call_text *text, const struct ioctl_form *form, uint64_t argument)
{
    switch ((enum ioctl_kind)form->form.kind) {
    case IOCTL_TERMINAL:
        terminal_text_put(text, argument, form->size_bytes);
        return true;
    case IOCTL_STRING:
    case IOCTL_NAME:
        put_name(text, argument, form->size_bytes);
        return true;
    case IOCTL_PARTITION:
        put_partition(text, argument);
        return true;
    case IOCTL_ENTROPY:
        put_entropy(text, argument);
        return true;
    case IOCTL_KEY:
        put_key(text, argument);
        return true;
    case IOCTL_COUNTER:
        struct_text_put(text, SYSTEM_CALL_STRUCT_perf_event_attr, argument);
        return true;
    default:
        return false;
    }
}

static void put_pointed(const struct call_text *text, const struct ioctl_form *form, uint64_t address)
{
    uint64_t value[VALUE_MAX / 8];
    bool is_number = form->form.kind < VALUE_TIMESPEC;
    size_t size_bytes = form->form.kind == VALUE_LAYOUT ? struct_layout_bytes(form->form.detail) : form->size_bytes;

    if (!call_text_read(text, address, value, size_bytes)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, is_number ? "[" : "");
    (void)value_text_put(text, form->form, value, size_bytes);
    text_put_string(text->out, is_number ? "]" : "");
}

/* Those of sockets are known to be pointers. */
static void put_unknown(const struct call_text *text, uint32_t command, uint64_t argument)
{
    if (command >> 8 == 0x89)
        call_text_put_address(text, argument);
    else if (!input_text_put_argument(text, command, argument))
        call_text_put_hex(text, argument);
}

void ioctl_text_put_argument(const struct call_text *text, uint32_t command, uint64_t argument)
{
    const struct ioctl_form *form = find_form(command);

    if (form == NULL) {
        put_unknown(text, command, argument);
    } else if (form->moment == ANSWERED && text->has_failed) {
        call_text_put_address(text, argument);
    } else if (form->moment == ITSELF && form->form.kind == VALUE_UNKNOWN) {
        call_text_put_hex(text, argument);
    } else if (put_special(text, form, argument)) {
        return;
    } else if (form->moment == ITSELF) {
        (void)value_text_put(text, form->form, &argument, form->size_bytes != 0 ? form->size_bytes : sizeof(argument));
    } else {
        put_pointed(text, form, argument);
    }
}
