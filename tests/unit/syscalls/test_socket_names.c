/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/socket_names.h"

#include "support/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char buffer[512];
static struct text_writer out;

static const char *name_of(const char *protocol, int fd)
{
    struct stat info;

    fstat(fd, &info);
    text_init(&out, buffer, sizeof(buffer));
    return socket_name_put(&out, protocol, info.st_ino) ? buffer : "nothing";
}

static void connections_have_two_ends(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    char expected[64];

    CHECK_EQUAL(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_EQUAL(listen(server, 1), 0);
    CHECK_EQUAL(getsockname(server, (struct sockaddr *)&address, &length), 0);
    snprintf(expected, sizeof(expected), "127.0.0.1:%u", ntohs(address.sin_port));
    CHECK_TEXT(name_of("TCP", server), expected);
    CHECK_EQUAL(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
    snprintf(expected, sizeof(expected), "->127.0.0.1:%u", ntohs(address.sin_port));
    CHECK_EQUAL(strstr(name_of("TCP", client), expected) != NULL, 1);
    close(client);
    close(server);
    CHECK_TEXT(name_of("TCP", 0), "nothing");
}

static void local_ones_have_inodes_and_names(void)
{
    int pair[2];
    char expected[64];
    struct stat first, second;

    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fstat(pair[0], &first);
    fstat(pair[1], &second);
    snprintf(expected, sizeof(expected), "%lu->%lu", (unsigned long)first.st_ino, (unsigned long)second.st_ino);
    CHECK_TEXT(name_of("UNIX-STREAM", pair[0]), expected);
    close(pair[0]);
    close(pair[1]);
}

static void known_addresses_are_written(void)
{
    struct sockaddr_in6 local = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(80)};
    struct sockaddr_in6 peer = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(9)};
    struct socket_addresses addresses = {.local = &local, .local_bytes = sizeof(local), .peer = &peer};

    text_init(&out, buffer, sizeof(buffer));
    CHECK_EQUAL(socket_addresses_put(&out, &addresses), 1);
    CHECK_TEXT(buffer, "[::1]:80");
    addresses.peer_bytes = sizeof(peer);
    text_init(&out, buffer, sizeof(buffer));
    CHECK_EQUAL(socket_addresses_put(&out, &addresses), 1);
    CHECK_TEXT(buffer, "[::1]:80->[::1]:9");
    local.sin6_port = 0;
    text_init(&out, buffer, sizeof(buffer));
    CHECK_EQUAL(socket_addresses_put(&out, &addresses), 0);
    CHECK_TEXT(buffer, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(connections_have_two_ends),
    CHECK_CASE(local_ones_have_inodes_and_names),
    CHECK_CASE(known_addresses_are_written),
};

CHECK_MAIN(cases)
