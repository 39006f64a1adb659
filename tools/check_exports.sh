#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the libraries define and what the core needs: tools/check_exports.sh [libgait.so libgait.a core.o]
# The libraries define no global name but gait_*; the core takes nothing from libc. Compilers may always call the four
# memory functions, so those are provided by whoever links the core.
set -euo pipefail
if [[ $# == 0 ]]; then
    cd "$(dirname "$0")/.."
    set -- build/libgait.so build/libgait.a build/core.o
fi
shared=$1 archive=$2 core=$3
failures=0

# complain_about text: one line for each name on standard input
complain_about() {
    local name

    while read -r name; do
        echo "$1: $name"
        failures=$((failures + 1))
    done
}

foreign_names() {
    awk 'NF == 3 { print $3 }' | grep -v '^gait_' || true
}

unexpected_imports() {
    awk '$1 == "U" { print $2 }' | grep -v -x -E 'memcpy|memset|memmove|memcmp|_GLOBAL_OFFSET_TABLE_' || true
}

complain_about "$shared exports a name that is not gait_*" < <(nm -D --defined-only "$shared" | foreign_names)
complain_about "$archive defines a name that is not gait_*" < <(nm -g --defined-only "$archive" | foreign_names)
complain_about "the core needs a name from outside" < <(nm -u "$core" | unexpected_imports)
echo "$(nm -D --defined-only "$shared" | grep -c ' gait_' || true) public functions, $failures unexpected names"
[[ $failures == 0 ]]
