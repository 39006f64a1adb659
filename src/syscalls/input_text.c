/* SPDX-License-Identifier: MIT */
/*
 * Commands of input devices that have a number or a length in them: EVIOCGNAME(64), EVIOCGBIT(EV_KEY, 96),
 * EVIOCGABS(ABS_X). What they answer are texts, or a bit for each key, light or axis that there is. Stateless.
 */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/struct_layout.h"

#include <linux/input.h>
#include <linux/ioctl.h>

#define BITS_MAX    256 /* bytes of a set of bits */
#define FIRST_BIT   0x20
#define LAST_BIT    0x3f
#define FIRST_AXIS  0x40
#define LAST_AXIS   0x7f
#define FIRST_WRITE 0xc0
#define SLOTS_MAX   256

/* Those whose length is in them: by their number. */
struct sized_command {
    uint8_t number;
    const char *name;
    uint16_t set; /* of the bits; 0: it is a text */
};

static const struct sized_command sized[] = {
    {0x06, "EVIOCGNAME", 0},
    {0x07, "EVIOCGPHYS", 0},
    {0x08, "EVIOCGUNIQ", 0},
    {0x09, "EVIOCGPROP", SYSTEM_CALL_SET_input_property},
    {0x0a, "EVIOCGMTSLOTS", 0},
    {0x18, "EVIOCGKEY", SYSTEM_CALL_SET_input_key},
    {0x19, "EVIOCGLED", SYSTEM_CALL_SET_input_light},
    {0x1a, "EVIOCGSND", SYSTEM_CALL_SET_input_sound},
    {0x1b, "EVIOCGSW", SYSTEM_CALL_SET_input_switch},
};

/* What there is of each type of event; 0: nothing has names. */
static const uint16_t sets_of_events[FIRST_BIT] = {
    [0] = SYSTEM_CALL_SET_input_event,         [EV_KEY] = SYSTEM_CALL_SET_input_key,
    [EV_REL] = SYSTEM_CALL_SET_input_relative, [EV_ABS] = SYSTEM_CALL_SET_input_absolute,
    [EV_MSC] = SYSTEM_CALL_SET_input_misc,     [EV_SW] = SYSTEM_CALL_SET_input_switch,
    [EV_LED] = SYSTEM_CALL_SET_input_light,    [EV_SND] = SYSTEM_CALL_SET_input_sound,
    [EV_FF] = SYSTEM_CALL_SET_input_effect,
};

static const struct sized_command *find_sized(uint32_t command)
{
    for (size_t i = 0; i < sizeof(sized) / sizeof(sized[0]); i++)
        if (sized[i].number == _IOC_NR(command))
            return &sized[i];
    return NULL;
}

static bool is_read(uint32_t command)
{
    return _IOC_TYPE(command) == 'E' && _IOC_DIR(command) == _IOC_READ;
}

static bool is_axis(uint32_t command)
{
    unsigned number = _IOC_NR(command);

    if (_IOC_TYPE(command) != 'E' || _IOC_SIZE(command) != sizeof(struct input_absinfo))
        return false;
    return (_IOC_DIR(command) == _IOC_READ && number >= FIRST_AXIS && number <= LAST_AXIS) ||
           (_IOC_DIR(command) == _IOC_WRITE && number >= FIRST_WRITE);
}

bool input_text_put_command(const struct call_text *text, uint32_t command)
{
    unsigned number = _IOC_NR(command);
    const struct sized_command *known = find_sized(command);

    if (is_axis(command)) {
        text_put_string(text->out, number >= FIRST_WRITE ? "EVIOCSABS(" : "EVIOCGABS(");
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_input_absolute, number & 0x3f);
        text_put_char(text->out, ')');
        return true;
    }
    if (!is_read(command))
        return false;
    if (known != NULL) {
        text_format(text->out, "%s(%u)", known->name, _IOC_SIZE(command));
        return true;
    }
    if (number < FIRST_BIT || number > LAST_BIT)
        return false;
    text_put_string(text->out, "EVIOCGBIT(");
    if (number == FIRST_BIT)
        text_put_char(text->out, '0');
    else
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_input_event, number - FIRST_BIT);
    text_format(text->out, ", %u)", _IOC_SIZE(command));
    return true;
}

bool input_text_is_answer(uint32_t command)
{
    unsigned number = _IOC_NR(command);

    return is_read(command) && (find_sized(command) != NULL || (number >= FIRST_BIT && number <= LAST_AXIS));
}

static void put_bits(const struct call_text *text, unsigned set, uint64_t address, size_t size_bytes)
{
    unsigned char bits[BITS_MAX];
    unsigned shown = 0;

    if (size_bytes > sizeof(bits))
        size_bytes = sizeof(bits);
    if (size_bytes == 0 || !call_text_read(text, address, bits, size_bytes)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '[');
    for (unsigned i = 0; i < size_bytes * 8; i++) {
        if ((bits[i / 8] >> (i % 8) & 1) == 0)
            continue;
        if (shown++ != 0)
            text_put_char(text->out, ' ');
        if (shown == 3 && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        if (set != 0 && constant_set_name(set, i) != NULL)
            text_put_string(text->out, constant_set_name(set, i));
        else
            call_text_put_hex(text, i);
    }
    text_put_char(text->out, ']');
}

static void put_slots(const struct call_text *text, uint64_t address, size_t size_bytes)
{
    uint32_t values[SLOTS_MAX];
    size_t count = size_bytes / sizeof(values[0]) < SLOTS_MAX ? size_bytes / sizeof(values[0]) : SLOTS_MAX;

    if (count == 0 || !call_text_read(text, address, values, count * sizeof(values[0]))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{code=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_input_slot, values[0]);
    text_put_string(text->out, ", values=[");
    for (size_t i = 1; i < count; i++)
        text_format(text->out, "%s%d", i == 1 ? "" : ", ", (int)values[i]);
    text_put_string(text->out, "]}");
}

bool input_text_put_argument(const struct call_text *text, uint32_t command, uint64_t address)
{
    unsigned number = _IOC_NR(command);
    const struct sized_command *known = find_sized(command);
    size_t there = text->result > 0 ? (size_t)text->result : 0;

    if (is_axis(command)) {
        if (text->has_failed && number < FIRST_WRITE)
            call_text_put_address(text, address);
        else
            struct_layout_put_at(text, STRUCT_LAYOUT_input_absolute, address);
        return true;
    }
    if (!input_text_is_answer(command))
        return false;
    if (text->has_failed)
        call_text_put_address(text, address);
    else if (known != NULL && number == 0x0a)
        put_slots(text, address, _IOC_SIZE(command));
    else if (known != NULL && known->set == 0)
        call_text_put_bytes(text, address, there > 0 ? there - 1 : 0);
    else
        put_bits(text, known != NULL ? known->set : sets_of_events[number & 0x1f], address, there);
    return true;
}
