/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <netinet/in.h>
#include <sys/socket.h>

static struct call_text_run run;

/* struct cmsghdr without what follows it. */
struct header {
    size_t length;
    int level;
    int type;
};

struct two_messages {
    struct header first;
    int descriptors[2];
    struct header second;
    struct in_pktinfo info;
};

static void messages_say_what_they_carry(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct two_messages messages = {
        .first = {24, SOL_SOCKET, SCM_RIGHTS},
        .descriptors = {5, 6},
        .second = {28, SOL_IP, IP_PKTINFO},
        .info = {0, {htonl(0x7f000001)}, {htonl(0x7f000002)}},
    };

    control_text_put(text, AT(&messages), 24 + 28);
    CHECK_TEXT(run.buffer, "[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5, 6]}, "
                           "{cmsg_len=28, cmsg_level=SOL_IP, cmsg_type=IP_PKTINFO, cmsg_data={ipi_ifindex=0, "
                           "ipi_spec_dst=inet_addr(\"127.0.0.1\"), ipi_addr=inet_addr(\"127.0.0.2\")}}]");
}

static void messages_that_are_cut_are_told(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct two_messages messages = {.first = {0, SOL_SOCKET, SCM_RIGHTS}};
    char expected[128];

    control_text_put(text, AT(&messages), 17);
    snprintf(expected, sizeof(expected), "[{cmsg_len=0, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS}, ... /* %#lx */]",
             (unsigned long)AT(&messages.descriptors));
    CHECK_TEXT(run.buffer, expected);
    call_text_run_clear(&run);
    control_text_put(text, 0x10, 64);
    CHECK_TEXT(run.buffer, "0x10");
    call_text_run_clear(&run);
    messages.first = (struct header){20, SOL_SOCKET, 29};
    control_text_put(text, AT(&messages), 20);
    CHECK_TEXT(run.buffer, "[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SO_TIMESTAMP_OLD, cmsg_data=???}]");
}

static const struct check_case cases[] = {
    CHECK_CASE(messages_say_what_they_carry),
    CHECK_CASE(messages_that_are_cut_are_told),
};

CHECK_MAIN(cases)
