#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions of Go programs: each call is told once, however often its goroutine's stack is moved, and nobody makes up how
# long it took. The program is tests/system/programs/growing_stacks.go, built as people build theirs.
# configurations: debug-gcc
# time limit: 240 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

for tool in go python3; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not there"; exit 77; }
done

build() {
    GOCACHE="$folder/gocache" GO111MODULE=off GOFLAGS='' go build "$@" tests/system/programs/growing_stacks.go || exit 1
}

# counts trace: as the program prints them
counts() {
    "$gait" report --json "$1" | python3 -c '
import json, sys
calls = {row["name"]: row["calls"] for row in json.load(sys.stdin)["rows"]}
for name in "deep", "fails", "leaves", "recovers", "waits", "works":
    print(name, calls.get("main." + name), end="\n" if name == "works" else " ")'
}

# records "how" program: with the functions of the program hooked, while memory is collected all the time; and with all
records() {
    local how=$1 program=$2 hooked collects
    for hooked in 'main.*' '*'; do
        checks=$((checks + 1))
        collects=1
        [[ $hooked != '*' ]] || collects=100
        GOGC=$collects "$gait" spawn --quiet -o "$folder/traces" --hook "$hooked" -- "$program" >"$folder/out" 2>"$folder/err" ||
            fail "$how, $hooked hooked"
        "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a bad trace, $how" "$folder/verify"
        counts "$folder"/traces/* >"$folder/counts" 2>"$folder/err"
        diff "$folder/out" "$folder/counts" >"$folder/diff" || fail "other calls, $how, $hooked hooked" "$folder/diff"
        rm -rf "$folder/traces"
    done
}

build -gcflags=all=-l -o "$folder/plain"
records "as it is built" "$folder/plain"

finish
