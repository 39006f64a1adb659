/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "agent/descriptor_note.h"

#include "ring/detail_descriptor.h"
#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static uint8_t bytes[16384];
static struct detail_descriptor facts;
static char link_text[4096];

/* Notes it and reads that back. False: nothing is told of it. */
static bool note(int fd)
{
    struct detail_value_writer writer;
    struct detail_value value;
    const uint8_t *data;
    uint64_t address;
    size_t at = 0;

    memset(bytes, 0, sizeof(bytes));
    detail_value_writer_init(&writer, bytes, sizeof(bytes), 0);
    descriptor_note_put(&writer, fd);
    CHECK_EQUAL(detail_value_next(bytes, writer.used, &at, &value, &data), 1);
    CHECK_EQUAL(value.type, DETAIL_TYPE_POINTER);
    memcpy(&address, data, sizeof(address));
    CHECK_EQUAL(address, detail_descriptor_at(fd));
    CHECK_EQUAL(detail_value_next(bytes, writer.used, &at, &value, &data), 1);
    if (value.flags & DETAIL_VALUE_UNREADABLE)
        return false;
    memcpy(&facts, data, sizeof(facts));
    CHECK_EQUAL(value.data_bytes, sizeof(facts) + facts.link_bytes);
    memcpy(link_text, data + sizeof(facts), facts.link_bytes);
    link_text[facts.link_bytes] = '\0';
    return true;
}

static void files_and_devices_are_told(void)
{
    char path[] = "/tmp/gait-note-XXXXXX", folder[4096];
    int fd = mkstemp(path), device = open("/dev/null", O_RDONLY);

    CHECK_EQUAL(note(fd), 1);
    CHECK_TEXT(link_text, path);
    CHECK_EQUAL(S_ISREG(facts.mode) && !facts.is_deleted, 1);
    unlink(path);
    CHECK_EQUAL(note(fd) && facts.is_deleted, 1);
    close(fd);
    CHECK_EQUAL(note(fd), 0);
    CHECK_EQUAL(note(device), 1);
    CHECK_EQUAL(S_ISCHR(facts.mode) && facts.device == makedev(1, 3), 1);
    close(device);
    CHECK_EQUAL(note(AT_FDCWD), 1);
    CHECK_EQUAL(getcwd(folder, sizeof(folder)) != NULL, 1);
    CHECK_TEXT(link_text, folder);
}

static void sockets_have_protocols_and_addresses(void)
{
    int pair[2];

    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CHECK_EQUAL(note(pair[0]), 1);
    CHECK_TEXT(facts.protocol, "UNIX-STREAM");
    CHECK_EQUAL(facts.local_bytes == 2 && facts.peer_bytes == 2, 1);
    CHECK_EQUAL(strncmp(link_text, "socket:[", 8), 0);
    close(pair[0]);
    close(pair[1]);
}

static void without_room_nothing_is_told(void)
{
    struct detail_value_writer writer;

    memset(bytes, 0, sizeof(bytes));
    detail_value_writer_init(&writer, bytes, 64, 0);
    descriptor_note_begin(&writer);
    descriptor_note_put(&writer, 0);
    CHECK_EQUAL(writer.used <= 64, 1);
    for (size_t i = 64; i < sizeof(bytes); i++)
        CHECK_EQUAL(bytes[i], 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(files_and_devices_are_told),
    CHECK_CASE(sockets_have_protocols_and_addresses),
    CHECK_CASE(without_room_nothing_is_told),
};

CHECK_MAIN(cases)
