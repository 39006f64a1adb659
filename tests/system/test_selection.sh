#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is recorded and what is left out, and talking to recordings, on programs that nobody here wrote.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# record options... -- program...: as natively; then $folder/events has its events
record() {
    local options=() natively status
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    shift
    checks=$((checks + 1))
    "$@" >"$folder/native" 2>/dev/null </dev/null
    natively=$?
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "${options[@]}" -- "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$natively" ]] || fail "$*: status $status, natively $natively"
    cmp -s "$folder/native" "$folder/out" || fail "$*: another output"
    trace=$(echo "$folder"/traces/*)
    "$gait" verify "$trace" >"$folder/err" 2>&1 || fail "$*: a bad trace"
    "$gait" dump events "$trace" >"$folder/events" 2>"$folder/err" || fail "$*: no events"
}

# Events from code whose name matches: of all processes and threads.
from() {
    places | grep -c -E -- "^($1)(\+|\$)"
}

# Where events come from.
places() {
    awk -F '\t' '{ print $3 == "call" || $3 == "ret" ? $5 : $4 }' "$folder/events"
}

# Calls of what matches.
calls_of() {
    awk -F '\t' '$3 == "call" { print $6 }' "$folder/events" | grep -c -E -- "^($1)(\+|\$)"
}

# Names of functions in the tables of a file.
functions_in() {
    readelf "$1" -W "$2" 2>/dev/null | awk '$4 ~ /FUNC/ && $7 != "UND" { sub(/@.*/, "", $8); print $8 }'
}

functions_of() {
    functions_in --dyn-syms "$1" | grep -E '^[A-Za-z0-9_]+$' | sort -u
}

# All that it has, also those that only separate debug information names.
all_functions_of() {
    local id
    id=$(readelf -n "$1" | awk '/Build ID/ { print $3 }')
    {
        functions_in --syms "$1"
        functions_in --syms "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
    } | sort -u
}

# names_of file [other]: a pattern for its functions, known by their names or not; without those that the other has too
names_of() {
    comm -23 <(functions_of "$1") <([[ $# == 1 ]] || all_functions_of "$2") | tr '\n' '|'
    basename "$1" | sed 's/\./\\./g'
}

has() { [[ $("$@") -gt 0 ]]; }
has_none() { [[ $("$@") == 0 ]]; }

libc_file=$(readlink -f "$(ldd /usr/bin/sort | awk '/libc.so/ { print $3 }')")
loader_file=$(readlink -f "$(ldd /usr/bin/sort | awk '/ld-linux/ { print $1 }')")
libc=$(names_of "$libc_file" "$loader_file")
loader=$(names_of "$loader_file" "$libc_file")

# ---- modules

record --follow-thread '*' -- sort /etc/services
check "by default libc tells something" has_none from "$libc"
check "by default the loader tells something" has_none from "$loader"
check "by default the program tells nothing" has from 'sort'
check "by default calls of libc are not told" has calls_of "$libc"

record --follow call,ret -- sort /etc/services
check "--follow leaves libc out" has from "$libc"

record --follow call,ret --exclude 'libc.so*' -- sort /etc/services
check "--exclude leaves nothing out" has_none from "$libc"
check "--exclude leaves too much out" has from "$loader"

record --follow block --exclude '/usr/bin/*' -- sort /etc/services
check "a path leaves nothing out" has_none from 'sort'
check "a path leaves too much out" has from "$libc"

# All events of a program but those of libc are those that it tells without libc: in the same order, from the same places.
checks=$((checks + 1))
record --follow block -- sort /etc/services
places | grep -E '^sort\+' >"$folder/all"
record --follow block --exclude 'libc.so*' -- sort /etc/services
places | grep -E '^sort\+' >"$folder/some"
if [[ ! -s $folder/all ]] || ! cmp -s "$folder/all" "$folder/some"; then
    fail "leaving libc out changes what the program tells"
fi

# ---- functions, by the names that bash has for its own

listing='cd /usr/include/linux; for i in 1 2 3; do echo *; done | cksum'
bash=$(readlink -f /bin/bash)
if readelf --dyn-syms -W "$bash" 2>/dev/null | grep -q ' strvec_sort$'; then
    record --follow call,ret --exclude '!strvec_*' -- "$bash" -c "$listing"
    check "an excluded function tells something" has_none from 'strvec_[a-z]+'
    check "calls of an excluded function are not told" has calls_of 'strvec_sort'
    check "all of bash is left out" has from 'glob_filename'

    # qsort of libc calls a function of bash.
    record -- "$bash" -c "$listing"
    check "what libc calls is not told" has from 'strvec_[a-z]*cmp'
    record --exclude 'bash!strvec_sort' --exclude 'bash!strvec_*cmp' -- "$bash" -c "$listing"
    check "what libc calls is told though it is excluded" has_none from 'strvec_[a-z]*cmp'
fi

# ---- libraries that come later

lazily='import ctypes; z = ctypes.CDLL("libz.so.1"); print(z.crc32(0, b"x" * 100000, 100000))'
python=$(command -v /usr/bin/python3)
if [[ -n $python ]] && "$python" -c "$lazily" >/dev/null 2>&1; then
    record --follow call,ret -- "$python" -c "$lazily"
    check "nothing is told of a library that came later" has from "$(names_of "$(readlink -f /lib/x86_64-linux-gnu/libz.so.1)")"
    record --follow call,ret --exclude 'libz.so*' -- "$python" -c "$lazily"
    check "a library that came later is not left out" has_none from \
        "$(names_of "$(readlink -f /lib/x86_64-linux-gnu/libz.so.1)")"
    check "calls of it are not told" has calls_of '(libz\.so|crc32)'
fi

# ---- threads

named='
import ctypes, threading
libc = ctypes.CDLL(None)
def walk():
    libc.prctl(15, b"walker", 0, 0, 0)
    sum(i * i for i in range(20000))
threads = [threading.Thread(target=walk), threading.Thread(target=lambda: sum(range(20000)))]
for thread in threads: thread.start()
for thread in threads: thread.join()
'
if [[ -n $python ]] && "$python" -c "$named" >/dev/null 2>&1; then
    record --follow call,ret --follow-thread 'walk*' -- "$python" -c "$named"
    check "no thread is recorded by its name" [ -s "$folder/events" ]
    check "other threads are recorded too" [ "$(cut -f 2 "$folder/events" | sort -u | wc -l)" == 1 ]
    check "the thread has no name" grep -q '"walker"' "$trace/manifest.json"
    record --follow call,ret -- "$python" -c "$named"
    check "not all threads are recorded" [ "$(cut -f 2 "$folder/events" | sort -u | wc -l)" == 3 ]
    check "a name that came late is lost" grep -q '"walker"' "$trace/manifest.json"
fi

# ---- options in a file

cat >"$folder/options.toml" <<'END'
# what is left out
exclude = ["libc.so*", 'ld-linux*']
follow = "call,ret"
children = false
END
record --config "$folder/options.toml" -- sh -c 'true; /bin/echo x'
check "a file's exclusions do not count" has_none from "$libc"
check "a file's switch does not count" [ "$(find "$trace" -name modules.gait | wc -l)" == 1 ]
record --config "$folder/options.toml" --exclude 'nothing*' -- sort /etc/passwd
check "the command line does not count more" has from "$libc"
echo 'exclude = 5x' >"$folder/options.toml"
refuses 2 "line 1: the value is no" spawn --config "$folder/options.toml" -- true
refuses 2 "cannot read the options" spawn --config "$folder/none.toml" -- true
refuses 2 "--hook and --follow do not go together" spawn --hook main --follow call -- true
refuses 2 "--trigger is slow=x; it should be slow=FUNCTION>TIME" spawn --trigger slow=x -- true
refuses 2 "--wait is for gait spawn" attach --wait 1

# ---- what nothing is like

"$gait" spawn -o "$folder/traces" --follow call --exclude 'libc.so*' --exclude 'nothing*' --detail 'no_such_function' \
    --follow-thread 'sor*' --follow-thread nobody -- sort /etc/passwd >"$folder/out" 2>"$folder/err"
check "a pattern without a module is not told" grep -q -F -- "--exclude nothing* means" "$folder/err"
check "a pattern without a function is not told" grep -q -F -- "--detail no_such_function means" "$folder/err"
check "a pattern without a thread is not told" grep -q -F -- "--follow-thread nobody means" "$folder/err"
check "patterns are told that match" [ "$(grep -c 'nothing was found' "$folder/err")" == 3 ]

# ---- build IDs, also of a file that is gone

build_id_of() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }
has_bytes() { xxd -p "$1" | tr -d '\n' | grep -q "$2"; }
if [[ -n $(build_id_of /bin/sleep) ]] && command -v xxd >/dev/null; then
    cp /bin/sleep "$folder/sleeper"
    "$folder/sleeper" 60 &
    process=$!
    started+=("$process")
    until [[ $(readlink "/proc/$process/exe") == "$folder/sleeper" ]]; do sleep 0.02; done
    rm "$folder/sleeper"
    rm -rf "$folder/traces"
    "$gait" attach --quiet --duration 1 -o "$folder/traces" "$process" 2>"$folder/err"
    check "no build ID of a file that is gone" has_bytes "$(echo "$folder"/traces/*/*/modules.gait)" "$(build_id_of /bin/sleep)"
    check "no build ID of libc" has_bytes "$(echo "$folder"/traces/*/*/modules.gait)" \
        "$(build_id_of "$(ldd /bin/sleep | awk '/libc.so/ { print $3 }')")"
    kill -KILL "$process"
    wait "$process" 2>/dev/null
fi

# ---- talking to recordings

# eventually "what" command...: it succeeds within ten seconds
eventually() {
    local what=$1
    shift
    checks=$((checks + 1))
    for _ in {1..100}; do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "$what"
}

perl -e '$SIG{TERM} = sub { exit 7 }; while (1) { $n++; select(undef, undef, undef, 0.01) }' &
process=$!
started+=("$process")
refuses 1 "process $process is not being recorded" stats "$process"
refuses 1 "is not being recorded" detach "$process"
refuses 1 "there is no process 4000000" trigger 4000000
refuses 2 "is no process" stats perl
rm -rf "$folder/traces"
"$gait" attach --quiet -o "$folder/traces" "$process" 2>"$folder/recorder" &
recorder=$!
started+=("$recorder")
eventually "gait stats finds no recording" "$gait" stats "$process"
"$gait" stats "$process" >"$folder/out" 2>"$folder/err"
check "stats does not tell the trace" grep -q "^trace *$folder/traces/" "$folder/out"
check "stats does not tell threads" grep -q '^followed *1 thread in 1 process$' "$folder/out"
check "a trigger is refused" "$gait" trigger "$process" "a note"
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    chmod 755 "$folder"
    checks=$((checks + 1))
    setpriv --reuid=65534 --regid=65534 --clear-groups "$gait" detach "$process" >"$folder/out" 2>"$folder/err"
    status=$?
    if [[ $status != 1 ]] || ! grep -q "it is another user's" "$folder/err"; then
        fail "anybody may end a recording"
    fi
fi
check "detach fails" "$gait" detach "$process" >"$folder/out" 2>"$folder/err"
check "something of gait is left" [ "$(grep -c gait "/proc/$process/maps")" == 0 ]
checks=$((checks + 1))
wait "$recorder" || fail "a recording that was ended by gait detach fails"
check "the trace is bad" "$gait" verify "$folder"/traces/* >"$folder/out" 2>"$folder/err"
refuses 1 "is not being recorded" stats "$process"
kill -TERM "$process"
checks=$((checks + 1))
wait "$process"
[[ $? == 7 ]] || fail "the process did not go on as it was"

# ---- programs that wait

rm -rf "$folder/traces"
setsid "$gait" spawn --wait -o "$folder/traces" -- sh -c 'echo runs; exit 5' >"$folder/out" 2>"$folder/err" </dev/null &
recorder=$!
started+=("$recorder")
eventually "--wait says nothing" grep -q 'waits before its first instruction' "$folder/err"
process=$(sed -n 's/.*process \([0-9]*\) waits.*/\1/p' "$folder/err")
check "a program that waits runs" [ ! -s "$folder/out" ]
check "stats of a program that waits" "$gait" stats "$process" >/dev/null
check "a program that waits cannot be let go" "$gait" trigger "$process"
checks=$((checks + 1))
wait "$recorder"
[[ $? == 5 && $(cat "$folder/out") == runs ]] || fail "a program that waited ends otherwise"

# ---- steps

"$gait" spawn --verbose -o "$folder/traces" -- sh -c '(exit 3); exit 2' 2>"$folder/err"
check "--verbose does not tell the agent" grep -q 'has the agent in it' "$folder/err"
check "--verbose does not tell children" grep -q 'made by [0-9]*, is recorded' "$folder/err"
check "--verbose does not tell ends" grep -q 'has ended with status 2' "$folder/err"

finish
