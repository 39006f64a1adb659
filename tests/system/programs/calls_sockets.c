/* SPDX-License-Identifier: MIT */
/* Makes calls about sockets whose texts are compared: addresses, options, control messages, filters; good, bad, cut. */
#define _GNU_SOURCE
#include "edge_of_memory.h"

#include <linux/filter.h>
#include <linux/if_alg.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

static void connect_to(const void *address, size_t size_bytes)
{
    connect(-1, edge_copy(address, size_bytes), (socklen_t)size_bytes);
    connect(-1, edge_copy(address, size_bytes), (socklen_t)size_bytes + 1);
}

static void addresses(void)
{
    struct sockaddr_alg algorithm = {.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha1"};
    struct sockaddr_vm machine = {.svm_family = AF_VSOCK, .svm_cid = 2, .svm_port = VMADDR_PORT_ANY};
    struct sockaddr_ll packet = {AF_PACKET, 0x0300, 1, 1, 0, 6, {1, 2, 3, 4, 5, 6}};
    struct sockaddr_nl netlink = {AF_NETLINK, 0, 12, 0x11};
    struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_port = 0x5000, .sin6_scope_id = 1};
    struct sockaddr_un local = {AF_UNIX, "/no/such"};
    unsigned char bytes[32] = {0};

    connect_to(&algorithm, sizeof(algorithm));
    connect_to(&machine, sizeof(machine));
    connect_to(&packet, sizeof(packet));
    connect_to(&netlink, sizeof(netlink));
    connect_to(&inet6, sizeof(inet6));
    inet6.sin6_addr.s6_addr[0] = 0xfe;
    inet6.sin6_addr.s6_addr[1] = 0x80;
    connect_to(&inet6, sizeof(inet6));
    connect_to(&local, sizeof(local));
    for (unsigned family = 0; family < 46; family++) {
        memcpy(bytes, &(uint16_t){(uint16_t)family}, 2);
        connect(-1, (struct sockaddr *)bytes, 8);
        connect(-1, (struct sockaddr *)bytes, 16);
    }
}

static void options(int fd)
{
    static const int numbers[] = {SO_DEBUG,    SO_REUSEADDR, SO_TYPE,       SO_ERROR,    SO_SNDBUF, SO_LINGER,
                                  SO_PASSCRED, SO_PEERCRED,  SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN, SO_BUSY_POLL};
    struct ip_mreq group = {{htonl(0xe0000003)}, {htonl(0x7f000001)}};
    struct packet_mreq membership = {1, PACKET_MR_PROMISC, 6, {1, 2, 3, 4, 5, 6}};
    struct group_req request = {.gr_interface = 1};

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        for (socklen_t room = 0; room <= 16; room += room == 12 ? 4 : room < 5 ? 1 : 7) {
            socklen_t length = room;
            char value[16] = {0};

            getsockopt(fd, SOL_SOCKET, numbers[i], value, &length);
            setsockopt(-1, SOL_SOCKET, numbers[i], value, room);
        }
    }
    request.gr_group.ss_family = AF_INET;
    setsockopt(-1, SOL_IP, IP_ADD_MEMBERSHIP, edge_copy(&group, sizeof(group)), sizeof(group));
    setsockopt(-1, SOL_IP, IP_ADD_MEMBERSHIP, edge_copy(&group, 7), 7);
    setsockopt(-1, SOL_IP, MCAST_JOIN_GROUP, &request, sizeof(request));
    setsockopt(-1, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof(membership));
    setsockopt(-1, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &(int){3}, 4);
    setsockopt(-1, IPPROTO_TCP, TCP_NODELAY, &(int){1}, 4);
}

static void send_control(void *control, size_t size_bytes)
{
    struct msghdr message = {.msg_control = control, .msg_controllen = size_bytes};

    sendmsg(-1, &message, 0);
}

static void control_messages(void)
{
    static const int of_sockets[] = {1, 2, 3, 29, 35, 37, 41, 63, 64, 65};
    static const int of_internet[] = {IP_TOS, IP_TTL, IP_RECVOPTS, IP_PKTINFO, IP_RECVERR, IP_ORIGDSTADDR, 99};
    struct {
        struct cmsghdr head;
        unsigned char data[48];
    } message = {.head = {sizeof(message), SOL_SOCKET, 0}};

    for (unsigned i = 0; i < sizeof(of_sockets) / sizeof(of_sockets[0]); i++) {
        message.head.cmsg_type = of_sockets[i];
        send_control(edge_copy(&message, sizeof(message)), sizeof(message));
    }
    message.head.cmsg_level = SOL_IP;
    for (unsigned i = 0; i < sizeof(of_internet) / sizeof(of_internet[0]); i++) {
        message.head.cmsg_type = of_internet[i];
        message.head.cmsg_len = sizeof(message.head) + 32;
        send_control(edge_copy(&message, sizeof(message)), sizeof(message.head) + 32);
    }
    message.head.cmsg_len = 3;
    send_control(edge_copy(&message, 20), 20);
    send_control((void *)8, 64);
}

static void filters(int fd)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 17, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {4, edge_copy(instructions, sizeof(instructions))};

    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
    program.len = 5;
    setsockopt(-1, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void interfaces(int fd)
{
    static const unsigned long commands[] = {SIOCGIFINDEX,  SIOCGIFFLAGS, SIOCGIFMTU,    SIOCGIFADDR,
                                             SIOCGIFHWADDR, SIOCGIFMAP,   SIOCGIFTXQLEN, SIOCGIFMETRIC};
    struct ifreq request = {.ifr_name = "lo"};

    for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        ioctl(fd, commands[i], edge_copy(&request, sizeof(request)));
        ioctl(-1, commands[i], edge_copy(&request, sizeof(request)));
        ioctl(-1, commands[i] + 1, edge_copy(&request, sizeof(request)));
    }
    ioctl(fd, SIOCGIFNAME, &(struct ifreq){.ifr_ifindex = 1});
}

int main(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    addresses();
    options(fd);
    control_messages();
    filters(fd);
    interfaces(fd);
    return 0;
}
