/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/check.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

static void protocols_of_descriptors_are_known(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG), other = socket(AF_UNIX, SOCK_STREAM, 0);

    CHECK_EQUAL(bind(netlink, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_EQUAL(process_netlink_protocol(getpid(), netlink), NETLINK_SOCK_DIAG);
    CHECK_EQUAL(process_netlink_protocol(getpid(), other), -1);
    CHECK_EQUAL(process_netlink_protocol(getpid(), -1), -1);
    close(netlink);
    close(other);
}

static const struct check_case cases[] = {
    CHECK_CASE(protocols_of_descriptors_are_known),
};

CHECK_MAIN(cases)
