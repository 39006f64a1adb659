/* SPDX-License-Identifier: MIT */
#include "arch/cpu.h"
#include "arch/host_cpu.h"

#include "arch/x86_64/isa/decoder.h"
#include "support/check.h"

#include <asm/hwcap2.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

static void the_name_is_that_of_the_machine(void)
{
    struct utsname name;

    CHECK_EQUAL(uname(&name), 0);
    if (strcmp(name.machine, "x86_64") != 0)
        check_skip("this test is for x86_64");
    CHECK_TEXT(cpu_host()->name, name.machine);
}

/* What the kernel says of the vendor. */
static bool is_amd(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[4096];
    bool found = false;

    if (file == NULL)
        check_skip("/proc/cpuinfo cannot be read");
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "vendor_id", 9) == 0)
            found |= strstr(line, "AuthenticAMD") != NULL || strstr(line, "HygonGenuine") != NULL;
    fclose(file);
    return found;
}

static void branches_are_decoded_as_the_vendor_does(void)
{
    unsigned expected = is_amd() ? X86_DECODE_AMD : X86_DECODE_INTEL;

    CHECK_EQUAL(host_cpu_decode_options(), expected);
    CHECK_EQUAL(host_cpu_decode_options(), expected);
}

static void bases_are_changed_by_insns_where_the_kernel_says_so(void)
{
    bool expected = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;

    CHECK_EQUAL(host_cpu_has_base_insns(), expected);
    CHECK_EQUAL(host_cpu_has_base_insns(), expected);
}

/* What the kernel says, which takes the flag away where it does not use it. */
static void addresses_have_as_many_bits_as_the_kernel_says(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    unsigned virtual_bits = 0;
    char line[4096];

    if (file == NULL)
        check_skip("/proc/cpuinfo cannot be read");
    while (virtual_bits == 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "address sizes", 13) == 0)
            (void)sscanf(strstr(line, "physical,"), "physical, %u bits virtual", &virtual_bits);
    fclose(file);
    CHECK_EQUAL(host_cpu_address_bits(), virtual_bits);
    CHECK_EQUAL(host_cpu_address_bits(), virtual_bits);
}

static const struct check_case cases[] = {
    CHECK_CASE(addresses_have_as_many_bits_as_the_kernel_says),
    CHECK_CASE(bases_are_changed_by_insns_where_the_kernel_says_so),
    CHECK_CASE(the_name_is_that_of_the_machine),
    CHECK_CASE(branches_are_decoded_as_the_vendor_does),
};

CHECK_MAIN(cases)
