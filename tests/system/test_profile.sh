#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Profiles by the kernel: stacks of programs without frame pointers lead to where they began, code that a runtime made has
# its names, and reports, graphs, lists of stacks and flame graphs show them.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

"$gait" doctor --json | grep -q '"subject": "profile".*"works": "yes"' || { echo 'skipped: no profiles here'; exit 77; }

# profile NAME PROGRAM...: into $folder/NAME
profile() {
    local name=$1
    shift
    checks=$((checks + 1))
    "$gait" probe --quiet -o "$folder/$name" --stack profile:hz:999 -- "$@" >/dev/null 2>"$folder/err" || fail "gait probe -- $*"
    trace=$(echo "$folder/$name"/*)
}

# reaches PERCENT THREAD: so many samples of the thread have stacks that begin in its program's first function
reaches() {
    checks=$((checks + 1))
    "$gait" graph --json --min-percent 0 "$trace" >"$folder/graph"
    python3 - "$folder/graph" "$1" "$2" <<'END' >"$folder/said" || fail "stacks of $2" "$folder/said"
import json, sys
graph = json.load(open(sys.argv[1]))
threads = [t for t in graph["profiles"][0]["threads"] if t["thread"] == sys.argv[3]]
all_count = sum(t["total"] for t in threads)
whole = sum(c["total"] for t in threads for c in t["calls"] if c["function"] in ("_start", f"[{sys.argv[3]}]", "[ld-linux-x86-64.so.2]"))
print(f"{whole} of {all_count} begin there")
sys.exit(not (all_count >= 10 and 100 * whole >= int(sys.argv[2]) * all_count))
END
}

# A program of our own, so that the answer is known: no frame pointers, frames of all sizes, and three levels.
cat >"$folder/levels.c" <<'END'
#include <alloca.h>
#include <stdio.h>
#include <string.h>
volatile unsigned long sum;
__attribute__((noinline)) void spin(unsigned long count) { while (count-- != 0) sum += count; }
__attribute__((noinline)) void variable(int bytes) { char *room = alloca(bytes); memset(room, 1, bytes); spin(3000000); sum += room[bytes / 2]; }
__attribute__((noinline)) void outer(int bytes) { char room[300]; memset(room, bytes, sizeof(room)); variable(bytes); sum += room[bytes & 127]; }
int main(void) { for (int i = 0; i < 60; i++) outer(64 + 16 * i); return printf("%lu\n", sum) < 0; }
END
gcc -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$folder/levels" "$folder/levels.c" || exit 1
profile own "$folder/levels"
reaches 90 levels
check 'no line of spin' test -n "$("$gait" report "$trace" | grep -E '^ +[0-9]+ +[0-9.]+ % +[0-9]+ +[0-9.]+ %  spin +levels$')"
# With all that it calls, main is in all of them; spin is where the time goes.
"$gait" report --json "$trace" >"$folder/report"
check 'main and spin have their shares' python3 - "$folder/report" <<'END'
import json, sys
profile = json.load(open(sys.argv[1]))["profiles"][0]
by_name = {f["function"]: f for f in profile["functions"]}
sys.exit(not (by_name["spin"]["self"] > 0.8 * profile["samples"] and by_name["main"]["total"] >= by_name["outer"]["total"] >= by_name["variable"]["total"] >= by_name["spin"]["total"] and by_name["main"]["self"] < 0.2 * profile["samples"]))
END
"$gait" stacks --limit 1 "$trace" >"$folder/out"
check 'the most frequent stack' test "$(sed 's/ .*//;1!s/^ *//' "$folder/out" | sed -n 1p)" = spin
check 'it leads to main' grep -q -x '    main' "$folder/out"
"$gait" graph "$trace" variable >"$folder/out"
check 'its caller' grep -q -E '  +outer$' "$folder/out"
check 'its callee' grep -q -E '  +spin$' "$folder/out"
refuses 1 "no function with such a name" graph "$trace" nonsense
"$gait" export -f flamegraph "$trace" -o "$folder/graph.svg"
check 'the flame graph has samples' grep -q 'samples of profile:hz:999' "$folder/graph.svg"
check 'and colours' test "$(grep -o 'fill="#[0-9a-f]*"' "$folder/graph.svg" | sort -u | wc -l)" -gt 3

# Programs of the distribution, which keep no frame pointers.
# shellcheck disable=SC2016 # variables of perl
profile perl /usr/bin/perl -e 'my %h; $h{$_ % 100} += length($_) for 1 .. 1500000'
reaches 90 perl
if [[ -x /usr/bin/sqlite3 ]]; then
    profile sqlite /usr/bin/sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c where x<700000) select sum(x*2) from c;'
    reaches 90 sqlite3
fi
printf '#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n' >"$folder/big.c"
for i in $(seq 120); do
    echo "int f$i(int x, int *y) { int s = 0; for (int i = 0; i < x; i++) { s += y[i] * $i; if (s & 1) s ^= y[x - i]; } return s; }"
done >>"$folder/big.c"
profile compiler gcc -O2 -c -o /dev/null "$folder/big.c"
reaches 80 cc1

# Code that was made at run time.
if command -v node >/dev/null; then
    # It leaves a log where it runs.
    cd "$folder" || exit 1
    profile node node --perf-basic-prof -e 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } console.log(fib(34))'
    "$gait" report "$trace" >"$folder/out"
    check 'the name of a function of JavaScript' grep -q -E ' JS:.*fib.* \[jit\]$' "$folder/out"
    rm -f /tmp/perf-"$("$gait" query "$trace" --csv 'SELECT DISTINCT pid FROM kernel_events' | sed -n 2p)".map
else
    echo 'not installed: node'
fi

# Where nothing is, that is said.
"$gait" probe --quiet -o "$folder/none" software:page-faults -- /bin/true || fail "no events"
check 'no stacks' grep -q 'there are no stacks in it' <("$gait" stacks "$folder"/none/*)
finish
