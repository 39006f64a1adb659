#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is exported is read back by programs that others wrote, and adds up to the same in all formats, and to what the
# events say: how often each function was called, how long it took, with and without those that it called.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -pthread -o "$folder/calls" tests/system/programs/exported_calls.c || exit 1

# record name options...: its trace is $folder/name
record() {
    local name=$1
    shift
    "$gait" spawn -o "$folder/$name.traces" "$@" >"$folder/out" 2>"$folder/err" || fail "recording $name"
    mv "$folder/$name.traces"/* "$folder/$name"
}

# export_to format trace file options...
export_to() {
    local format=$1 trace=$2 file=$3
    shift 3
    "$gait" export -f "$format" "$trace" -o "$file" "$@" 2>"$folder/err"
}

# totals format file [manifest]: leaves them in $folder/totals.format
totals() {
    python3 tests/export/totals.py "$@" >"$folder/totals.$1" 2>"$folder/err"
}

same() {
    diff "$1" "$2" >"$folder/err"
}

decode_perfetto() {
    protoc -Itests/export --decode=Trace perfetto.proto <"$1" >"$2" 2>"$folder/err" || return 1
    # A field that the schema does not have is shown by its number.
    ! grep -m 1 -E '^ *[0-9]+( \{|:)' "$2" >"$folder/err"
}

# agree what trace options...: all formats of the trace do
agree() {
    local what=$1 trace=$2 format
    shift 2
    for format in chrome perfetto speedscope folded perf flamegraph; do
        check "$what to $format" export_to "$format" "$trace" "$folder/$format" "$@"
    done
    check "$what: protoc reads all fields" decode_perfetto "$folder/perfetto" "$folder/perfetto.text"
    check "$what: chrome adds up" totals chrome "$folder/chrome"
    check "$what: perfetto adds up" totals perfetto "$folder/perfetto.text"
    check "$what: speedscope adds up" totals speedscope "$folder/speedscope"
    check "$what: folded adds up" totals folded "$folder/folded"
    check "$what: perf adds up" totals perf "$folder/perf"
    check "$what: flamegraph adds up" totals stacks "$folder/flamegraph"
    check "$what: perfetto and chrome agree" same "$folder/totals.chrome" "$folder/totals.perfetto"
    check "$what: speedscope and chrome agree" same "$folder/totals.chrome" "$folder/totals.speedscope"
    cut -f1,4 "$folder/totals.chrome" | grep -v -P '\t0$' >"$folder/own"
    check "$what: own times are those of folded" same "$folder/own" "$folder/totals.folded"
    check "$what: own times are those of perf" same "$folder/own" "$folder/totals.perf"
    check "$what: frames are those of folded" frames_agree
}

# Each frame that is drawn is as long as all folded stacks that begin with it, and those left out were counted.
# shellcheck disable=SC2016 # text of scripts
frames_agree() {
    python3 - "$folder/folded" "$folder/totals.stacks" "$folder/flamegraph" 2>"$folder/err" <<'SCRIPT'
import collections, re, sys
expected = collections.Counter()
for line in open(sys.argv[1]):
    stack, own = line.rstrip("\n").rsplit(" ", 1)
    frames = stack.split(";")
    for count in range(1, len(frames) + 1):
        expected[";".join(frames[:count])] += int(own)
drawn = dict(line.rstrip("\n").rsplit(" ", 1) for line in open(sys.argv[2]))
assert drawn, "nothing is drawn"
for stack, total in drawn.items():
    assert expected[stack] == int(total), f"{stack}: {total}, expected {expected[stack]}"
total = sum(value for stack, value in expected.items() if ";" not in stack)
for stack, value in expected.items():
    assert stack in drawn or value < total / 12000 + 1, f"{stack} is not drawn"
told = re.search(r"; ([\d,]+) frames narrower", open(sys.argv[3]).read())
# Stacks that took no time are no lines.
assert (int(told[1].replace(",", "")) if told else 0) >= len(expected) - len(drawn), "frames are missing"
SCRIPT
}

# ---- hooks, with the time of each event ------------------------------------------------------------------------------
record hooks -- "$folder/calls"
agree "hooked functions" "$folder/hooks"
"$gait" dump events "$folder/hooks" >"$folder/dump" 2>"$folder/err" || fail "dumping events"
check "events add up" totals dump "$folder/dump" "$folder/hooks/manifest.json"
check "exports agree with the events" same "$folder/totals.dump" "$folder/totals.chrome"

# The report adds up ticks of the counter, exports nanoseconds of which each is rounded down: a call may differ by one.
report_agrees() {
    "$gait" report "$folder/hooks" --json >"$folder/report" 2>"$folder/err" || return 1
    python3 - "$folder/report" "$folder/totals.chrome" 2>"$folder/err" <<'SCRIPT'
import json, sys
rows = {row["name"]: row for row in json.load(open(sys.argv[1]))["rows"]}
exported = [line.rstrip("\n").split("\t") for line in open(sys.argv[2])]
all_calls = sum(int(calls) for _, calls, _, _ in exported)
assert len(rows) == len(exported), f"{len(rows)} rows, {len(exported)} functions"
for name, calls, total, own in exported:
    row = rows[name]
    assert row["calls"] == int(calls), f"{name}: {row['calls']} calls, {calls} exported"
    assert abs(row["sum_ns"] - int(total)) <= int(calls) + 1, f"{name}: {row['sum_ns']} ns, {total} exported"
    assert abs(row["self_ns"] - int(own)) <= all_calls, f"{name}: {row['self_ns']} ns own, {own} exported"
SCRIPT
}
check "exports agree with the report" report_agrees
check "all calls are there" grep -q -P '^both\t650\t' "$folder/totals.chrome"
nasty="<script>window.harm=1;alert(1)</script><img src=x onerror='window.harm=2'>&amp;"
check "a nasty name is whole" grep -q -F "$nasty" "$folder/totals.chrome"
check "jumps are marked" grep -q -F '"args":{"end":"unwound"}' "$folder/chrome"

# ---- calls and returns, whose times are guessed ----------------------------------------------------------------------
record follow --follow call,ret --exclude 'libc.so*' --exclude 'ld-linux*' -- "$folder/calls"
agree "followed calls" "$folder/follow"
check "guesses are marked in chrome" grep -q -F '"args":{"times":"guessed"}' "$folder/chrome"
check "guesses are marked in perfetto" grep -q -F 'string_value: "guessed"' "$folder/perfetto.text"
check "guesses are marked in speedscope" grep -q -F 'times are guessed' "$folder/speedscope"
check "guesses are marked in flamegraph" grep -q -F '; times are guessed' "$folder/flamegraph"

# ---- a part of it ----------------------------------------------------------------------------------------------------
main_thread=$(sed -n 's/.*"tid": \([0-9]*\).*/\1/p' "$folder/hooks/manifest.json" | head -n 1)
began_ns=$(python3 -c 'import json, sys
print(min(e["ts"] for e in json.load(open(sys.argv[1]), parse_float=lambda t: int(t.replace(".", "")))["traceEvents"]
          if e.get("name") == "both"))' <(cd "$folder" && "$gait" export -f chrome hooks --thread "$main_thread"))
agree "a millisecond of a thread" "$folder/hooks" --thread "$main_thread" --from "${began_ns}ns" \
    --to "$((began_ns + 1000000))ns"
check "that is a millisecond of main" grep -q -P '^main\t1\t1000000\t' "$folder/totals.chrome"

# ---- deep calls ------------------------------------------------------------------------------------------------------
sum_of() {
    awk -F '\t' -v field="$2" '{ sum += $field } END { print sum }' "$1"
}

record deep -- "$folder/calls" 3000
for format in chrome perfetto speedscope folded perf flamegraph; do
    check "deep calls to $format" export_to "$format" "$folder/deep" "$folder/$format"
done
check "deep calls add up" totals chrome "$folder/chrome"
check "deep calls add up in perfetto" decode_perfetto "$folder/perfetto" "$folder/perfetto.text"
check "and are read" totals perfetto "$folder/perfetto.text"
check "deep calls: perfetto and chrome agree" same "$folder/totals.chrome" "$folder/totals.perfetto"
check "all of them are there" grep -q -P '^down\t3001\t' "$folder/totals.chrome"
check "deep stacks are cut off" grep -q -F ';[deeper calls] ' "$folder/folded"
check "no stack is deeper" test "$(awk -F ';' 'NF > most { most = NF } END { print most }' "$folder/folded")" = 1001
check "folded adds up" totals folded "$folder/folded"
check "and no time is missing" test "$(sum_of "$folder/totals.chrome" 4)" = "$(sum_of "$folder/totals.folded" 2)"
check "perf adds up" totals perf "$folder/perf"
check "and no time is missing there" test "$(sum_of "$folder/totals.chrome" 4)" = "$(sum_of "$folder/totals.perf" 2)"

# ---- many calls ------------------------------------------------------------------------------------------------------
# Memory is that of functions, threads and depth: so much of it that a trace forty times as long needs no more.
most_kib() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

cat >"$folder/loop.c" <<'PROGRAM'
#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) void leaf(long i) { sink += i; sink *= 3; sink ^= i; }
__attribute__((noinline)) void twice(long i) { leaf(i); leaf(i + 1); sink++; }
int main(int argc, char **argv)
{
    for (long i = 0; i < atol(argv[argc - 1]); i++)
        twice(i);
}
PROGRAM
gcc -O1 -o "$folder/loop" "$folder/loop.c" || exit 1
record few --overflow block -- "$folder/loop" 10000
record many --overflow block -- "$folder/loop" 400000
for format in chrome perfetto speedscope folded perf flamegraph; do
    few=$(most_kib "$gait" export -f "$format" "$folder/few")
    many=$(most_kib "$gait" export -f "$format" "$folder/many")
    check "memory for $format: $few KiB, of a long trace $many KiB" test "$many" -lt $((few + 4096))
done
check "all are there" test "$("$gait" export -f chrome "$folder/many" | grep -c '"ph":"B".*"name":"leaf"')" = 800000

# ---- what is not whole -----------------------------------------------------------------------------------------------
cp -r "$folder/hooks" "$folder/cut"
index=$(ls "$folder"/cut/*/"$main_thread".1.index.gait)
truncate -s $(($(stat -c %s "$index") * 2 / 3)) "$index"
for format in chrome perfetto speedscope folded perf flamegraph; do
    check "a trace that was cut off is exported to $format" export_to "$format" "$folder/cut" "$folder/$format"
done
check "what there is adds up" totals chrome "$folder/chrome"
check "what there is, is read by protoc" decode_perfetto "$folder/perfetto" "$folder/perfetto.text"
check "and adds up" totals perfetto "$folder/perfetto.text"
check "to the same" same "$folder/totals.chrome" "$folder/totals.perfetto"

# ---- where to --------------------------------------------------------------------------------------------------------
"$gait" export -f folded "$folder/hooks" >"$folder/piped"
check "standard output is as good as a file" export_to folded "$folder/hooks" "$folder/folded"
check "it has the same in it" same "$folder/piped" "$folder/folded"
check "who has read enough ends it" test "$("$gait" export -f chrome "$folder/many" | head -c 20 | wc -c)" = 20
refuses 1 "cannot write all of '/dev/full': No space left on device" export -f chrome "$folder/hooks" -o /dev/full
refuses 2 "did you mean 'perfetto'?" export -f perfeto "$folder/hooks"
refuses 1 "there is no such folder" export -f chrome "$folder/nowhere"

finish
