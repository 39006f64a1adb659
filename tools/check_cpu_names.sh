#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No CPU, and no register, number or macro of one, is named outside of src/arch: tools/check_cpu_names.sh [tree]
# Comments count as well: what is true of one CPU is said in its folder. Public headers that are a CPU's own may name it
# (cpu_numbers.h, x86_64.h, arm64.h), and so may a line of a list of variants (*.def), one for each CPU. tests/CPU_NAMES
# lists files that name one all the same, each with the reason; that list may only shrink.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
failures=0
complain() {
    echo "$1"
    failures=$((failures + 1))
}

words='x86|x86_64|x86-64|amd64|i386|ia32|arm64|aarch64|[re](ax|bx|cx|dx|si|di|bp|sp|ip|flags)|r(8|9|1[0-5])'
words+='|x([0-9]|[12][0-9]|30)|[xyz]mm[0-9]+|fs_base|gs_base|PSTATE|orig_[re]ax|user_regs_struct'
words+='|EM_(X86_64|AARCH64|386)|AUDIT_ARCH_(X86_64|AARCH64|I386)|__(x86_64|aarch64|i386)__|__TARGET_ARCH_\w+|R_(X86_64|AARCH64)_\w+'

declare -A excepted=() found=()
while read -r path _; do
    [[ -n $path && $path != \#* ]] || continue
    [[ -z ${excepted[$path]-} ]] || complain "tests/CPU_NAMES lists $path twice"
    excepted[$path]=1
done <tests/CPU_NAMES

while IFS=: read -r path line text; do
    # "TRANSLATOR(x86_64)": a variant's line in its list.
    [[ $path != *.def || ! $text =~ ^[A-Z_]+\([a-z0-9_]+\)$ ]] || continue
    found[$path]=1
    [[ -n ${excepted[$path]-} ]] || complain "$path:$line: names a CPU: $text"
done < <(find src include -path src/arch -prune -o -type f ! -path include/gait/cpu_numbers.h \
    ! -path include/gait/x86_64.h ! -path include/gait/arm64.h -print0 | LC_ALL=C sort -z |
    xargs -0 grep -n -H -P -i "(?<![\w-])($words)(?!\w)" || true)

for path in "${!excepted[@]}"; do
    [[ -n ${found[$path]-} ]] || complain "tests/CPU_NAMES lists $path, which names no CPU or is gone: remove the line"
done
echo "${#excepted[@]} exceptions"
[[ $failures == 0 ]]
