#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every header compiles alone: tools/check_headers.sh [tree]
# Headers of the core do so without a C library, public ones also as C++ if there is a C++ compiler.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

core=$(sed -n 's/^core = //p' src/LAYERS)
machine=$(uname -m)
cpu=${machine/aarch64/arm64}
common=(-fsyntax-only -Wall -Wextra -Wshadow -Werror -Wno-unused -Iinclude -Isrc -Itests)

is_core() {
    local folder=${1#src/}

    [[ " $core " == *" ${folder%%/*} "* ]]
}

# Headers in another CPU's host/ may need that CPU.
is_foreign() {
    [[ $1 == src/arch/*/host/* && $1 != src/arch/"$cpu"/* ]]
}

compile() {
    local path=$1
    shift
    printf '#include "%s"\n' "$path" | "$@" "${common[@]}" -o /dev/null - 2>&1
}

check_one() {
    local header=$1 path=${1#*/}

    if is_core "$header"; then
        compile "$path" gcc -std=gnu11 -x c -Wstrict-prototypes -ffreestanding
    else
        compile "$path" gcc -std=gnu11 -x c -Wstrict-prototypes
    fi || return 1
    [[ $header != include/* ]] || ! command -v g++ >/dev/null || compile "$path" g++ -std=c++11 -x c++
}

count=0 failures=0
while read -r header; do
    ! is_foreign "$header" || continue
    count=$((count + 1))
    check_one "$header" || { echo "$header does not compile alone"; failures=$((failures + 1)); }
done < <(find include src tests/support -name '*.h' 2>/dev/null | LC_ALL=C sort)
echo "$count headers, $failures do not compile alone"
[[ $failures == 0 ]]
