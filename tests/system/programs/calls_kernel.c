/* SPDX-License-Identifier: MIT */
/* Makes calls with attributes in structs, and of operations, whose texts are compared. Nearly all fail. */
#define _GNU_SOURCE
#include "edge_of_memory.h"

#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void programs_in_the_kernel(void)
{
    for (unsigned command = 0; command <= 35; command++) {
        union bpf_attr attributes = {0};

        /* Those would find something, or be asked for what there is: the answer is not the same twice. */
        if (command == BPF_PROG_GET_NEXT_ID || command == BPF_MAP_GET_NEXT_ID || command == BPF_BTF_GET_NEXT_ID ||
            command == BPF_LINK_GET_NEXT_ID || command == BPF_ENABLE_STATS || command == BPF_LINK_CREATE)
            continue;
        memset(&attributes, 0xff, 16);
        syscall(SYS_bpf, command, edge_copy(&attributes, 120), 120);
        syscall(SYS_bpf, command, edge_copy(&attributes, 16), 16);
        syscall(SYS_bpf, command, edge_copy(&attributes, 16), 24);
    }
}

static void counters(void)
{
    for (unsigned type = 0; type < 7; type++) {
        struct perf_event_attr attributes = {.type = type,
                                             .size = sizeof(attributes) < 128 ? sizeof(attributes) : 128,
                                             .config = type,
                                             .disabled = 1,
                                             .inherit_thread = 1,
                                             .remove_on_exec = 1,
                                             .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};

        syscall(SYS_perf_event_open, edge_copy(&attributes, 128), -1, -1, -1, 0);
        attributes.size = 8;
        syscall(SYS_perf_event_open, edge_copy(&attributes, 128), -1, -1, -1, PERF_FLAG_FD_CLOEXEC);
        syscall(SYS_perf_event_open, edge_copy(&attributes, 12), -1, -1, -1, 0);
    }
}

static void rings_and_rules(void)
{
    struct io_uring_params parameters = {.flags = 0xff000000, .sq_thread_cpu = 1};
    struct landlock_path_beneath_attr path = {LANDLOCK_ACCESS_FS_EXECUTE, -1};
    unsigned long rules[2] = {LANDLOCK_ACCESS_FS_READ_FILE, 0};

    syscall(SYS_io_uring_setup, 1, edge_copy(&parameters, sizeof(parameters)));
    syscall(SYS_io_uring_setup, 1, edge_copy(&parameters, 20));
    syscall(SYS_landlock_create_ruleset, edge_copy(rules, 8), 7, 0);
    syscall(SYS_landlock_add_rule, -1, LANDLOCK_RULE_PATH_BENEATH, edge_copy(&path, sizeof(path)), 0);
    syscall(SYS_landlock_restrict_self, -1, 0xfffffff000000001UL);
}

static void filters(void)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {5, instructions};

    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0xff00, &program);
    syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, edge_copy(&(unsigned){SECCOMP_RET_LOG}, 4));
    syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, edge_copy(&(unsigned){5}, 4));
    syscall(SYS_seccomp, 77, 0, NULL);
}

static void operations(void)
{
    static const int numbers[] = {PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_UNALIGN,    PR_GET_UNALIGN,
                                  PR_SET_TSC,       PR_GET_TSC,      PR_GET_SECUREBITS, PR_SET_TIMERSLACK,
                                  PR_MCE_KILL,      PR_MCE_KILL_GET, PR_CAP_AMBIENT,    PR_GET_TIMING,
                                  PR_CAPBSET_READ,  PR_GET_KEEPCAPS};

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        prctl(numbers[i], 0x4000UL, 1UL, 2UL, 3UL);
        prctl(numbers[i], 0UL, 0UL, 0UL, 0UL);
    }
    syscall(SYS_ioprio_get, 1, 0);
    syscall(SYS_ioprio_set, 9, 0, 2 << 13 | 4);
    syscall(SYS_membarrier, 3, 1, 5);
}

int main(void)
{
    programs_in_the_kernel();
    counters();
    rings_and_rules();
    filters();
    operations();
    return 0;
}
