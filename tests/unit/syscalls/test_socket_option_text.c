/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

static struct call_text_run run;

static void values_are_what_the_option_says(void)
{
    int error = ECONNREFUSED, number = 3;
    struct ip_mreq group = {{htonl(0xe0000003)}, {htonl(0x7f000001)}};
    uint32_t length = 4;
    unsigned char membership[16] = {0, 0, 0, 0, 1, 0, 2, 0, 0xaa, 0xbb};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "getsockopt", 0, 3, SOL_SOCKET, SO_ERROR, AT(&error), AT(&length)),
               "getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0");
    CHECK_TEXT(CALL(&run, "setsockopt", 0, 3, SOL_IP, IP_ADD_MEMBERSHIP, AT(&group), 8),
               "setsockopt(3, SOL_IP, IP_ADD_MEMBERSHIP, {imr_multiaddr=inet_addr(\"224.0.0.3\"), "
               "imr_interface=inet_addr(\"127.0.0.1\")}, 8) = 0");
    CHECK_TEXT(CALL(&run, "setsockopt", 0, 3, 270, 1, AT(&number), 4),
               "setsockopt(3, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, [3], 4) = 0");
    CHECK_TEXT(CALL(&run, "setsockopt", 0, 3, 263, 1, AT(membership), 16),
               "setsockopt(3, SOL_PACKET, PACKET_ADD_MEMBERSHIP, {mr_ifindex=0, mr_type=PACKET_MR_PROMISC, mr_alen=2, "
               "mr_address=aa:bb}, 16) = 0");
}

static void values_that_are_cut(void)
{
    struct linger linger = {1, 2};
    uint32_t length = 4;

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "getsockopt", 0, 3, SOL_SOCKET, SO_LINGER, AT(&linger), AT(&length)),
               "getsockopt(3, SOL_SOCKET, SO_LINGER, {l_onoff=1}, [4]) = 0");
    length = 3;
    CHECK_TEXT(CALL(&run, "getsockopt", 0, 3, SOL_SOCKET, SO_KEEPALIVE, AT(&linger), AT(&length)),
               "getsockopt(3, SOL_SOCKET, SO_KEEPALIVE, \"\\x01\\x00\\x00\", [3]) = 0");
    CHECK_TEXT(CALL(&run, "setsockopt", -EINVAL, 3, SOL_SOCKET, SO_KEEPALIVE, 0x10, 3),
               "setsockopt(3, SOL_SOCKET, SO_KEEPALIVE, 0x10, 3) = -1 EINVAL (Invalid argument)");
}

static const struct check_case cases[] = {
    CHECK_CASE(values_are_what_the_option_says),
    CHECK_CASE(values_that_are_cut),
};

CHECK_MAIN(cases)
