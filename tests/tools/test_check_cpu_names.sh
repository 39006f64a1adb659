#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_cpu_names.sh" "$tree")

put tests/CPU_NAMES '# path   reason'
put src/base/list.c 'int list_count; /* exact, next, 0x80, lax, rest, r1, x31 */' 'struct box { int pc, sp; };'
put src/arch/x86_64/isa/decoder.c 'int rax; /* of x86-64 */'
put src/arch/host_cpu.c '#if defined(__x86_64__)' '#endif'
put include/gait/x86_64.h '/* x86-64 */'
put include/gait/arm64.h '/* arm64 */'
put include/gait/cpu_numbers.h '#ifdef __aarch64__' '#endif'
put src/hook/writers.def '/* A line for each CPU. */' 'WRITER(x86_64)'
passes "CPUs where they may be named" "${check[@]}"

names=('x86' 'x86_64' 'x86-64' 'amd64' 'arm64' 'AArch64' 'rax' 'edi' 'RSP' '%r10' 'r15d' 'x0' 'x30' 'xmm3' 'orig_rax'
    'EM_X86_64' 'AUDIT_ARCH_X86_64' '__aarch64__' '__TARGET_ARCH_arm64' 'user_regs_struct')
for name in "${names[@]}"; do
    put src/base/list.c "int list_count; /* as $name says */"
    # Registers by their width are none of the names, but their CPU's are.
    if [[ $name == r15d ]]; then
        passes "a word that only begins like a register" "${check[@]}"
    else
        fails_saying 'src/base/list.c:1: names a CPU: int list_count' "the name $name" "${check[@]}"
    fi
done
put src/base/list.c ''
put include/gait/probe.h '#ifdef __x86_64__' '#endif'
fails_saying 'include/gait/probe.h:1: names a CPU' "a public header" "${check[@]}"
put src/hook/writers.def 'WRITER(x86_64) /* and no other */'
fails_saying 'src/hook/writers.def:1: names a CPU' "more than a line of a list" "${check[@]}"
put src/hook/writers.def 'WRITER(x86_64)'
put src/view/gate.S 'mov %rsp, %rdi'
fails_saying 'src/view/gate.S:1: names a CPU' "assembly elsewhere" "${check[@]}"
rm "$tree/src/view/gate.S"

put tests/CPU_NAMES 'include/gait/probe.h   the reason'
passes "an exception" "${check[@]}"
put tests/CPU_NAMES 'include/gait/probe.h   the reason' 'src/base/list.c   the reason'
fails_saying 'lists src/base/list.c, which names no CPU or is gone' "an exception that is none" "${check[@]}"
put tests/CPU_NAMES 'include/gait/probe.h   the reason' 'include/gait/probe.h   the reason'
fails_saying 'lists include/gait/probe.h twice' "an exception listed twice" "${check[@]}"

expect_done
