/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <linux/if_alg.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>

static struct call_text_run run;

static void addresses_of_rare_families(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct sockaddr_alg algorithm = {.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha1"};
    struct sockaddr_vm machine = {.svm_family = AF_VSOCK, .svm_cid = 2, .svm_port = VMADDR_PORT_ANY};
    struct sockaddr_ll packet = {
        .sll_family = AF_PACKET, .sll_protocol = 0x0300, .sll_hatype = 1, .sll_halen = 2, .sll_addr = {1, 0xab}};
    struct sockaddr_nl netlink = {.nl_family = AF_NETLINK, .nl_pid = 7, .nl_groups = 0x11};

    socket_text_put_address(text, AT(&algorithm), sizeof(algorithm));
    CHECK_TEXT(run.buffer, "{sa_family=AF_ALG, salg_type=\"hash\", salg_feat=0, salg_mask=0, salg_name=\"sha1\"}");
    call_text_run_clear(&run);
    socket_text_put_address(text, AT(&machine), sizeof(machine));
    CHECK_TEXT(run.buffer, "{sa_family=AF_VSOCK, svm_cid=VMADDR_CID_HOST, svm_port=VMADDR_PORT_ANY, svm_flags=0}");
    call_text_run_clear(&run);
    socket_text_put_address(text, AT(&packet), sizeof(packet));
    CHECK_TEXT(run.buffer, "{sa_family=AF_PACKET, sll_protocol=htons(ETH_P_ALL), sll_ifindex=0, "
                           "sll_hatype=ARPHRD_ETHER, sll_pkttype=PACKET_HOST, sll_halen=2, sll_addr=[0x1, 0xab]}");
    call_text_run_clear(&run);
    socket_text_put_address(text, AT(&netlink), sizeof(netlink));
    CHECK_TEXT(run.buffer, "{sa_family=AF_NETLINK, nl_pid=7, nl_groups=0x000011}");
}

static void addresses_that_are_too_short_are_bytes(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct sockaddr_nl netlink = {.nl_family = AF_NETLINK};

    socket_text_put_address(text, AT(&netlink), 6);
    CHECK_TEXT(run.buffer, "{sa_family=AF_NETLINK, sa_data=\"\\0\\0\\0\\0\"}");
    call_text_run_clear(&run);
    socket_text_put_address(text, AT(&netlink), 1);
    CHECK_EQUAL(strncmp(run.buffer, "0x", 2), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(addresses_of_rare_families),
    CHECK_CASE(addresses_that_are_too_short_are_bytes),
};

CHECK_MAIN(cases)
