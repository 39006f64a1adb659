/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "arch/system_call_layout.h"
#include "syscalls/names/constant_set.h"

#include <poll.h>
#include <string.h>

#define SET_BITS_MAX 65536

void poll_text_put_pollfd(const struct call_text *text, const void *bytes)
{
    struct pollfd entry;

    memcpy(&entry, bytes, sizeof(entry));
    text_put_string(text->out, "{fd=");
    call_text_put_fd(text, entry.fd);
    if (entry.fd >= 0) {
        text_put_string(text->out, ", events=");
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_poll, (uint16_t)entry.events);
    }
    text_put_char(text->out, '}');
}

void poll_text_put_epoll_event(const struct call_text *text, const void *bytes)
{
    uint32_t events, low;
    uint64_t data;

    memcpy(&events, bytes, sizeof(events));
    memcpy(&data, (const char *)bytes + LAYOUT_EPOLL_DATA_AT, sizeof(data));
    low = (uint32_t)data;
    text_put_string(text->out, "{events=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_epoll_events, events);
    text_format(text->out, ", data={u32=%u, u64=%lu}}", low, (unsigned long)data);
}

/* Whether that bit of a set in the program is set; false also where it cannot be read. */
static bool bit_is_set(const struct call_text *text, uint64_t address, uint64_t bit)
{
    unsigned char byte;

    return call_text_read(text, address + bit / 8, &byte, 1) && (byte >> bit % 8 & 1) != 0;
}

static void put_set(const struct call_text *text, uint64_t address, uint64_t bits, bool are_fds)
{
    bool is_first = true;

    text_put_char(text->out, '[');
    for (uint64_t i = 0; i < bits && i < SET_BITS_MAX; i++) {
        if (!bit_is_set(text, address, i))
            continue;
        if (!is_first)
            text_put_char(text->out, ' ');
        is_first = false;
        if (are_fds)
            call_text_put_fd(text, (int)i);
        else
            text_put_unsigned(text->out, i);
    }
    text_put_char(text->out, ']');
}

void poll_text_put_fd_set(const struct call_text *text, uint64_t address, uint64_t count)
{
    unsigned char byte;

    if (address == 0 || (int)count < 0 || (count > 0 && !call_text_read(text, address, &byte, 1)))
        call_text_put_address(text, address);
    else
        put_set(text, address, (uint32_t)count, true);
}

void poll_text_put_cpu_set(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    unsigned char byte;

    if (size_bytes == 0 || !call_text_read(text, address, &byte, 1))
        call_text_put_address(text, address);
    else
        put_set(text, address, size_bytes < SET_BITS_MAX / 8 ? size_bytes * 8 : SET_BITS_MAX, false);
}

static void put_left(const struct call_text *text, uint64_t address, bool has_timespec, const char *before)
{
    uint64_t time[2];

    if (!call_text_read(text, address, time, sizeof(time)))
        return;
    text_format(text->out, "%sleft ", before);
    if (has_timespec)
        time_text_put_timespec(text, time);
    else
        time_text_put_timeval(text, time);
}

void poll_text_put_poll_result(const struct call_text *text, bool has_timespec)
{
    uint64_t count = (uint32_t)text->arguments[1], shown = 0;

    if (text->has_failed)
        return;
    if (text->result == 0) {
        text_put_string(text->out, " (Timeout)");
        return;
    }
    text_put_string(text->out, " ([");
    for (uint64_t i = 0; i < count && i < CALL_TEXT_ELEMENTS_MAX; i++) {
        struct pollfd entry;

        if (!call_text_read(text, text->arguments[0] + i * sizeof(entry), &entry, sizeof(entry)))
            break;
        if (entry.revents == 0)
            continue;
        text_put_string(text->out, shown == 0 ? "" : ", ");
        if (shown++ == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        /* What it is stands among the arguments. */
        text_format(text->out, "{fd=%d, revents=", entry.fd);
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_poll, (uint16_t)entry.revents);
        text_put_char(text->out, '}');
    }
    text_put_char(text->out, ']');
    if (has_timespec)
        put_left(text, text->arguments[2], true, ", ");
    text_put_char(text->out, ')');
}

void poll_text_put_select_result(const struct call_text *text, bool has_timespec)
{
    static const char *const names[] = {"in ", "out ", "except "};
    bool is_first = true;

    if (text->has_failed)
        return;
    if (text->result == 0) {
        text_put_string(text->out, " (Timeout)");
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        uint64_t address = text->arguments[1 + i], count = (uint32_t)text->arguments[0];
        bool is_any = false;

        for (uint64_t bit = 0; address != 0 && bit < count && bit < SET_BITS_MAX && !is_any; bit++)
            is_any = bit_is_set(text, address, bit);
        if (!is_any)
            continue;
        text_format(text->out, "%s%s", is_first ? " (" : ", ", names[i]);
        put_set(text, address, count, false);
        is_first = false;
    }
    if (text->arguments[4] != 0)
        put_left(text, text->arguments[4], has_timespec, is_first ? " (" : ", ");
    if (!is_first || text->arguments[4] != 0)
        text_put_char(text->out, ')');
}
