#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Static probes: what programs pass is told, each time, with the arguments that it had, whether nothing is followed or all
# is, with hooks beside them; in programs, libraries and what is loaded later; of compilers' and other people's programs,
# and as often as other tracers say. Semaphores are up as long as somebody looks; code is as it was when nobody does.
# configurations: debug-gcc
# time limit: 400 s
# shellcheck disable=SC2015,SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# make_program name command...: compiles with the header
make_program() {
    local name=$1
    shift
    "$@" -Wall -Wextra -Werror -Iinclude -pthread -o "$folder/$name" >"$folder/err" 2>&1 || fail "cannot make $name: $*"
}

# record program options...: the program's output is in $folder/said
record() {
    local program=$1
    shift
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- "$folder/$program" 5 >"$folder/said" 2>"$folder/err" || fail "spawn $* $program"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$program with $*: a bad trace" "$folder/verify"
}

# rows sql: what the table of probes has, a line each
rows() {
    "$gait" query --csv "$folder"/traces/* "$1" 2>>"$folder/err" | sed -e 1d -e 's/^"\(.*\)"$/\1/' -e 's/""/"/g'
}

# exact program options...: all that it says it passed is told, and nothing else
exact() {
    local program=$1
    shift
    checks=$((checks + 1))
    record "$program" "$@" --probe 'usdt::probed:[!t]*' --probe 'usdt::probed:third' --probe 'usdt::probed:texts(str,str,str,int)'
    grep -v -E '^(sum|semaphore) ' "$folder/said" | sort >"$folder/expected"
    rows "select name || ' ' || coalesce(arguments, '') from probes" | sort >"$folder/seen"
    [[ $(wc -l <"$folder/expected") -gt 140 ]] || fail "$program says too little" "$folder/said"
    diff "$folder/expected" "$folder/seen" >"$folder/diff" || fail "probes of $program with $*" "$folder/diff"
    grep -q '^semaphore 1$' "$folder/said" || fail "$program with $*: its semaphore is not up" "$folder/said"
}

source=tests/system/programs/probed.c
make_program c99 gcc -std=c99 -D_GNU_SOURCE -pedantic -O0 $source
make_program optimized gcc -O2 -g $source
make_program clang clang -O2 $source
make_program cxx g++ -x c++ -O2 $source
make_program cxx_clang clang++ -x c++ -O0 $source
make_program static gcc -O2 -static $source
make_program fixed gcc -O2 -no-pie $source
for program in c99 optimized clang cxx cxx_clang static fixed; do
    exact "$program"
done
exact optimized --hook 'pass_*'
exact optimized --hook '*' --compress
exact optimized --follow none
exact clang --follow none
exact static --follow none
exact optimized --follow call,ret,block --exclude 'libc.so*'
exact optimized --buffer 4K --overflow block

# ---- libraries that come and go --------------------------------------------------------------------------------------

cat >"$folder/plugin.c" <<'END'
#include "gait/probe.h"
GAIT_PROBE_SEMAPHORE(plugin, begun);
void plugin_run(int n);
__attribute__((constructor)) static void begin(void) { GAIT_PROBE_IF_ENABLED(plugin, begun, 7); }
void plugin_run(int n) { for (int i = 0; i < n; i++) GAIT_PROBE(plugin, run, i); }
END
cat >"$folder/loader.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(getenv("PLUGIN"), RTLD_NOW);
        void (*run)(int) = library == NULL ? NULL : (void (*)(int))dlsym(library, "plugin_run");
        if (run == NULL) return 1;
        run(argc > 1 ? atoi(argv[1]) : 1);
        dlclose(library);
    }
    return 0;
}
END
make_program plugin.so gcc -O2 -shared -fPIC "$folder/plugin.c"
make_program loader gcc -O2 "$folder/loader.c" -ldl
export PLUGIN=$folder/plugin.so
for how in '' '--follow none'; do
    # shellcheck disable=SC2086
    record loader $how --probe "usdt:$folder/plugin.so:plugin:*"
    check "the plugin's constructor is seen each time, with $how" test "$(rows "select count(*) from probes where name = 'begun' and arg0 = 7")" = 3
    check "what it runs is seen, with $how" test "$(rows "select count(*), sum(arg0) from probes where name = 'run'")" = 15,30
done

# ---- wrong probes ----------------------------------------------------------------------------------------------------

refuses 2 'did you mean probed:loop' spawn --quiet -o "$folder/traces" --probe usdt::probed:lop "$folder/optimized"
refuses 2 'usdt:PATH:PROVIDER:NAME' spawn --quiet -o "$folder/traces" --probe nonsense "$folder/optimized"
refuses 2 'no static probes at all' spawn --quiet -o "$folder/traces" --probe usdt:/bin/true:a:b /bin/true
rm -rf "$folder/traces"
refuses 125 "nothing was found that" spawn -o "$folder/traces" --probe usdt:nowhere.so:a:b /bin/true
check 'what never came is told' grep -q 'nothing was found that --probe' "$folder/err"

# ---- attaching and leaving -------------------------------------------------------------------------------------------

make_program probe_loop gcc -O2 tests/system/programs/probe_loop.c
coproc loop { exec "$folder/probe_loop"; }
started+=("$loop_PID")
loop_pid=$loop_PID
# ask: count, semaphore and bytes of the loop
ask() {
    echo >&"${loop[1]}"
    read -r -t 10 -u "${loop[0]}" count semaphore bytes || fail 'the loop does not answer'
}
ask
before=$bytes
check 'nobody looks at first' test "$semaphore" = 0
for round in 1 2 3; do
    rm -rf "$folder/traces"
    "$gait" attach --quiet -o "$folder/traces" --probe usdt::looping:* "$loop_pid" >"$folder/out" 2>"$folder/err" &
    recorder=$!
    started+=("$recorder")
    is_up() { ask; [[ $semaphore == 1 ]]; }
    until_true "round $round: the semaphore is up" is_up
    check "round $round: the code is patched" test "$bytes" != "$before"
    first=$count
    sleep 0.2
    ask
    kill -INT "$recorder"
    wait "$recorder" || fail "attach ended with $?"
    last=$count
    ask
    check "round $round: the semaphore is down again" test "$semaphore" = 0
    check "round $round: the code is as it was" test "$bytes" = "$before"
    check "round $round: both probes are told" test "$(rows 'select count(distinct name) from probes')" = 2
    check "round $round: none is missing" test "$(rows "select count(*) from probes where name = 'plain' and arg0 between $first and $((last - 1))")" = $((last - first))
    check "round $round: in order" test "$(rows "select max(arg0) - min(arg0) + 1 - count(*) from probes where name = 'plain'")" = 0
done

# The loop is followed, and left.
rm -rf "$folder/traces"
"$gait" attach --quiet -o "$folder/traces" --follow none --duration 1 --probe 'usdt:*:looping:*' "$loop_pid" >"$folder/out" 2>"$folder/err" || fail 'attach --follow'
ask
check 'followed: the semaphore is down again' test "$semaphore" = 0
check 'followed: the code is as it was' test "$bytes" = "$before"
check 'followed: both probes are told' test "$(rows 'select count(distinct name) from probes')" = 2

# Who records is killed: the program goes on, and what was told is there.
rm -rf "$folder/traces"
"$gait" attach --quiet -o "$folder/traces" --probe usdt::looping:* "$loop_pid" >"$folder/out" 2>"$folder/err" &
recorder=$!
started+=("$recorder")
until_true 'the semaphore is up before the kill' is_up
sleep 0.7
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
ask
first=$count
sleep 0.2
ask
check 'the program goes on without its recorder' test "$count" -gt "$first"
check 'a killed recorder leaves names of probes' test "$(rows "select count(*) > 0 from probes where provider = 'looping' and name = 'plain'")" = 1
kill -TERM "$loop_pid"
wait "$loop_pid" || fail "the loop ended with $?"

# A child has the probes of its parent.
make_program forks gcc -O2 tests/system/programs/probe_loop.c
coproc loop { exec "$gait" spawn --quiet -o "$folder/forked" --probe usdt::looping:* "$folder/forks" --fork 2>"$folder/err"; }
started+=("$loop_PID")
spawned=$loop_PID
exec 7<&"${loop[0]}"
ask
sleep 0.5
pkill -TERM -P "$spawned" -x forks
read -r -t 10 -u 7 word status || fail 'the parent does not end'
wait "$spawned" || fail "spawn --fork ended with $?"
check 'the semaphore is up in a child' test "$word $status" = 'child 1'
rm -rf "$folder/traces"
mv "$folder/forked" "$folder/traces"
check 'both processes are told' test "$(rows "select count(distinct pid) from probes where name = 'plain'")" = 2
check 'a child tells what it passes' test "$(rows "select count(*) from probes where name = 'plain' group by pid order by count(*) limit 1")" -ge 1000

# ---- programs that nobody here wrote ---------------------------------------------------------------------------------

cat >"$folder/throws.cc" <<'END'
#include <stdexcept>
#include <cstdio>
int main() {
    int caught = 0;
    for (int i = 0; i < 100; i++)
        try { try { throw std::runtime_error("x"); } catch (std::runtime_error &) { caught++; throw; } } catch (...) { caught++; }
    std::printf("%d\n", caught);
}
END
make_program throws g++ -O2 "$folder/throws.cc"
if "$gait" find --probes libstdc++.so.6 >"$folder/out" 2>/dev/null; then
    record throws --probe 'usdt:libstdc++.so.6:libstdcxx:*'
    check 'exceptions work' test "$(cat "$folder/said")" = 200
    check 'what libstdc++ throws and catches is told' test "$(rows 'select name, count(*) from probes group by name' | paste -s -d ' ')" = 'catch,200 rethrow,100 throw,100'
else
    echo 'libstdc++ has no static probes here'
fi

# Else strings have other hashes each time, and sets another order.
export PYTHONHASHSEED=0
if "$gait" find --probes function__entry /usr/bin/python3 >"$folder/out" 2>/dev/null; then
    cat >"$folder/fib.py" <<'END'
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(12))
END
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --probe 'usdt:/usr/bin/python3:python:function__return(str,str,int)' --probe usdt:python3:python:audit /usr/bin/python3 -S "$folder/fib.py" >"$folder/said" 2>"$folder/err" || fail 'python3'
    check 'python counts' test "$(cat "$folder/said")" = 144
    check 'its functions are told by name' test "$(rows "select name, count(*) from probes where arg1 = 'fib' group by name")" = function__return,465
    rows "select 'audit', count(*) from probes where name = 'audit' union all select 'fib', count(*) from probes where arg1 = 'fib'" >"$folder/python"
else
    echo 'python3 has no static probes here'
fi

# ---- other tracers ---------------------------------------------------------------------------------------------------

# gdb reads what the header writes, and stops there.
if command -v gdb >/dev/null; then
    checks=$((checks + 1))
    gdb -q -batch -ex 'info probes stap probed' -ex 'break -probe-stap probed:numbers' -ex 'run 1' -ex 'p $_probe_arg4' -ex 'p $_probe_arg11' \
        "$folder/optimized" >"$folder/out" 2>"$folder/err" </dev/null
    grep -q '^stap *probed *guarded' "$folder/out" && grep -q '^\$1 = 0$' "$folder/out" && grep -q '^\$2 = 12345$' "$folder/out" ||
        fail 'gdb does not take the probes' "$folder/out"
else
    echo 'gdb is not here'
fi
# perf lists it.
if command -v perf >/dev/null; then
    checks=$((checks + 1))
    HOME=$folder perf buildid-cache --add "$folder/optimized" >"$folder/out" 2>&1
    HOME=$folder perf list sdt >"$folder/out" 2>&1
    grep -q 'sdt_probed:numbers' "$folder/out" || fail 'perf does not take the probes' "$folder/out"
fi
# bpftrace counts the same, if the system lets it.
if command -v bpftrace >/dev/null && bpftrace -e 'BEGIN { exit() }' >/dev/null 2>&1; then
    checks=$((checks + 1))
    timeout 60 bpftrace -c "$folder/optimized 5" -e "usdt:$folder/optimized:probed:loop { @loops = count(); @sum = sum(arg0); } usdt:$folder/optimized:probed:guarded { @guarded = count(); }" >"$folder/out" 2>"$folder/err"
    grep -q '^@loops: 20$' "$folder/out" && grep -q '^@sum: 40$' "$folder/out" && grep -q '^@guarded: 20$' "$folder/out" ||
        fail 'bpftrace counts otherwise' "$folder/out"
    if [[ -s $folder/python ]]; then
        checks=$((checks + 1))
        timeout 60 bpftrace -o "$folder/counts" -c "/usr/bin/python3 -S $folder/fib.py" -e 'usdt:/usr/bin/python3:python:audit { @audit = count(); }
            usdt:/usr/bin/python3:python:function__return /str(arg1) == "fib"/ { @fib = count(); }' >"$folder/said" 2>"$folder/err"
        sed -n 's/^@\([a-z_]*\): \([0-9]*\)$/\1,\2/p' "$folder/counts" | sort >"$folder/out"
        diff "$folder/python" "$folder/out" >"$folder/diff" || fail 'bpftrace counts otherwise in python3' "$folder/diff"
    fi
else
    echo 'bpftrace is not here, or may not trace'
fi

finish
