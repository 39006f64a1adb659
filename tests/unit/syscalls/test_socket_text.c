/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

static struct call_text_run run;

static void addresses_of_families(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(0x7f000001)};
    struct sockaddr_un local = {AF_UNIX, "/x"}, hidden = {AF_UNIX, "\0abc"};
    struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    socket_text_put_address(text, AT(&inet), sizeof(inet));
    CHECK_TEXT(run.buffer, "{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}");
    call_text_run_clear(&run);
    socket_text_put_address(text, AT(&local), 110);
    socket_text_put_address(text, AT(&hidden), 6);
    CHECK_TEXT(run.buffer, "{sa_family=AF_UNIX, sun_path=\"/x\"}{sa_family=AF_UNIX, sun_path=@\"abc\"}");
    call_text_run_clear(&run);
    socket_text_put_address(text, AT(&inet6), sizeof(inet6));
    CHECK_TEXT(run.buffer, "{sa_family=AF_INET6, sin6_port=htons(0), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "
                           "\"::1\", &sin6_addr), sin6_scope_id=0}");
    call_text_run_clear(&run);
    socket_text_put_address(text, 0x10, 16);
    socket_text_put_address(text, AT(&inet), 1);
    CHECK_EQUAL(strncmp(run.buffer, "0x100x", 6), 0);
}

static void messages(void)
{
    char bytes[] = "hello";
    struct iovec vector = {bytes, 5};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};

    memcpy(CMSG_DATA(&control.header), &(int){5}, sizeof(int));
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "sendmsg", 5, 3, AT(&message), MSG_NOSIGNAL),
               "sendmsg(3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"hello\", iov_len=5}], msg_iovlen=1, "
               "msg_controllen=0, msg_flags=0}, MSG_NOSIGNAL) = 5");
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    CHECK_EQUAL(strstr(CALL(&run, "sendmsg", 5, 3, AT(&message), 0),
                       "msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5]}], "
                       "msg_controllen=24") != NULL,
                1);
    CHECK_TEXT(CALL(&run, "recvmsg", -11, 3, AT(&message), 0),
               "recvmsg(3, {msg_namelen=0}, 0) = -1 EAGAIN (Resource temporarily unavailable)");
}

static void options_and_their_values(void)
{
    int one = 1;
    struct linger linger = {1, 2};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "setsockopt", 0, 3, SOL_SOCKET, SO_REUSEADDR, AT(&one), 4),
               "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0");
    CHECK_TEXT(CALL(&run, "setsockopt", 0, 3, SOL_SOCKET, SO_LINGER, AT(&linger), 8),
               "setsockopt(3, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=2}, 8) = 0");
    CHECK_TEXT(CALL(&run, "socket", 3, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP),
               "socket(AF_INET6, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 3");
    CHECK_TEXT(CALL(&run, "socket", 3, AF_NETLINK, SOCK_RAW, 0), "socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) = 3");
}

static void vectors_show_no_more_than_was_moved(void)
{
    char bytes[] = "abcdef";
    struct iovec vectors[2] = {{bytes, 3}, {bytes + 3, 3}};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "readv", 4, 3, AT(vectors), 2),
               "readv(3, [{iov_base=\"abc\", iov_len=3}, {iov_base=\"d\", iov_len=3}], 2) = 4");
    CHECK_TEXT(CALL(&run, "writev", 6, 3, AT(vectors), 2),
               "writev(3, [{iov_base=\"abc\", iov_len=3}, {iov_base=\"def\", iov_len=3}], 2) = 6");
}

static const struct check_case cases[] = {
    CHECK_CASE(addresses_of_families),
    CHECK_CASE(messages),
    CHECK_CASE(options_and_their_values),
    CHECK_CASE(vectors_show_no_more_than_was_moved),
};

CHECK_MAIN(cases)
