#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gait report on a program of which is known how often it calls what: whole screens, with # for what is different each
# time, and JSON; whatever the way of recording. And on traces that are cut off, empty or foreign.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -g -pthread -o "$folder/calls" tests/system/programs/reported_calls.c || exit 1

# record name options... -- program...: the trace is then $folder/name
record() {
    local name=$1
    shift
    checks=$((checks + 1))
    rm -rf "$folder/traces" "${folder:?}/$name"
    (cd "$folder" && "$gait" spawn --quiet -o traces "$@" >/dev/null 2>err) || fail "$*: it failed"
    mv "$folder"/traces/* "$folder/$name"
}

# screen "what" options... <expected: what gait report shows, in the folder of traces
screen() {
    local what=$1
    shift
    checks=$((checks + 1))
    (cd "$folder" && "$gait" report "$@" >out 2>err) || fail "$what: no report"
    # Numbers become # in the place of their last digit: times, shares, dates, and numbers of processes and threads.
    perl -pe 's/( *)((?:~|[+-])?\d[\d.]* (?:ns|us|ms|s))\b/" " x (length("$1$2") - 1) . "#"/ge;
        s/( *)(\d+\.\d %)/" " x (length("$1$2") - 1) . "#"/ge;
        s/^recorded .*/recorded   #/; s/, for +#,/, for #,/;
        s/^( *)(\d+)( +)(\d+|-)(?=  )/" " x (length("$1$2") - 1) . "#" . " " x (length("$3$4") - 1) . ($4 eq "-" ? "-" : "#")/e;
        s/ {2}\d+\/\d+ /  #\/# /;' "$folder/out" >"$folder/shown"
    cat >"$folder/expected"
    diff "$folder/expected" "$folder/shown" >"$folder/diff" || fail "$what" "$folder/diff"
}

# ---- screens --------------------------------------------------------------------------------------------------------
record before --hook 'r_*' --hook main -- ./calls
record after --hook 'r_*' --hook main -- ./calls other

screen "functions by calls" before --sort calls <<'END'
program    ./calls
command    ./calls
recorded   #
ended      exit status 0
events     enter, leave; with times
calls      398 of 4 functions, in 3 threads
lost       nothing

    pid  parent  command
      #       -  ./calls  (exit status 0)

    pid       tid  thread                   enters         leaves     bytes lost
      #         #  calls                       178            178              0
      #         #  server                      110            110              0
      #         #  server                      110            110              0
                   all                         398            398              0

4 functions by calls
     total      self  self %      calls       min       avg       p50       p99       max  function  module
         #         #       #        200         #         #         #         #         #  r_serve   calls
         #         #       #        177         #         #         #         #         #  r_fib     calls
         #         #       #         20         #         #         #         #         #  r_wait    calls
         #         #       #          1         #         #         #         #         #  main      calls
END

screen "threads" before --by thread --sort calls --filter 'calls!r_s*' <<'END'
program    ./calls
command    ./calls
recorded   #
ended      exit status 0
events     enter, leave; with times
calls      200 of functions that match 'calls!r_s*', in 3 threads
lost       nothing

    pid  parent  command
      #       -  ./calls  (exit status 0)

    pid       tid  thread                   enters         leaves     bytes lost
      #         #  calls                       178            178              0
      #         #  server                      110            110              0
      #         #  server                      110            110              0
                   all                         398            398              0

2 threads by calls
     total      self  self %      calls       min       avg       p50       p99       max  thread
         #         #       #        100         #         #         #         #         #  #/# server
         #         #       #        100         #         #         #         #         #  #/# server
END

screen "two traces" before --diff after --sort calls <<'END'
before  before: ./calls, for #, 398 calls, 0 bytes of records lost
after   after: ./calls, for #, 278 calls, 0 bytes of records lost

 total                          self                           calls
    before     after     change    before     after     change     before      after      change        function  module
         #         -          #         #         -          #        200          0        -200  gone  r_serve   calls
         -         #          #         -         #          #          0        100        +100  new   r_extra   calls
         #         -          #         #         -          #         20          0         -20  gone  r_wait    calls
         #         #          #         #         #          #          1          1           0        main      calls
         #         #          #         #         #          #        177        177           0        r_fib     calls
END

# ---- numbers --------------------------------------------------------------------------------------------------------
# For python: d is the report, rows are by name.
read_json='import json, sys
d = json.load(sys.stdin)
rows = {row["name"]: row for row in d["rows"]}
def check(what, is_so):
    if not is_so: print("wrong:", what)
'

# numbers "what" script options...: the script finds nothing wrong in the JSON
numbers() {
    local what=$1 script=$2
    shift 2
    checks=$((checks + 1))
    (cd "$folder" && "$gait" report --json "$@" 2>err | python3 -c "$read_json$script" >wrong 2>&1) || fail "$what: no JSON" "$folder/wrong"
    [[ ! -s $folder/wrong ]] || fail "$what" "$folder/wrong"
}

# Ways of recording differ in what times are worth, not in calls.
counts='
check("calls", (rows["r_fib"]["calls"], rows["r_serve"]["calls"], rows["r_wait"]["calls"]) == (177, 200, 20))
check("total of a function that calls itself", rows["r_fib"]["total_ns"] <= rows["r_fib"]["sum_ns"])
check("all of it is its own", abs(rows["r_fib"]["total_ns"] - rows["r_fib"]["self_ns"]) < 2)
for row in d["rows"]:
    times = [row[name] for name in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")]
    check("order of " + str(times), times == sorted(times))
    check("self of " + row["name"], row["self_ns"] <= row["total_ns"])
check("lost", d["lost_bytes"] == 0 and all(thread["lost_bytes"] == 0 for thread in d["threads"]))'
slept='
check("r_wait sleeps", rows["r_wait"]["min_ns"] >= 1e6)
check("who waits for it", rows["r_serve"]["max_ns"] >= 1e6 and rows["r_serve"]["p50_ns"] < 1e6)
check("times are right", d["times"] == "recorded")'
numbers "hooks" "$counts$slept" before --filter 'r_*'
record followed --follow call,ret --times -- ./calls
numbers "followed, with times" "$counts$slept" followed --filter 'r_*'
record guessed --follow call,ret -- ./calls
numbers "followed, without times" "$counts
check(\"guesses\", d[\"times\"] == \"guessed\" and rows[\"r_fib\"][\"guessed\"] == 177)" guessed --filter 'r_*'
record untimed --follow call -- ./calls
numbers "only calls" 'check("calls", rows["r_fib"]["calls"] == 177 and rows["r_fib"]["total_ns"] is None)' untimed
record pieces --rotate 64K --follow call,ret -- ./calls
numbers "in pieces" "$counts" pieces --filter 'r_*'

# The source says where functions begin: four lines of one file.
numbers "lines" 'check("lines", sorted(row["calls"] for row in d["rows"]) == [1, 20, 177, 200])
check("file", all(row["file"].endswith("/reported_calls.c") and row["line"] > 0 for row in d["rows"]))' before --by line
numbers "files" 'check("file", [row["calls"] for row in d["rows"]] == [398])' before --by file

# Times of functions without what they called add up to the time of what called them all, and modules have the same.
record all -- sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) select sum(i) from n'
numbers "sums" '
own = sum(row["self_ns"] for row in d["rows"])
longest = max(row["total_ns"] for row in d["rows"])
check("sum %r of %r" % (own, longest), abs(own - longest) < 0.05 * own)' all
(cd "$folder" && "$gait" report --json --by function all && "$gait" report --json --by module all && "$gait" report --json --by thread all) |
    python3 -c 'import json, sys
decoder, text, sums = json.JSONDecoder(), sys.stdin.read(), []
while text.strip():
    d, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    sums.append((sum(row["calls"] for row in d["rows"]), round(sum(row["self_ns"] for row in d["rows"]) / 1e3)))
print(len(sums), len(set(calls for calls, _ in sums)), max(own for _, own in sums) - min(own for _, own in sums) <= 1)' >"$folder/sums" 2>&1
check "functions, modules and threads add up to something else: $(cat "$folder/sums")" test "$(cat "$folder/sums")" == "3 1 True"

# ---- what is not there, and what is damaged -------------------------------------------------------------------------
refuses 1 "did you mean r_serve?" report "$folder/before" --filter r_srve
refuses 1 "no function has line information" report "$folder/all" --by file
refuses 2 "one of total|self|calls|avg|p99|max|name" report "$folder/before" --sort size
refuses 2 "a value has to follow it" report "$folder/before" --diff
refuses 1 "there is no such folder" report "$folder/nothing"
refuses 1 "there is no such folder" report "$folder/before" --diff "$folder/nothing"
mkdir "$folder/empty"
refuses 1 "there is no trace in it" report "$folder/empty"
echo '{}' >"$folder/empty/manifest.json"
refuses 1 "manifest.json" report "$folder/empty"

# Wherever a file of a thread ends, what is before is counted, and the rest is said.
cp -r "$folder/followed" "$folder/cut"
file=$(find "$folder/cut" -name '*.1.index.gait' -size +1k | sort | head -n 1)
size=$(stat -c %s "$file")
for bytes in 0 17 100 $((size / 3)) $((size / 2)) $((size - 1)); do
    cp "$folder/followed${file#"$folder/cut"}" "$file"
    truncate -s "$bytes" "$file"
    checks=$((checks + 1))
    "$gait" report "$folder/cut" >"$folder/out" 2>"$folder/err" || fail "cut at $bytes: no report"
    grep -q -E "cannot (read|open).*index.gait" "$folder/out" || fail "cut at $bytes: nobody says so" "$folder/out"
    grep -q "^gait: warning: cannot read.*index.gait" "$folder/err" || fail "cut at $bytes: nobody warns" "$folder/err"
done
rm "$folder"/cut/*/blocks.gait
checks=$((checks + 1))
"$gait" report "$folder/cut" >"$folder/out" 2>"$folder/err" && fail "no blocks: that is no failure"
grep -q '^lost .* bytes of records' "$folder/out" || fail "no blocks: nothing is lost" "$folder/out"

# ---- a tree of many processes: functions are on the first page, and the list comes when it is asked for
# shellcheck disable=SC2016 # another shell sees them
"$gait" spawn --quiet -o "$folder/tree" -- bash -c 'for ((i = 0; i < 30; i++)); do (exit 3); done; kill -TERM $BASHPID' 2>/dev/null
"$gait" report "$folder"/tree/* >"$folder/out" 2>"$folder/err"
check 'processes are counted' grep -q -E '^processes  31, with 31 threads; 1 ended by a signal; --processes lists them$' "$folder/out"
check 'functions are on the first page' test "$(grep -n -m 1 'functions by total time' "$folder/out" | cut -d : -f 1)" -lt 20
check 'none is listed' test "$(grep -c -E '^ +[0-9]+ +[0-9]+  bash' "$folder/out")" = 0
"$gait" report --processes "$folder"/tree/* >"$folder/out" 2>"$folder/err"
check 'all are listed' test "$(grep -c -E '^ +[0-9]+ +[0-9-]+  bash' "$folder/out")" = 62

finish
