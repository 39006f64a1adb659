#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The command line of the Firefox profiler reads what is exported as folded stacks and as text of perf, and finds the same
# in it: own times in nanoseconds, each of which is a sample to it, and samples of perf, one for each change of a stack.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

modules=$PWD/build/deps/node
profiler=$modules/node_modules/.bin/profiler-cli
command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
[[ -e $modules/installed && -e $profiler ]] ||
    { echo "skipped: the packages of npm are not installed; try make deps"; exit 77; }

# Its sessions are there, and it talks to nobody else.
export HOME=$folder

gcc -O1 -pthread -o "$folder/calls" tests/system/programs/exported_calls.c || exit 1
"$gait" spawn -o "$folder/traces" -- "$folder/calls" >"$folder/out" 2>"$folder/err" || fail "recording"
trace=$(echo "$folder"/traces/*)
# As many calls, wherever they took the least time: to the profiler a nanosecond is a sample.
IFS=, read -r began_ns took_ns <<<"$("$gait" query --csv "$trace" \
    "SELECT start_ns, lead(start_ns, 250) OVER (ORDER BY start_ns) - start_ns AS took FROM calls
     WHERE start_ns >= (SELECT min(start_ns) FROM calls WHERE function = 'both') ORDER BY took IS NULL, took LIMIT 1" |
    tail -n 1)"
range=(--from "${began_ns}ns" --to "$((began_ns + took_ns))ns")

# ask words...: it reads in the background, so the first answers may be that it is not ready
ask() {
    for _ in {1..20}; do
        node "$profiler" "$@" --json >"$folder/answer" 2>"$folder/err" && return
        sleep 1
    done
    return 1
}

# read_by_profiler file: a line for each function, with how many samples are its own
read_by_profiler() {
    local thread
    node "$profiler" load "$1" >"$folder/out" 2>&1
    ask thread list || return 1
    cp "$folder/answer" "$folder/threads"
    for thread in $(python3 -c 'import json, sys
print(*(thread["threadHandle"] for thread in json.load(open(sys.argv[1]))["threads"]))' "$folder/threads"); do
        ask thread functions --thread "$thread" --limit 0 --include-idle || return 1
        python3 -c 'import json, sys
for function in json.load(open(sys.argv[1]))["functions"]:
    print(function["name"], function["selfSamples"], sep="\t")' "$folder/answer"
    done >"$folder/samples"
    node "$profiler" stop --all >"$folder/out" 2>&1
    awk -F '\t' '$2 != 0 { sum[$1] += $2 } END { for (name in sum) print name "\t" sum[name] }' "$folder/samples" |
        LC_ALL=C sort >"$1.read"
}

check "exporting to folded" "$gait" export -f folded "$trace" "${range[@]}" -o "$folder/folded"
check "exporting to perf" "$gait" export -f perf "$trace" "${range[@]}" -o "$folder/perf"

check "the profiler reads folded stacks" read_by_profiler "$folder/folded"
# What stands for a semicolon in there is no concern of the profiler's.
python3 tests/export/totals.py folded "$folder/folded" | sed 's/;/；/g' | LC_ALL=C sort >"$folder/own"
check "own times are the same" diff "$folder/own" "$folder/folded.read"

check "the profiler reads text of perf" read_by_profiler "$folder/perf"
# The innermost frame of each sample, without its address, offset and file.
awk '/^[^\t]/ { is_next = 1 }
    /^\t/ && is_next { is_next = 0; sub(/^\t *[0-9a-f]+ /, ""); sub(/(\+0x0)? \([^(]*\)$/, ""); count[$0]++ }
    END { for (name in count) print name "\t" count[name] }' "$folder/perf" | LC_ALL=C sort >"$folder/counted"
check "samples are the same" diff "$folder/counted" "$folder/perf.read"
check "there are many" test "$(wc -l <"$folder/perf")" -gt 1000

# Whatever failed, nothing goes on.
node "$profiler" stop --all >"$folder/out" 2>&1
finish
