#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The build itself is right: tools/check_build.sh [tree]
# In a fresh copy of the tree: a parallel build from nothing succeeds, repeating it does nothing, and a change of a
# header, a flag or the list of sources makes again what depends on it and nothing else.
# time limit: 900 s
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$copy"
cd "$copy"
unset MAKEFLAGS MAKELEVEL
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# Release, since that is the mode in which no other test builds.
run_make() {
    make --no-print-directory DEPS=no MODE=release CC=gcc "$@"
}

# The sources that make would compile now, given further arguments. The image of the agent holds all of the core, so it
# comes along with most of it; what runs in the kernel is compiled by another compiler, and held by another image.
would_compile() {
    run_make -n V=1 "$@" all | sed -n 's/.* -c \([^ ]*\) -o .*/\1/p' | grep -v -e agent_image -e fetch_image -e _program_object -e '\.bpf\.c$' | LC_ALL=C sort -u
}

build_from_nothing() {
    run_make -j"$(nproc)" all || { echo "a parallel build from nothing fails"; exit 1; }
    run_make -q all || complain "make has something to do right after make"
}

# What includes what, said by the compiler and not by the files that make keeps.
read_dependencies() {
    local source

    for source in $sources; do
        gcc -MM -MT "$source" -Iinclude -Isrc "$source" | tr -d '\\\n'
        echo
    done >dependencies
}

check_headers() {
    local header expected

    while read -r header; do
        expected=$(grep -w -F -- "$header" dependencies | sed 's/:.*//' | LC_ALL=C sort || true)
        [[ $(would_compile -W "$header") == "$expected" ]] ||
            complain "a change of $header should make again: ${expected:-nothing}; but make says:" \
                "$(would_compile -W "$header")"
    done < <(find src include -name '*.h' -o -name '*.def' -o -name '*.inc')
}

check_flags() {
    local expected

    expected=$(printf '%s\n' "$sources" | tr ' ' '\n' | LC_ALL=C sort)
    [[ $(would_compile CFLAGS=-DOTHER) == "$expected" ]] || complain "a changed flag does not make every object again"
}

check_sources() {
    printf 'int gait_added(void);\nint gait_added(void)\n{\n    return 1;\n}\n' >src/libgait/added.c
    run_make all >/dev/null
    nm build/release-gcc/libgait.a 2>/dev/null | grep -w gait_added >/dev/null ||
        complain "a new source file is not in the library"
    rm src/libgait/added.c
    run_make all >/dev/null
    ! nm build/release-gcc/libgait.a 2>/dev/null | grep -w gait_added >/dev/null ||
        complain "a removed source file is still in the library"
}

build_from_nothing
sources=$(run_make -s print-CORE_C print-CORE_S print-LIBRARY_C print-AGENT_C \
    print-CONTROLLER_C print-CONTROLLER_S print-FETCH_C print-CLI_C | tr -s ' \n' '\n' | grep -v -e agent_image -e fetch_image -e _program_object -e '\.bpf\.c$' | tr '\n' ' ')
sources=${sources% }
read_dependencies
check_headers
check_flags
check_sources
echo "$failures complaints"
[[ $failures == 0 ]]
