#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions of which only the entry can be seen have no duration, in no view and in no export, and that is said. Their
# callers have the time. The program is tests/system/programs/asks_who_called.c.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -g -o "$folder/program" tests/system/programs/asks_who_called.c || exit 1
"$gait" spawn --quiet -o "$folder/traces" --hook asks --hook plain -- "$folder/program" >"$folder/out" 2>"$folder/err" ||
    fail "recording"
trace=$(echo "$folder"/traces/*)

# shows "what" PATTERN arguments...: what gait writes has a line like that
shows() {
    local what=$1 pattern=$2
    shift 2
    checks=$((checks + 1))
    "$gait" "$@" >"$folder/out" 2>"$folder/err" || fail "gait $*"
    grep -q -E -- "$pattern" "$folder/out" || fail "$what" "$folder/out"
}

shows "the report" '^ +- +- +- +6 +- +- +- +- +-  asks ' report "$trace"
shows "the report says why" '^Of 6 calls only the entry could be seen: ' report "$trace"
shows "the report of callers" '^ +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ % +3 .* plain ' report "$trace"
shows "the replay" '^ +-  +asks\(\);$' replay "$trace"
shows "the replay says why" '^- not known how long it took' replay "$trace"
shows "what is not known is not too short" 'asks' replay --min-duration 1s "$trace"
shows "the graph" '^ +- +- +- +6 +asks$' graph "$trace"
shows "the graph says why" 'only the entry could be seen' graph "$trace"
shows "a function's graph" '^ +- +- +- +6  asks$' graph "$trace" asks
shows "events" 'not-seen' dump events "$trace"
shows "a difference" ' - +- +- +- +- +- +6 +6 +0 +asks' report --diff "$trace" "$trace"

# ---- where programs read it ------------------------------------------------------------------------------------------

if command -v python3 >/dev/null; then
    "$gait" report --json "$trace" >"$folder/report.json" 2>"$folder/err" || fail "a report for programs"
    "$gait" graph --json "$trace" >"$folder/graph.json" 2>"$folder/err" || fail "a graph for programs"
    for format in csv json chrome speedscope folded perf; do
        "$gait" export -f "$format" -o "$folder/calls.$format" "$trace" >"$folder/out" 2>"$folder/err" || fail "$format"
    done
    checks=$((checks + 1))
    python3 - "$folder" >"$folder/said" 2>&1 <<'END' || fail "a duration that nobody knows" "$folder/said"
import csv, json, sys

folder = sys.argv[1]
rows = {row["name"]: row for row in json.load(open(folder + "/report.json"))["rows"]}
asks, plain = rows["asks"], rows["plain"]
assert asks["calls"] == asks["entry_only"] == 6, asks
assert all(value is None for name, value in asks.items() if name.endswith("_ns")), asks
assert plain["entry_only"] == 0 and plain["min_ns"] > 4e6 and plain["self_ns"] == plain["total_ns"], plain

below = json.load(open(folder + "/graph.json"))["processes"][0]["callees"][0]
assert below["function"] == "plain" and below["total_ns"] > 0, below
assert below["callees"][0]["total_ns"] is None and below["callees"][0]["self_ns"] is None, below

lines = [row for row in csv.DictReader(open(folder + "/calls.csv", newline="")) if row["function"] == "asks"]
assert len(lines) == 6 and all(row["duration_ns"] == row["self_ns"] == "" for row in lines), lines
assert all(row["flags"] == "entry_only" for row in lines), lines

lines = [json.loads(line) for line in open(folder + "/calls.json")]
lines = [line for line in lines if line["function"] == "asks"]
assert len(lines) == 6 and all(line["duration_ns"] is line["self_ns"] is None for line in lines), lines
assert all(line["flags"] == ["entry_only"] for line in lines), lines

events = json.load(open(folder + "/calls.chrome"))["traceEvents"]
assert [event["ph"] for event in events if event.get("name") == "asks"] == ["i"] * 6, events
assert sum(event["ph"] == "B" for event in events) == sum(event["ph"] == "E" for event in events) == 3, events

shown = json.load(open(folder + "/calls.speedscope"))
assert len(shown["profiles"][0]["events"]) == 6, shown
assert "6 calls of which only the entry is known" in shown["profiles"][0]["name"], shown

for name in "folded", "perf":
    text = open(folder + "/calls." + name).read()
    assert "plain" in text and "asks" not in text, text
END
fi

if is_built_with libsqlite3; then
    shows "a query" '^6,0,,,,$' query "$trace" --csv \
        "select count(*), count(duration_ns), sum(self_ns), max(end_ns), (select total_ns from functions where function = 'asks'),
        (select avg_ns from functions where function = 'asks') from calls where function = 'asks'"
    shows "flags" '^entry only$' query "$trace" --csv "select distinct flags from calls where function = 'asks'"
    shows "events of a query" '^leave,6$' query "$trace" --csv \
        "select kind, count(*) from events where is_entry_only group by kind"
    checks=$((checks + 1))
    "$gait" export -f sqlite -o "$folder/calls.db" "$trace" >"$folder/out" 2>"$folder/err" || fail "a database"
    if command -v sqlite3 >/dev/null; then
        [[ $(sqlite3 "$folder/calls.db" "select count(*), count(duration_ns), min(flags) from calls where function = 'asks'") == "6|0|entry only" ]] ||
            fail "the database"
        [[ $(sqlite3 "$folder/calls.db" "select calls, total_ns, min_ns, avg_ns from functions where function = 'asks'") == "6|||" ]] ||
            fail "functions of the database"
    fi
fi
if command -v babeltrace2 >/dev/null; then
    "$gait" export -f ctf -o "$folder/calls.ctf" "$trace" >"$folder/out" 2>"$folder/err" || fail "ctf"
    checks=$((checks + 1))
    babeltrace2 "$folder/calls.ctf" >"$folder/out" 2>"$folder/err"
    [[ $(grep -c 'call_entered.*"asks"' "$folder/out") == 6 && $(grep -c 'call_end.*"plain"' "$folder/out") == 3 ]] ||
        fail "events of ctf" "$folder/out"
    ! grep -q 'call_end.*"asks"' "$folder/out" || fail "an end that nobody saw" "$folder/out"
fi

finish
