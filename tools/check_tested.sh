#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every src/x/y.c has its tests/unit/x/test_y.c, or a line in tests/UNTESTED: tools/check_tested.sh [tree]
# A line whose file now has a test, or is gone, must go too: that list may only shrink.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

test_of() {
    local path=${1#src/}

    echo "tests/unit/${path%/*}/test_${path##*/}"
}

failures=0
complain() {
    echo "$1"
    failures=$((failures + 1))
}

declare -A untested=()
while read -r source _; do
    [[ -n $source && $source != \#* ]] || continue
    [[ -z ${untested[$source]-} ]] || complain "tests/UNTESTED lists $source twice"
    untested[$source]=1
    if [[ ! -e $source ]]; then
        complain "tests/UNTESTED lists $source, which does not exist: remove the line"
    elif [[ -e $(test_of "$source") ]]; then
        complain "tests/UNTESTED lists $source, which has $(test_of "$source"): remove the line"
    fi
done <tests/UNTESTED

count=0
while read -r source; do
    count=$((count + 1))
    [[ -n ${untested[$source]-} || -e $(test_of "$source") ]] ||
        complain "$source has no test: write $(test_of "$source")"
done < <(find src -name '*.c' | LC_ALL=C sort)

echo "$count source files, ${#untested[@]} untested"
[[ $failures == 0 ]]
