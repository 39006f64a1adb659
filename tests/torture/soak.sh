#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that work for long, and somebody who attaches to them and leaves again, at random, all the time: they must not
# notice, nothing may be lost without being told, and neither they nor gait may grow.
#
#   tests/torture/soak.sh [MINUTES [SEED]]
#
# Three programs that check themselves: redis-server, asked by redis-benchmark; java, with four threads that compute,
# collect and catch; python, with threads, signals, children. Each visit takes one of them, a mode of torture.sh, and up to
# some seconds. Another redis-server is recorded all the time, into a trace whose oldest pieces are deleted. Figures are
# printed at the end; a failure is told when it happens, and by the status.
set -u
here=$(cd "$(dirname "$0")" && pwd)
gait=${GAIT:-$here/../../build/gait}
minutes=${1:-30}
seed=${2:-$(date +%s)}
port=$((20000 + $$ % 1200 * 10 + 7))
steady_port=$((port + 1))
for need in redis-server redis-benchmark redis-cli java javac /usr/bin/python3; do
    command -v "$need" >/dev/null || { echo "skipped: $need is not installed"; exit 77; }
done

folder=$(mktemp -d)
cd "$folder" || exit 1
failures=0
visits=0
RANDOM=$((seed % 32768))
declare -A pids visits_of modes_of
events=0 lost_bytes=0 left_threads=0

say_failure() {
    failures=$((failures + 1))
    echo "FAILED after $SECONDS s: $*"
}

# Ends all that is left of what was begun here.
clean_up() {
    local pid
    touch stop
    [[ -n ${recording-} ]] && kill -INT "$recording" 2>/dev/null
    for pid in "${pids[@]}" "${asking-}"; do
        [[ -n $pid ]] && kill "$pid" 2>/dev/null
    done
    wait
    rm -rf "$folder"
}
trap clean_up EXIT

# ---- what is looked at ------------------------------------------------------------------------------------------------

put_programs() {
    cat >Soak.java <<'END'
import java.io.File;
import java.util.*;
import java.util.concurrent.*;
public class Soak {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static int deep(int n) { return deep(n + 1) + 1; }
    static long round(int k) {
        long sum = fib(20 + k % 4);
        Object nothing = null;
        Map<Integer, byte[]> kept = new HashMap<>();
        for (int i = 0; i < 500; i++) kept.put(i, new byte[100 + i]);
        for (byte[] one : kept.values()) sum += one.length;
        try { nothing.hashCode(); } catch (NullPointerException e) { sum++; }
        if (k % 8 == 0) try { deep(0); } catch (StackOverflowError e) { sum++; }
        return sum;
    }
    public static void main(String[] arguments) throws Exception {
        File stop = new File("stop");
        long[] expected = new long[16];
        for (int k = 0; k < 16; k++) expected[k] = round(k);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        long rounds = 0;
        while (!stop.exists()) {
            List<Future<Long>> all = new ArrayList<>();
            for (int k = 0; k < 16; k++) { int own = k; all.add(pool.submit(() -> round(own))); }
            for (int k = 0; k < 16; k++) if (all.get(k).get() != expected[k]) { System.out.println("wrong " + k); System.exit(1); }
            rounds++;
            Thread.sleep(20);
        }
        pool.shutdown();
        System.out.println(rounds + " rounds");
    }
}
END
    cat >soak.py <<'END'
import os, signal, subprocess, threading, time
ticks = rounds = 0
def tick(*_):
    global ticks
    ticks += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
def work(n): return sum(i * i % 7 for i in range(n))
expected = [work(3000 + k) for k in range(4)]
while not os.path.exists("stop"):
    results = [None] * 4
    def one(k): results[k] = work(3000 + k)
    threads = [threading.Thread(target=one, args=(k,)) for k in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert results == expected, results
    if rounds % 20 == 0:
        assert subprocess.run(["sort", "-n"], input="3\n1\n2\n", capture_output=True, text=True).stdout.split() == ["1", "2", "3"]
        child = os.fork()
        if child == 0: os._exit(work(1000) % 200)
        assert os.waitpid(child, 0)[1] >> 8 == work(1000) % 200
    rounds += 1
    time.sleep(0.01)
signal.setitimer(signal.ITIMER_REAL, 0)
assert ticks > 0
print(rounds, "rounds")
END
    javac Soak.java
}

begin_programs() {
    redis-server --port $port --save '' --appendonly no >redis.out 2>&1 &
    pids[redis]=$!
    java -Xms96m -Xmx96m -XX:+AlwaysPreTouch -XX:ReservedCodeCacheSize=48m -Xss512k -cp . Soak >java.out 2>&1 &
    pids[java]=$!
    /usr/bin/python3 soak.py >python.out 2>&1 &
    pids[python]=$!
    redis-server --port $steady_port --save '' --appendonly no >steady.out 2>&1 &
    pids[steady]=$!
    until redis-cli -p $port ping >/dev/null 2>&1 && redis-cli -p $steady_port ping >/dev/null 2>&1; do sleep 0.1; done
    "$gait" attach --quiet -o steady --overflow drop --follow call,ret --rotate 16M --keep 3 "${pids[steady]}" >recorded 2>&1 &
    recording=$!
    ask_redis >asked &
    asking=$!
}

# Keys come from a range, so that what the server keeps does not grow.
ask_redis() {
    local rounds=0 to
    while [[ ! -e stop ]]; do
        for to in $port $steady_port; do
            redis-benchmark -p "$to" -q -n 2000 -c 10 -r 5000 -t set,get,incr,sadd,hset,zadd,mset >/dev/null 2>benchmark.err ||
                echo "benchmark: $? $(head -n 1 benchmark.err)"
        done
        rounds=$((rounds + 1))
        sleep 0.2
    done
    echo "$rounds rounds"
}

end_programs() {
    local name
    touch stop
    wait "$asking"
    asking=
    grep -v ' rounds$' asked >trouble && say_failure "redis: $(head -n 1 trouble)"
    kill -INT "$recording"
    wait "$recording" || say_failure "the steady recording ended with $?: $(tail -n 1 recorded)"
    recording=
    "$gait" verify steady/*/ >verified 2>&1 || say_failure "the steady recording: a bad trace: $(tail -n 1 verified)"
    redis-cli -p $port shutdown nosave
    redis-cli -p $steady_port shutdown nosave
    for name in redis java python steady; do
        wait "${pids[$name]}" || say_failure "$name ended with $?: $(tail -n 2 "$name.out" | tr '\n' ' ')"
        pids[$name]=
    done
}

# ---- looking ----------------------------------------------------------------------------------------------------------

kib_of() { # pid field
    sed -n "s/^$2:[[:space:]]*\([0-9]*\) kB/\1/p" "/proc/$1/status" 2>/dev/null
}

# Leaves one of the words in `picked`; not in a subshell, which would have its own numbers.
pick() {
    local words=("$@")
    picked=${words[RANDOM % $#]}
}

# What the trace says of itself.
count_trace() {
    local trace
    for trace in traces/*/; do
        [[ -d $trace ]] || continue
        "$gait" verify "$trace" >verified 2>&1 || say_failure "$1: a bad trace: $(tail -n 1 verified)"
        events=$((events + $(sed -n 's/.* \([0-9]*\) events\?,.*/\1/p' verified | paste -sd+ | sed 's/^$/0/')))
        lost_bytes=$((lost_bytes + $(grep -o '"[a-z_]*bytes": [0-9]*' "$trace/manifest.json" | awk '{ s += $2 } END { print s + 0 }')))
        left_threads=$((left_threads + $(grep -c '"left"' "$trace/manifest.json")))
    done
    rm -rf traces
}

# visit name mode overflow milliseconds
visit() {
    local options=(--follow "$2") pid=${pids[$1]} own most=0 now status
    [[ $2 == hook ]] && options=(--hook '*')
    "$gait" attach --quiet -o traces --overflow "$3" "${options[@]}" "$pid" >attached 2>&1 &
    own=$!
    for ((waited = 0; waited < $4; waited += 100)); do
        sleep 0.1
        now=$(kib_of "$own" VmRSS)
        ((${now:-0} > most)) && most=$now
    done
    kill -INT "$own" 2>/dev/null
    wait "$own"
    status=$?
    # Ended before it began.
    [[ $status == 0 || $status == 130 ]] || say_failure "$1 with $2: attach gives $status: $(tail -n 1 attached)"
    kill -0 "$pid" 2>/dev/null || say_failure "$1 with $2: is gone"
    count_trace "$1 with $2"
    printf '%d %s %s %d %d %d\n' "$SECONDS" "$1" "$2" "$(kib_of "$pid" VmRSS)" "$most" "$(kib_of "$pid" VmSize)" >>samples
    printf '%d %s %s %d %d %d\n' "$SECONDS" steady call,ret "$(kib_of "${pids[steady]}" VmRSS)" "$(kib_of "$recording" VmRSS)" \
        "$(kib_of "${pids[steady]}" VmSize)" >>samples
    visits=$((visits + 1))
    visits_of[$1]=$((${visits_of[$1]-0} + 1))
    modes_of[$2]=$((${modes_of[$2]-0} + 1))
}

# ---- figures ----------------------------------------------------------------------------------------------------------

# The middle one of a column for a program, in a part of the samples: what is not in the first tenth is warm.
median() { # program column from to
    awk -v name="$1" '$2 == name' samples | awk -v column="$2" -v from="$3" -v to="$4" '
        { line[NR] = $column } END { for (i = 1; i <= NR; i++) if (i > NR * from && i <= NR * to) print line[i] }' |
        sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 0 }'
}

report() {
    local name first last mapped_first mapped_last
    printf '%s minutes, seed %s: %d visits (' "$minutes" "$seed" "$visits"
    for name in "${!modes_of[@]}"; do printf '%s %d, ' "$name" "${modes_of[$name]}"; done
    printf '), %d events, %d bytes told as lost, %d threads left\n' "$events" "$lost_bytes" "$left_threads"
    printf '%s by redis-benchmark, java %s, python %s\n' "$(tail -n 1 asked)" "$(tail -n 1 java.out)" "$(tail -n 1 python.out)"
    printf '%-8s %8s %24s %24s\n' program visits 'RSS in KiB: early, late' 'mapped: early, late'
    for name in redis java python steady; do
        first=$(median "$name" 4 0.1 0.35) last=$(median "$name" 4 0.75 1)
        mapped_first=$(median "$name" 6 0.1 0.35) mapped_last=$(median "$name" 6 0.75 1)
        printf '%-8s %8s %12d %11d %12d %11d\n' "$name" "${visits_of[$name]--}" "$first" "$last" "$mapped_first" "$mapped_last"
        # A twentieth and 4 MiB: what a collector or an allocator may do.
        ((last > first + first / 20 + 4096)) && say_failure "$name has grown from $first to $last KiB"
        ((mapped_last > mapped_first + mapped_first / 20 + 65536)) && say_failure "$name has mapped $mapped_last KiB"
    done
    first=$(median steady 5 0.1 0.35) last=$(median steady 5 0.75 1)
    printf '%-8s %8s %12d %11d\n' gait - "$first" "$last"
    ((last > first + first / 20 + 4096)) && say_failure "gait has grown from $first to $last KiB"
    printf 'largest of the visits: %d KiB\n' "$(awk '$2 != "steady" && $5 > most { most = $5 } END { print most }' samples)"
}

put_programs
begin_programs
: >samples
while ((SECONDS < minutes * 60)) && ((failures < 20)); do
    pick redis java python && name=$picked
    pick none call,ret block hook && mode=$picked
    pick drop block
    visit "$name" "$mode" "$picked" $((RANDOM % 3000 + 100))
    sleep "0.$((RANDOM % 8))"
done
end_programs
report
echo "$failures failed"
[[ $failures -eq 0 ]]
