/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"

#include <asm/termbits.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>

/* Not in headers together with termbits.h. */
#define GET_ATTRIBUTES 0x5401
#define SET_FIRST      0x5402
#define SET_LAST       0x5404
#define CLONE_FILE     0x40049409

void ioctl_text_put_command(const struct call_text *text, uint32_t command)
{
    static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
    const char *name = constant_set_name(SYSTEM_CALL_SET_ioctl, command);

    if (name != NULL) {
        text_put_string(text->out, name);
        return;
    }
    text_format(text->out, "_IOC(%s, ", directions[_IOC_DIR(command)]);
    call_text_put_hex(text, _IOC_TYPE(command));
    text_put_string(text->out, ", ");
    call_text_put_hex(text, _IOC_NR(command));
    text_put_string(text->out, ", ");
    call_text_put_hex(text, _IOC_SIZE(command));
    text_put_char(text->out, ')');
}

bool ioctl_text_is_answer(uint32_t command)
{
    switch (command) {
    case GET_ATTRIBUTES:
    case TIOCGWINSZ:
    case TIOCGPGRP:
    case TIOCGSID:
    case TIOCOUTQ:
    case TIOCGPTN:
    case FIONREAD:
        return true;
    default:
        return constant_set_name(SYSTEM_CALL_SET_ioctl, command) != NULL && _IOC_DIR(command) == _IOC_READ;
    }
}

bool ioctl_text_is_alone(uint32_t command)
{
    return command == FIOCLEX || command == FIONCLEX || command == TIOCNOTTY || command == TIOCEXCL ||
           command == TIOCNXCL;
}

static void put_terminal(const struct call_text *text, uint64_t address)
{
    struct termios terminal;
    const char *speed;

    if (!call_text_read(text, address, &terminal, sizeof(terminal))) {
        call_text_put_address(text, address);
        return;
    }
    speed = constant_set_name(SYSTEM_CALL_SET_termios_baud, terminal.c_cflag & CBAUD);
    text_format(text->out, "{%s %sopost %sisig %sicanon %secho ...}", speed == NULL ? "B???" : speed,
                (terminal.c_oflag & OPOST) != 0 ? "" : "-", (terminal.c_lflag & ISIG) != 0 ? "" : "-",
                (terminal.c_lflag & ICANON) != 0 ? "" : "-", (terminal.c_lflag & ECHO) != 0 ? "" : "-");
}

static void put_window(const struct call_text *text, uint64_t address)
{
    uint16_t sizes[4];

    if (call_text_read(text, address, sizes, sizeof(sizes)))
        text_format(text->out, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", sizes[0], sizes[1], sizes[2],
                    sizes[3]);
    else
        call_text_put_address(text, address);
}

static void put_number(const struct call_text *text, uint64_t address)
{
    int number;

    if (call_text_read(text, address, &number, sizeof(number)))
        text_format(text->out, "[%d]", number);
    else
        call_text_put_address(text, address);
}

void ioctl_text_put_argument(const struct call_text *text, uint32_t command, uint64_t argument)
{
    if (ioctl_text_is_answer(command) && text->has_failed) {
        call_text_put_address(text, argument);
        return;
    }
    switch (command) {
    case TIOCGWINSZ:
    case TIOCSWINSZ:
        put_window(text, argument);
        break;
    case TIOCGPGRP:
    case TIOCSPGRP:
    case TIOCGSID:
    case TIOCOUTQ:
    case FIONREAD:
    case FIONBIO:
    case FIOASYNC:
    case TIOCGPTN:
    case TIOCSPTLCK:
        put_number(text, argument);
        break;
    case CLONE_FILE:
        call_text_put_fd(text, (int)argument);
        break;
    default:
        if (command == GET_ATTRIBUTES || (command >= SET_FIRST && command <= SET_LAST))
            put_terminal(text, argument);
        else
            call_text_put_hex(text, argument);
        break;
    }
}
