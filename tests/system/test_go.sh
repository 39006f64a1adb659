#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions of Go programs: each call is told once, however often its goroutine's stack is moved, with the time that it
# took, whatever thread went on with the goroutine. The program is tests/system/programs/growing_stacks.go, built as people build theirs.
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

# counts trace: as the program prints them, if all else is as it should be
counts() {
    "$gait" report --json "$1" | python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["rows"]}
names = ["deep", "fails", "leaves", "recovers", "waits", "works"]
print(*(name + " " + str(rows["main." + name]["calls"]) for name in names))
for row in (rows["main." + name] for name in names):
    assert row["entry_only"] == row["cut"] == 0, row
    assert 0 < row["max_ns"] < 60e9 and row["self_ns"] <= row["total_ns"] <= row["sum_ns"], row
assert rows["main.waits"]["min_ns"] > 2e6, rows["main.waits"]
assert rows["main.works"]["min_ns"] > rows["main.waits"]["min_ns"], rows["main.works"]
assert rows["main.fails"]["unwound"] == 80, rows["main.fails"]
assert rows["main.leaves"]["no_return"] + rows["main.leaves"]["unwound"] + rows["main.leaves"]["suspended"] >= 10
assert rows["main.recovers"]["unwound"] == rows["main.recovers"]["no_return"] == 0, rows["main.recovers"]'
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

# ---- who comes and goes while it runs --------------------------------------------------------------------------------

cat >"$folder/server.go" <<'END'
package main

import (
	"fmt"
	"os"
)

//go:noinline
func deep(n int) int {
	var room [64]byte

	if n == 0 {
		return 0
	}
	room[n%64] = byte(n)
	return deep(n-1) + int(room[n%64])/(n%256+256) + 1
}

//go:noinline
func serve(requests, answers chan int) {
	for request := range requests {
		go func(request int) { answers <- deep(request) }(request)
	}
}

func main() {
	requests, answers := make(chan int), make(chan int)

	go serve(requests, answers)
	for {
		if _, err := os.Stat(os.Args[1]); err != nil {
			break
		}
		for i := 0; i < 50; i++ {
			requests <- 400 + i
		}
		for i := 0; i < 50; i++ {
			<-answers
		}
	}
	fmt.Println("served")
}
END
GOCACHE="$folder/gocache" GO111MODULE=off GOFLAGS='' go build -o "$folder/server" "$folder/server.go" || exit 1
touch "$folder/open"
"$folder/server" "$folder/open" >"$folder/served" 2>"$folder/fault" &
server=$!
started+=("$server")
for ((visit = 0; visit < 3; visit++)); do
    checks=$((checks + 1))
    "$gait" attach -o "$folder/traces" --hook 'main.*' --hook 'runtime.chan*' "$server" >"$folder/out" 2>"$folder/err" &
    visitor=$!
    until_true "attached" grep -s -q 'hooked [1-9]' "$folder/err"
    sleep 0.3
    kill -INT "$visitor"
    wait "$visitor" || fail "visit $visit"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a bad trace of visit $visit" "$folder/verify"
    # A goroutine may wait in the middle of what a return takes along: so these are not looked at.
    "$gait" report "$folder"/traces/* >"$folder/out" 2>"$folder/err"
    grep -q '^ .* - .* - .* main.deep ' "$folder/out" || fail "calls of visit $visit" "$folder/out"
    rm -rf "$folder/traces"
done
rm "$folder/open"
wait "$server"
check "the server says $(cat "$folder/fault")" test $? == 0 -a "$(cat "$folder/served")" == served

finish
