/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/netlink_text.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

static struct call_text_run run;

static void messages_have_heads_and_structs(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct {
        struct nlmsghdr head;
        struct rtgenmsg message;
    } request = {.head = {20, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, .message = {AF_INET}};
    struct nlmsghdr end = {16, NLMSG_DONE, NLM_F_MULTI, 1, 7};

    CHECK_EQUAL(netlink_text_put(text, NETLINK_ROUTE, AT(&request), 17), 1);
    CHECK_TEXT(run.buffer, "[{nlmsg_len=20, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST|NLM_F_DUMP, nlmsg_seq=1, "
                           "nlmsg_pid=0}, {family=AF_INET}]");
    call_text_run_clear(&run);
    CHECK_EQUAL(netlink_text_put(text, NETLINK_ROUTE, AT(&end), 16), 1);
    CHECK_TEXT(run.buffer, "{nlmsg_len=16, nlmsg_type=NLMSG_DONE, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=1, nlmsg_pid=7}");
    CHECK_EQUAL(netlink_text_put(text, NETLINK_ROUTE, 0x10, 16), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(messages_have_heads_and_structs),
};

CHECK_MAIN(cases)
