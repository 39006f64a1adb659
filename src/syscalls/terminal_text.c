/* SPDX-License-Identifier: MIT */
/*
 * Settings of terminals: struct termio, termios and termios2, which differ in how wide their flags are and in how many
 * characters they have. Values as those of asm/termbits.h, which libc's headers do not go together with. Stateless.
 */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/value_text.h"

#include <string.h>

#define TERMINAL_BYTES 44
#define SPEED_MASK     0x100f
#define SPEED_SHIFT    16
#define WIDTH_MASK     0x30
#define CHARACTERS     19
#define OLD_CHARACTERS 8
#define OLD_BYTES      18
#define PLAIN_BYTES    36

/* Several bits that are one of several values: delays of output. */
struct choice_of_bits {
    uint32_t mask;
    unsigned shift;
    const char *names[4];
};

static const struct choice_of_bits delays[] = {
    {0x100, 8, {"NL0", "NL1"}},
    {0x600, 9, {"CR0", "CR1", "CR2", "CR3"}},
    {0x1800, 11, {"TAB0", "TAB1", "TAB2", "XTABS"}},
    {0x2000, 13, {"BS0", "BS1"}},
    {0x4000, 14, {"VT0", "VT1"}},
    {0x8000, 15, {"FF0", "FF1"}},
};

/* What is not set has no name: nothing stands there, as strace has it. */
static void put_rest(const struct call_text *text, enum system_call_constants set, uint64_t bits)
{
    bool is_first = true;
    uint64_t rest = constant_set_put_bits(text->out, set, bits, &is_first);

    if (rest != 0)
        text_format(text->out, "%s%#lx", is_first ? "" : "|", (unsigned long)rest);
}

static void put_output(const struct call_text *text, uint32_t flags)
{
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        text_format(text->out, "%s%s", i == 0 ? "" : "|", delays[i].names[(flags & delays[i].mask) >> delays[i].shift]);
        flags &= ~delays[i].mask;
    }
    text_put_char(text->out, '|');
    put_rest(text, SYSTEM_CALL_SET_terminal_output, flags);
}

static void put_control(const struct call_text *text, uint32_t flags)
{
    static const char *const widths[] = {"CS5", "CS6", "CS7", "CS8"};
    uint32_t input = flags >> SPEED_SHIFT & SPEED_MASK;

    constant_set_put_choice(text->out, SYSTEM_CALL_SET_termios_baud, flags & SPEED_MASK);
    if (input != 0) {
        text_put_char(text->out, '|');
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_termios_baud, input);
        text_put_string(text->out, "<<IBSHIFT");
    }
    text_format(text->out, "|%s|", widths[(flags & WIDTH_MASK) >> 4]);
    put_rest(text, SYSTEM_CALL_SET_terminal_control,
             flags & ~(uint32_t)(SPEED_MASK | SPEED_MASK << SPEED_SHIFT | WIDTH_MASK));
}

static void put_characters(const struct call_text *text, const unsigned char *characters, unsigned count)
{
    static const char *const names[] = {"VINTR",    "VQUIT",    "VERASE",  "VKILL",  "VEOF",  "VTIME",
                                        "VMIN",     "VSWTC",    "VSTART",  "VSTOP",  "VSUSP", "VEOL",
                                        "VREPRINT", "VDISCARD", "VWERASE", "VLNEXT", "VEOL2"};

    text_put_string(text->out, ", c_cc=[");
    for (unsigned i = 0; i < count; i++) {
        text_put_string(text->out, i == 0 ? "[" : ", [");
        if (i < sizeof(names) / sizeof(names[0]))
            text_put_string(text->out, names[i]);
        else
            text_put_unsigned(text->out, i);
        text_put_string(text->out, "]=");
        call_text_put_hex(text, characters[i]);
    }
    text_put_char(text->out, ']');
}

static void put_flags(const struct call_text *text, const uint32_t *flags)
{
    text_put_string(text->out, "{c_iflag=");
    put_rest(text, SYSTEM_CALL_SET_terminal_input, flags[0]);
    text_put_string(text->out, ", c_oflag=");
    put_output(text, flags[1]);
    text_put_string(text->out, ", c_cflag=");
    put_control(text, flags[2]);
    text_put_string(text->out, ", c_lflag=");
    put_rest(text, SYSTEM_CALL_SET_terminal_local, flags[3]);
}

void terminal_text_put(const struct call_text *text, uint64_t address, size_t size_bytes)
{
    unsigned char bytes[TERMINAL_BYTES];
    size_t width = size_bytes == OLD_BYTES ? 2 : 4;
    const unsigned char *behind = bytes + 4 * width;
    uint32_t flags[4];

    if (!call_text_read(text, address, bytes, size_bytes)) {
        call_text_put_address(text, address);
        return;
    }
    for (size_t i = 0; i < 4; i++)
        flags[i] = (uint32_t)value_unsigned(bytes + i * width, width);
    put_flags(text, flags);
    if (!text->options->is_verbose) {
        text_put_string(text->out, ", ...}");
        return;
    }
    text_put_string(text->out, ", c_line=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_terminal_discipline, behind[0]);
    put_characters(text, behind + 1, width == 2 ? OLD_CHARACTERS : CHARACTERS);
    if (size_bytes > PLAIN_BYTES)
        text_format(text->out, ", c_ispeed=%u, c_ospeed=%u", (unsigned)value_unsigned(bytes + 36, 4),
                    (unsigned)value_unsigned(bytes + 40, 4));
    text_put_char(text->out, '}');
}
