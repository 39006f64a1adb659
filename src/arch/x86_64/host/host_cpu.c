/* SPDX-License-Identifier: MIT */
/* Asks cpuid once. Threads that ask at the same time find the same answer, so a relaxed store is all it takes. */
#include "arch/host_cpu.h"

#include "arch/x86_64/isa/decoder.h"

#include <cpuid.h>
#include <stdatomic.h>

/* Hygon's CPUs are AMD's by another name: "HygonGenuine". */
#define HYGON_EBX 0x6f677948u
#define HYGON_EDX 0x6e65476eu
#define HYGON_ECX 0x656e6975u

enum answer {
    NOT_ASKED,
    BRANCHES_AS_INTEL,
    BRANCHES_AS_AMD,
};

static _Atomic unsigned answer;

const char *host_cpu_name(void)
{
    return "x86_64";
}

static unsigned ask(void)
{
    unsigned highest, ebx, ecx, edx;

    if (!__get_cpuid(0, &highest, &ebx, &ecx, &edx))
        return BRANCHES_AS_INTEL;
    if (ebx == signature_AMD_ebx && ecx == signature_AMD_ecx && edx == signature_AMD_edx)
        return BRANCHES_AS_AMD;
    if (ebx == HYGON_EBX && ecx == HYGON_ECX && edx == HYGON_EDX)
        return BRANCHES_AS_AMD;
    return BRANCHES_AS_INTEL;
}

unsigned host_cpu_decode_options(void)
{
    unsigned known = atomic_load_explicit(&answer, memory_order_relaxed);

    if (known == NOT_ASKED) {
        known = ask();
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == BRANCHES_AS_AMD ? X86_DECODE_AMD : X86_DECODE_INTEL;
}
