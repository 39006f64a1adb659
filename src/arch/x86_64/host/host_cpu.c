/* SPDX-License-Identifier: MIT */
/*
 * Asks cpuid, and the kernel, once, for what cpuid cannot say. Threads that ask at the same time find the same answer,
 * so a relaxed store is all it takes.
 */
#include "arch/host_cpu.h"

#include "arch/cpu.h"

#include "arch/x86_64/host/cpu_leaves.h"
#include "arch/x86_64/isa/decoder.h"
#include "base/raw_syscall.h"

#include <asm/hwcap2.h>
#include <asm/unistd.h>
#include <cpuid.h>
#include <linux/auxvec.h>
#include <linux/fcntl.h>
#include <stdatomic.h>

/* Hygon's CPUs are AMD's by another name: "HygonGenuine". */
#define HYGON_EBX 0x6f677948u
#define HYGON_EDX 0x6e65476eu
#define HYGON_ECX 0x656e6975u

/* Of leaf 7: addresses can have 57 bits. */
#define LA57_ECX (1u << 16)

extern const struct cpu cpu_x86_64;

const struct cpu *cpu_host(void)
{
    return &cpu_x86_64;
}

/* How the CPU decodes branches. */
enum answer {
    NOT_ASKED,
    AS_INTEL,
    AS_AMD,
};

static bool branches_as_amd(void)
{
    struct x86_cpu_answer name = x86_cpu_leaf(X86_LEAF_IDENTITY);

    if (name.ebx == signature_AMD_ebx && name.ecx == signature_AMD_ecx && name.edx == signature_AMD_edx)
        return true;
    return name.ebx == HYGON_EBX && name.ecx == HYGON_ECX && name.edx == HYGON_EDX;
}

unsigned host_cpu_decode_options(void)
{
    /* Before each instruction, so that a leaf is too much to look at. */
    static _Atomic unsigned known;
    unsigned answer = atomic_load_explicit(&known, memory_order_relaxed);

    if (answer == NOT_ASKED) {
        answer = branches_as_amd() ? AS_AMD : AS_INTEL;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == AS_AMD ? X86_DECODE_AMD : X86_DECODE_INTEL;
}

/* Systems that can use all bits that the CPU has do. */
unsigned host_cpu_address_bits(void)
{
    return x86_cpu_leaf(X86_LEAF_MORE_FEATURES).ecx & LA57_ECX ? 57 : 48;
}

/* A value that the kernel gave the process at its start. */
static uint64_t auxiliary_value(uint64_t type)
{
    struct {
        uint64_t type, value;
    } entries[64] = {0};
    long fd = raw_syscall(__NR_openat, AT_FDCWD, (long)"/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0, 0, 0);

    if (fd < 0)
        return 0;
    raw_syscall(__NR_read, fd, (long)entries, sizeof(entries) - sizeof(entries[0]), 0, 0, 0);
    raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    for (unsigned i = 0; entries[i].type != AT_NULL; i++)
        if (entries[i].type == type)
            return entries[i].value;
    return 0;
}

bool host_cpu_has_base_insns(void)
{
    static _Atomic unsigned known; /* 1: no, 2: yes */
    unsigned has = atomic_load_explicit(&known, memory_order_relaxed);

    if (has == 0) {
        has = auxiliary_value(AT_HWCAP2) & HWCAP2_FSGSBASE ? 2 : 1;
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has == 2;
}
