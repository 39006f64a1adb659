# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# What is run: a name, and a command whose output is the same each time. Commands run in a folder of their own with the
# files that make_place puts there. Those of programs that are not installed are passed over; what is built first, natively,
# has a maker.
# A command takes about a second natively, so that somebody can attach to it.

make_place() {
    seq 1 200000 >numbers
    seq 1 3000 >few
    cat numbers numbers >lines
    head -c 1200000 "$(command -v bash)" >binary
    for _ in 1 2 3 4 5 6; do cat binary; done >big
    cat >big.c <<'END'
#include <stdio.h>
#define F(n) static int f##n(int a, int b) { int s = 0; for (int i = 0; i < a; i++) s += (i ^ b) * n + (s >> 3); return s; }
F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16)
int main(void)
{
    printf("%d\n", f1(9, 1) + f2(8, 2) + f3(7, 3) + f4(6, 4) + f5(5, 5) + f6(4, 6) + f7(3, 7) + f8(2, 8) + f9(1, 9));
    return f10(1, 2) + f11(3, 4) + f12(5, 6) + f13(7, 8) + f14(9, 1) + f15(2, 3) + f16(4, 5) == 7;
}
END
    awk 'BEGIN {
        print "int f0(int a, int b) { return a ^ b; }"
        for (i = 1; i < 200; i++) {
            printf "__attribute__((noinline)) int f%d(int a, int b)\n{\n    int s = %d;\n", i, i
            printf "    for (int i = 0; i < a; i++)\n        s += (i ^ b) * %d + (s >> %d);\n", i % 97, i % 7 + 1
            printf "    return s & 1 ? f%d(s & 3, a) : b / (s | 1);\n}\n", i - 1
        }
        print "int main(void) { return f199(9, 5) == 7; }"
    }' >many.c
    printf '%s\n' 'all: several.1.o several.2.o several.3.o several.4.o' 'several.%.o: many.c' '	$(CC) -O1 -c many.c -o $@' >several.mk
    cat >throw.cc <<'END'
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>
struct guard { int &n; ~guard() { n++; } };
static int deep(int n, int &unwound)
{
    guard g{unwound};
    if (n == 0)
        throw std::runtime_error("bottom");
    return deep(n - 1, unwound) + 1;
}
int main()
{
    std::vector<std::thread> threads;
    int counts[4] = {0, 0, 0, 0};
    for (int t = 0; t < 4; t++)
        threads.emplace_back([t, &counts] {
            for (int i = 0; i < 30000; i++)
                try {
                    try { deep(i % 20, counts[t]); } catch (const std::runtime_error &) { throw; }
                } catch (const std::exception &e) { counts[t] += e.what()[0] == 'b'; }
        });
    for (auto &thread : threads)
        thread.join();
    std::printf("%d %d %d %d\n", counts[0], counts[1], counts[2], counts[3]);
}
END
    cat >routines.go <<'END'
package main

import (
	"fmt"
	"sort"
	"sync"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	var group sync.WaitGroup
	var lock sync.Mutex
	results := []int{}
	for round := 0; round < 2000; round++ {
		for i := 0; i < 20; i++ {
			group.Add(1)
			go func(i int) {
				defer group.Done()
				defer func() {
					if recover() != nil {
						lock.Lock()
						results = append(results, -1)
						lock.Unlock()
					}
				}()
				value := fib(18 + i%4)
				if i%10 == 0 {
					var nothing *int
					*nothing = value
				}
				lock.Lock()
				results = append(results, value)
				lock.Unlock()
			}(i)
		}
		group.Wait()
	}
	sort.Ints(results)
	sum := 0
	for i, v := range results {
		sum += v * (i%7 + 1)
	}
	fmt.Println(len(results), sum)
}
END
    cat >panic.rs <<'END'
use std::thread;
fn deep(n: u32) -> u32 { if n == 0 { std::panic::resume_unwind(Box::new(7u32)) } else { deep(n - 1) + 1 } }
fn main() {
    let threads: Vec<_> = (0..4).map(|t| thread::spawn(move || {
        let mut caught = 0u32;
        for i in 0..300000 { if let Err(e) = std::panic::catch_unwind(|| deep(i % 20)) { caught += *e.downcast_ref::<u32>().unwrap(); } }
        caught + t
    })).collect();
    println!("{:?}", threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>());
}
END
    cat >Work.java <<'END'
import java.util.concurrent.*;
public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static int deep(int n) { return deep(n + 1) + 1; }
    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        Future<?>[] all = new Future<?>[32];
        for (int i = 0; i < all.length; i++) { int k = i; all[i] = pool.submit(() -> {
            long sum = 0; Object nothing = null;
            for (int r = 0; r < rounds; r++) {
                sum += fib(20 + k % 5);
                try { nothing.hashCode(); } catch (NullPointerException e) { sum++; }
            }
            try { deep(0); } catch (StackOverflowError e) { sum++; }
            return sum; }); }
        long sum = 0;
        for (Future<?> one : all) sum += (Long) one.get();
        System.gc();
        pool.shutdown();
        System.out.println(sum);
    }
}
END
    cat >routines.lua <<'END'
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local sum = 0
for r = 1, 1500 do for v in gen(1000) do sum = sum + v % 7 end local ok = pcall(error, r) sum = sum + (ok and 1 or 2) end
local t = {} for i = 1, 200000 do t[i] = (i * 7919) % 100003 end table.sort(t) print(sum, t[1], t[100000])
END
    cat >work.py <<'END'
import signal, subprocess, sys, threading, ctypes, asyncio, multiprocessing, os
ticks = 0
def tick(*_):
    global ticks
    ticks += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def work(n): return sum(i * i % 7 for i in range(n))
results = []
threads = [threading.Thread(target=lambda k=k: results.append(work(500000 + k))) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(results))
async def task(n):
    await asyncio.sleep(0.001)
    return work(n)
async def main(): print(await asyncio.gather(*(task(i * 100) for i in range(20))))
asyncio.run(main())
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
array = (ctypes.c_int * 500)(*[(i * 7919) % 503 for i in range(500)])
ctypes.CDLL(None).qsort(array, 500, 4, compare)
print(list(array)[:10])
signal.setitimer(signal.ITIMER_REAL, 0)
print(subprocess.run(["sort", "-rn"], input="1\n3\n2\n", capture_output=True, text=True).stdout.split())
if os.fork() == 0: os._exit(work(1000) % 200)
print(os.wait()[1] >> 8, ticks > 0)
with multiprocessing.get_context("fork").Pool(3) as pool: print(sum(pool.map(work, range(0, 3000, 100))))
END
    cat >work.js <<'END'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);
if (isMainThread) {
    let left = 4, sum = 0;
    for (let i = 0; i < 4; i++) new Worker(__filename).on('message', v => { sum += v; if (--left == 0) console.log(sum); });
} else {
    let sum = 0;
    for (let i = 0; i < 800; i++) { sum += fib(20 + i % 5); try { null.x } catch (e) { sum++ } }
    sum += [...'aXbXc'.repeat(2000).matchAll(/X./g)].length;
    parentPort.postMessage(sum);
}
END
    cat >cgo.go <<'END'
package main

// #include <stdlib.h>
// #include <string.h>
// extern int goCompare(int, int);
// static int compare(const void *a, const void *b) { return goCompare(*(const int *)a, *(const int *)b); }
// static void sort(int *values, size_t count) { qsort(values, count, sizeof(int), compare); }
import "C"
import "fmt"

//export goCompare
func goCompare(a, b C.int) C.int { return a - b }

func main() {
	results := make(chan int)
	for i := 0; i < 8; i++ {
		go func(i int) {
			values := make([]C.int, 3000)
			for k := range values {
				values[k] = C.int((k * 7919 + i) % 3001)
			}
			for round := 0; round < 80; round++ {
				C.sort(&values[0], C.size_t(len(values)))
			}
			results <- int(values[100]) + i*1000
		}(i)
	}
	sum := 0
	for i := 0; i < 8; i++ {
		sum += <-results
	}
	fmt.Println(sum)
}
END
    cat >work.ml <<'END'
exception Found of int
let rec f n = if n < 2 then n else f (n - 1) + f (n - 2)
let rec deep n = if n = 0 then raise (Found 7) else deep (n - 1) + 1
let () =
  let caught = ref 0 in
  for i = 1 to 100000 do try ignore (deep (i mod 20)) with Found k -> caught := !caught + k done;
  let rec overflow n = 1 + overflow (n + 1) in
  if Array.length Sys.argv = 1 then (try ignore (overflow 0) with Stack_overflow -> incr caught);
  Printf.printf "%d %d\n" (f 41) !caught
END
    cat >interpreted.ml <<'END'
let rec f n = if n < 2 then n else f (n - 1) + f (n - 2)
let () =
  print_int (f 36);
  let h = Hashtbl.create 10 in
  for i = 1 to 400000 do Hashtbl.replace h (i mod 1009) i done;
  print_int (Hashtbl.length h);
  (try failwith "x" with Failure s -> print_endline s)
END
    cat >work.tcl <<'END'
proc f n {if {$n < 2} {return $n}; expr {[f [expr {$n - 1}]] + [f [expr {$n - 2}]]}}
puts [f 30]
catch {error x} message
puts $message
proc numbers {} {for {set i 0} {$i < 20000} {incr i} {yield $i}}
coroutine next numbers
set sum 0
for {set i 1} {$i < 20000} {incr i} {incr sum [next]}
puts $sum
END
    cat >work.c <<'END'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int ticks;
static void tick(int number) { (void)number; ticks++; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int count, char **arguments)
{
    static int values[4096];
    unsigned sum = 0;
    int rounds = count > 1 ? atoi(arguments[1]) : 100;
    signal(SIGUSR1, tick);
    for (int r = 0; r < rounds; r++) {
        jmp_buf place;
        char text[64];
        for (int i = 0; i < 4096; i++) values[i] = (i * 7919 + r) % 4099;
        qsort(values, 4096, sizeof(int), compare);
        snprintf(text, sizeof(text), "%d %f %s", values[r % 4096], r * 0.5, "text");
        for (size_t i = 0; i < strlen(text); i++) sum = sum * 31 + (unsigned char)text[i];
        if (setjmp(place) == 0) { raise(SIGUSR1); longjmp(place, 1); }
        free(memset(malloc(1000 + r), r, 1000));
    }
    printf("%u %d\n", sum, ticks == rounds);
    return 0;
}
END
    cat >Work.cs <<'END'
using System;
using System.Threading;
class Work {
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
    static void Main() {
        var threads = new Thread[4];
        var sums = new long[4];
        for (int t = 0; t < 4; t++) { int k = t; threads[t] = new Thread(() => {
            object nothing = null;
            for (int r = 0; r < 400; r++) {
                sums[k] += Fib(18 + k);
                try { nothing.GetHashCode(); } catch (NullReferenceException) { sums[k]++; }
                try { sums[k] += r / (r & 1); } catch (DivideByZeroException) { sums[k] += 2; }
                if (r % 20 == 0) { var waste = new byte[100000]; sums[k] += waste.Length; GC.Collect(0); }
            } }); threads[t].Start(); }
        long sum = 0;
        for (int t = 0; t < 4; t++) { threads[t].Join(); sum += sums[t]; }
        Console.WriteLine(sum);
    }
}
END
    cat >work.hs <<'END'
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map as Map
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
main :: IO ()
main = do
    results <- forM [1 .. 8] $ \k -> do
        result <- newEmptyMVar
        _ <- forkIO $ do
            caught <- foldM (\s i -> (evaluate (s + 1 `div` (i `mod` 3)) `catch` \e -> const (return (s + 7)) (e :: ArithException))) 0 [1 .. 20000]
            let table = Map.fromListWith (+) [(i `mod` 97, i * k) | i <- [1 .. 50000]]
            putMVar result $! caught + fib (24 + k `mod` 3) + Map.foldl' (+) 0 table
        return result
    mapM takeMVar results >>= print
END
    cat >work.erl <<'END'
-module(work).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
main() ->
    Self = self(),
    Pids = [spawn(fun() -> Self ! {self(), fib(22 + K rem 4) + catch_one(K)} end) || K <- lists:seq(1, 200)],
    Sum = lists:sum([receive {P, V} -> V end || P <- Pids]),
    Keys = lists:foldl(fun(I, M) -> maps:update_with(I rem 1009, fun(V) -> V + I end, I, M) end, #{}, lists:seq(1, 600000)),
    io:format("~p ~p ~p~n", [Sum, erlang:phash2(Keys), byte_size(zlib:compress(binary:copy(<<"gait">>, 100000)))]),
    halt(0).
catch_one(K) -> try error({x, K}) catch error:{x, V} -> V end.
END
    cat >work.rkt <<'END'
#lang racket/base
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define threads (for/list ([k 4]) (define c (make-channel)) (thread (lambda () (channel-put c (fib (+ 26 k))))) c))
(displayln (map channel-get threads))
(displayln (call/cc (lambda (k) (for ([i 10]) (when (= i 5) (k i))) 'no)))
(define h (make-hash))
(for ([i 800000]) (hash-update! h (modulo i 1013) (lambda (v) (+ v i)) 0))
(displayln (for/sum ([(k v) h]) (* k v)))
(displayln (with-handlers ([exn:fail? (lambda (e) 'caught)]) (vector-ref (vector 1) 9)))
END
    cat >page.html <<'END'
<!doctype html><title>page</title><canvas id=c width=200 height=200></canvas><p id=o></p>
<script>
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
var context = document.getElementById('c').getContext('2d'), sum = 0
for (var i = 0; i < 200; i++) { context.fillStyle = 'rgb(' + i + ',0,9)'; context.fillRect(i, i, 20, 20) }
context.getImageData(0, 0, 200, 200).data.forEach(function (v, i) { sum = (sum + v * (i % 7)) % 1000003 })
for (var r = 0; r < 20; r++) try { sum += fib(20); null.x } catch (e) { sum++ }
for (var t = 0; t < 300; t++) document.body.appendChild(document.createElement('div')).textContent = t
document.getElementById('o').textContent = sum + ' ' + document.body.scrollHeight
</script>
END
    mkdir -p served
    cp big served/file
    cat >nginx.conf <<END
daemon off; worker_processes 2; pid $PWD/nginx.pid; error_log stderr crit; user root;
events { worker_connections 256; }
http { access_log off; client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3; uwsgi_temp_path $PWD/t4;
    scgi_temp_path $PWD/t5; server { listen 127.0.0.1:7394; root $PWD/served; gzip on; gzip_types *;
    location = /packed { gzip off; add_header Content-Encoding gzip; } } }
END
    put_servers
}

# Servers under load, each a script that starts one, asks it, says what it answered, and ends it.
put_servers() {
    cat >wait_port <<'END'
#!/bin/bash
for _ in {1..400}; do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && exit 0; sleep 0.05; done
echo "nobody answers at $1"
END
    cat >serve_redis <<'END'
redis-server --port 7393 --save '' --appendonly no >/dev/null &
./wait_port 7393
redis-benchmark -p 7393 -q -n 8000 -c 20 -t set,get,lpush,zadd,mset >/dev/null || echo benchmark $?
redis-cli -p 7393 eval 'local s = 0 for i = 1, 100000 do s = s + i % 7 end return s' 0
redis-cli -p 7393 set gait walks
redis-cli -p 7393 bgsave >/dev/null
redis-cli -p 7393 get gait
redis-cli -p 7393 shutdown nosave
wait $!
echo $?
END
    cat >serve_nginx <<'END'
nginx -p "$PWD" -c "$PWD/nginx.conf" -e stderr &
./wait_port 7394
for i in 1 2 3 4 5 6; do
    curl -s http://127.0.0.1:7394/file | md5sum
    curl -s --compressed http://127.0.0.1:7394/file | md5sum
done
kill -HUP $!
curl -s -r 10-20 http://127.0.0.1:7394/file | md5sum
kill -QUIT $!
wait $!
echo $?
END
    # Here it is curl that works: what it gets is packed already.
    cat >serve_curl <<'END'
nginx -p "$PWD" -c "$PWD/nginx.conf" -e stderr &
./wait_port 7394
curl -s --compressed "http://127.0.0.1:7394/packed?[1-30]" | md5sum
curl -s -Z --compressed "http://127.0.0.1:7394/packed?[1-8]" -o 'got#1'
cat got? | md5sum
rm -f got?
curl -s -o /dev/null -o /dev/null -w '%{http_code} %{size_download}\n' http://127.0.0.1:7394/file http://127.0.0.1:7394/missing
kill -QUIT $!
wait $!
echo $?
END
    cat >serve_memcached <<'END'
memcached -u root -l 127.0.0.1 -p 7395 -t 4 &
./wait_port 7395
exec 3<>/dev/tcp/127.0.0.1/7395
for ((round = 0; round < 20; round++)); do
    for ((i = 0; i < 200; i++)); do
        printf 'set k%d 0 0 4\r\n%04d\r\nget k%d\r\n' $i $((i + round)) $((i / 2))
    done >requests
    cat requests >&3
    head -n 800 <&3
done | md5sum
exec 3>&-
kill -TERM $!
wait $!
echo $?
END
    # make_cluster folder
    cat >make_cluster <<'END'
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
rm -rf "$1" && mkdir "$1" && chown nobody "$1" && chmod 755 "$PWD" "$PWD/.."
HOME=/ LC_ALL=C setpriv --reuid=nobody --regid=nogroup --clear-groups "$bin/initdb" -D "$1" -N -A trust >/dev/null || echo initdb $?
cat "$1/PG_VERSION"
find "$1" -type f -printf '%P\n' | sort | grep -v pg_wal | md5sum
END
    cat >serve_postgres <<'END'
export PATH="$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH" HOME=/ LC_ALL=C
rm -rf data && cp -a cluster data
setpriv --reuid=nobody --regid=nogroup --clear-groups \
    postgres -D data -p 7396 -k /tmp -c listen_addresses=127.0.0.1 -c fsync=off >/dev/null 2>&1 &
for _ in {1..600}; do pg_isready -q -h 127.0.0.1 -p 7396 && break; sleep 0.05; done
ask="-h 127.0.0.1 -p 7396 -U nobody"
pgbench $ask -i -q postgres >/dev/null 2>&1 || echo pgbench -i $?
pgbench $ask -c 4 -t 300 postgres >/dev/null 2>&1 || echo pgbench $?
psql $ask -q -A -t postgres -c 'select count(*) from pgbench_history; select sum(a % 7) from generate_series(1, 400000) a;'
psql $ask -q -A -t postgres -c 'select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts;'
kill -INT $!
wait $!
echo $?
rm -rf data
END
    cat >serve_tmux <<'END'
ask="tmux -S tmux_socket -f /dev/null"
# Who finds an old one makes a server of its own.
rm -f tmux_socket
$ask -D &
for _ in {1..400}; do [[ -S tmux_socket ]] && break; sleep 0.05; done
$ask new-session -d -x 80 -y 24 'seq 1 1000000; sleep 99'
for _ in {1..2000}; do $ask capture-pane -p | grep -q '^1000000$' && break; sleep 0.05; done
$ask resize-window -x 40 -y 10 \; split-window -d 'seq 1 5; sleep 99'
$ask capture-pane -p -t 0 | tail -n 3
$ask list-panes -F '#{pane_index} #{pane_width}'
$ask kill-server
wait $!
echo $?
END
    cat >serve_mariadb <<'END'
rm -rf maria && mkdir maria && chown nobody maria && chmod 755 "$PWD" "$PWD/.."
mariadb-install-db --no-defaults --user=nobody --datadir="$PWD/maria" --auth-root-authentication-method=normal >/dev/null 2>&1 || echo install $?
mariadbd --no-defaults --user=nobody --datadir="$PWD/maria" --socket="$PWD/maria/socket" --skip-networking --pid-file="$PWD/maria/pid" >/dev/null 2>&1 &
for _ in {1..600}; do mariadb-admin -S maria/socket -u root ping >/dev/null 2>&1 && break; sleep 0.05; done
mariadb -S maria/socket -u root -N test <<'SQL'
create table t(a int primary key, b int) engine=innodb;
insert into t select seq, seq * 7919 % 10007 from seq_1_to_100000;
select count(distinct b), sum(a) from t;
select b % 5, count(*), avg(a) from t group by b % 5 order by 1;
SQL
kill -TERM $!
wait $!
echo $?
rm -rf maria
END
    cat >serve_apache <<'END'
cat >apache.conf <<CONF
ServerRoot $PWD
ServerName localhost
Listen 127.0.0.1:7397
PidFile $PWD/apache.pid
ErrorLog $PWD/apache.log
DocumentRoot $PWD/served
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
SetOutputFilter DEFLATE
CONF
APACHE_RUN_DIR=$PWD apache2 -f "$PWD/apache.conf" -D FOREGROUND &
./wait_port 7397
for i in 1 2 3 4; do
    curl -s http://127.0.0.1:7397/file | md5sum
    curl -s --compressed http://127.0.0.1:7397/file | md5sum
done
kill -USR1 $!
curl -s -r 10-20 http://127.0.0.1:7397/file | md5sum
kill -TERM $!
wait $!
echo $?
END
    cat >serve_haproxy <<'END'
nginx -p "$PWD" -c "$PWD/nginx.conf" -e stderr &
server=$!
cat >haproxy.cfg <<CONF
global
    nbthread 2
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend f
    bind 127.0.0.1:7398
    default_backend b
backend b
    compression algo gzip
    compression type application/octet-stream text/plain
    server s 127.0.0.1:7394
CONF
haproxy -db -f haproxy.cfg 2>/dev/null &
./wait_port 7398
./wait_port 7394
for i in 1 2 3 4 5 6 7 8; do curl -s --compressed http://127.0.0.1:7398/file | md5sum; done
kill -TERM $!
wait $!
echo $?
kill -QUIT $server
wait $server
END
    chmod +x wait_port serve_*
    # Ports of our own, so that several may run side by side, below those that the kernel gives to clients.
    sed -i "s/\b739\([3-8]\)\b/$((2000 + $$ % 1200))\1/g" serve_* nginx.conf
}

names=()
declare -A commands needs
# What makes a file that a program needs.
declare -A makers=(
    [./throw]='g++ -O1 -pthread throw.cc -o throw' [./panic]='rustc -O panic.rs -o panic' [./Work.class]='javac Work.java'
    [./throw.threads]='clang++ -O1 -pthread -fsanitize=thread throw.cc -o throw.threads'
    [./work.memory]='clang -O1 -fsanitize=memory work.c -o work.memory'
    [./throw.addresses]='g++ -O1 -pthread -fsanitize=address,undefined throw.cc -o throw.addresses'
    [./routines]='GOCACHE=$PWD/cache GO111MODULE=off go build -o routines routines.go'
    [./cgo]='GOCACHE=$PWD/cache GO111MODULE=off go build -o cgo cgo.go' [./work_ml]='ocamlopt -w -a work.ml -o work_ml'
    [./work.musl]='musl-gcc -O1 work.c -o work.musl' [./work.musl_static]='musl-gcc -static -O1 work.c -o work.musl_static'
    [./work.static]='gcc -static -O1 work.c -o work.static' [./work.static_pie]='gcc -static-pie -O1 work.c -o work.static_pie'
    [./served/packed]='gzip -1c big >served/packed' [./cluster]='bash make_cluster cluster'
    [./Work.exe]='mcs Work.cs' [./work.haskell]='ghc -O1 -threaded -rtsopts work.hs -o work.haskell' [./work.beam]='erlc work.erl'
    [./work.arm]='aarch64-linux-gnu-gcc -static -O1 work.c -o work.arm'
)
# program name command [what it needs, if that is not called like it]
program() {
    names+=("$1")
    commands[$1]=$2
    needs[$1]=${3-$1}
}

program bash 'bash -c '\''s=0; for ((i = 0; i < 400000; i++)); do ((s += i % 7)); done; for i in 1 2 3 4 5 6 7 8; do (exit $i) || s=$((s + $?)); done; echo $s $(seq 3 | tac | paste -sd,)'\'
program dash 'dash -c '\''i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; for j in 1 2 3 4; do (exit $j) || echo $?; done; echo $i | cat'\'
program sort 'sort -R --random-source=big numbers | sort -n | md5sum'
program grep 'bash -c "cat numbers{,,,}{,,,} | grep -cE \"^1[0-9]*(3|7)\\$|(.)9\\2\"; grep -c 9.*9 numbers"'
program pcre2_jit 'bash -c "cat numbers{,,,}{,,,}{,,,}{,} | grep -cP \"^(?=.*3)1\\d*(3|7)(?<!33)\\$\""' grep
program sed 'sed -E "s/([0-9])([0-9])/\2\1/g; /7$/d" numbers numbers numbers | md5sum'
program gawk 'gawk "{ s[\$1 % 97] += \$1; t = t substr(\$1, 1, 1) } END { for (i = 0; i < 97; i++) printf \"%d \", s[i]; print length(t) }" numbers numbers numbers numbers numbers numbers numbers numbers numbers numbers'
program coreutils 'bash -c "shuf --random-source=big numbers | nl | cut -c 1-9 | tr 1-5 a-e | fold -w 7 | uniq -c | tac | od -c | tail -n 5; factor {1000000000..1000002000} | cksum; seq 1 40000 | split -l 700 - part. && wc -l part.* | tail -n 1; rm -f part.*; b2sum big; base64 big | base64 -d | sha512sum; date -u -d @1000000000; expr 6 \\* 7; printf %x 255"' 'shuf factor b2sum'
program find 'find /usr/include /usr/share /usr/lib -type f -name "*a*" -size +2k -not -newermt 2030-01-01 -printf "%f %s\n" | sort | md5sum'
program xargs 'bash -c "seq 1 40000 | xargs -P 3 -n 100 sh -c \"expr \\\$# + 1\" | sort | md5sum; find . -name few -exec wc -l {} +"'
program tar 'bash -c "tar cf - numbers{,,,}{,,,}{,,,}{,,,}{,,} big{,,,}{,,,}{,,} --mtime=2020-01-01 --owner=0 --group=0 --hard-dereference | tar tvf - | md5sum"'
program gzip 'bash -c "gzip -9c big | gunzip | md5sum"'
program bzip2 'bash -c "bzip2 -c big | bunzip2 | md5sum"'
program xz 'bash -c "xz -T2 -3c big | xz -dc | md5sum"'
program zstd 'bash -c "zstd -q -T2 -19c big | zstd -qdc | md5sum"'
program pigz 'bash -c "pigz -p 4 -c big big big | pigz -dc | md5sum"'
program openssl 'bash -c "openssl sha512 big{,,,}{,,,}; cat big{,,,}{,,,} | openssl enc -aes-256-cbc -pass pass:x -S 0011223344556677 -pbkdf2 | md5sum; openssl genrsa 2048 2>/dev/null | openssl rsa -check -noout 2>&1 | tail -1"'
program perl 'perl -e '\''my %h; for my $i (1 .. 2500000) { $h{$i % 1013} .= chr(65 + $i % 26) } my $t = join "", map { $h{$_} } sort { $a <=> $b } keys %h; my $n = () = $t =~ /A[B-M]+C?/g; local $SIG{ALRM} = sub { $n++ }; alarm 0; if (my $p = fork) { waitpid $p, 0; print $? >> 8, " $n ", length $t, "\n" } else { exit 7 }'\'
program python3 '/usr/bin/python3 work.py' /usr/bin/python3
program ruby 'ruby -e '\''f = Fiber.new { 5000.times { |i| Fiber.yield i }; nil }; s = 0; while v = f.resume; s += v; end; ts = 4.times.map { |k| Thread.new { (1..1500000).reduce { |a, b| (a * b + k) % 1000003 } } }; p s, ts.map(&:value); begin; raise "x"; rescue => e; puts e.message; end; p `echo sub`'\'
program ruby_yjit 'ruby --yjit -e '\''f = Fiber.new { 5000.times { |i| Fiber.yield i }; nil }; s = 0; while v = f.resume; s += v; end; ts = 4.times.map { |k| Thread.new { (1..1500000).reduce { |a, b| (a * b + k) % 1000003 } } }; p s, ts.map(&:value); begin; raise "x"; rescue => e; puts e.message; end; p `echo sub`'\' ruby
program lua5.4 'lua5.4 routines.lua'
program luajit 'luajit -e "local s = 0 for r = 1, 1500 do local co = coroutine.wrap(function() for i = 1, 3000 do coroutine.yield(i) end end) for i = 1, 3000 do s = s + co() % 7 end end for i = 1, 3e7 do s = s + i % 3 end print(s, pcall(error, 1))"'
program node 'node work.js'
program javac 'bash -c "javac Work.java && java -cp . Work"'
program java 'java -Xmx256m -cp . Work 200' 'java ./Work.class'
program java_zgc 'java -XX:+UseZGC -Xmx256m -cp . Work 100' 'java ./Work.class'
program java_xint 'java -Xint -XX:+UseSerialGC -Xmx128m -cp . Work' 'java ./Work.class'
program php 'php -r '\''$a = []; for ($i = 0; $i < 30000000; $i++) { $a[$i % 1009] = ($a[$i % 1009] ?? 0) + $i; } ksort($a); echo md5(json_encode($a)), " ", preg_match_all("/1(2|3)+/", implode(",", range(1, 50000))), "\n"; try { throw new Exception("x"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }'\'
program php_jit 'php -d opcache.enable_cli=1 -d opcache.jit=tracing -d opcache.jit_buffer_size=32M -r '\''$a = []; for ($i = 0; $i < 30000000; $i++) { $a[$i % 1009] = ($a[$i % 1009] ?? 0) + $i; } ksort($a); echo md5(json_encode($a)), " ", preg_match_all("/1(2|3)+/", implode(",", range(1, 50000))), "\n"; try { throw new Exception("x"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }'\' php
program guile 'guile --no-auto-compile -c '\''(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 34)) (newline) (display (call/cc (lambda (k) (map (lambda (x) (if (= x 5) (k x) x)) (iota 10)))))(newline)'\'
program sbcl 'sbcl --noinform --no-userinit --eval '\''(progn (defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (compile (quote f)) (print (f 38)) (print (handler-case (error "x") (error () 42))) (dotimes (i 100) (make-array 1000000)) (gc :full t) (terpri) (sb-ext:exit))'\'
program ocaml 'ocaml interpreted.ml'
program tclsh 'tclsh work.tcl'
program gcc 'bash -c "for o in 0 1 2 3; do gcc -O\$o -g0 big.c -o big.out && ./big.out; done; gcc -O1 many.c -o big.out && ./big.out"'
program g++ 'bash -c "g++ -O1 -pthread throw.cc -o throw && ./throw"'
program cc1 'bash -c "\$(gcc -print-prog-name=cc1) -quiet -O2 many.c -o - | md5sum"' gcc
program ld 'bash -c "for i in 1 2 3 4 5 6; do ld -r --whole-archive \$(gcc -print-file-name=libc.a) -o linked && md5sum <linked; done; rm -f linked"' 'ld gcc'
program clang 'bash -c "clang -O2 many.c -o big.out && ./big.out; clang -O1 -S big.c -o - | md5sum"'
program rustc 'bash -c "rustc -O panic.rs -o panic 2>/dev/null && ./panic"'
program go 'bash -c "export GOCACHE=\$PWD/cache GO111MODULE=off; sed \"\\\$ a // \$\$\" routines.go >fresh.go; go build -o fresh fresh.go && ./fresh"'
program throw './throw' ./throw
program throw_tsan ./throw.threads ./throw.threads
program work_msan './work.memory 600' ./work.memory
program throw_asan ./throw.addresses ./throw.addresses
program panic './panic' ./panic
program routines './routines' ./routines
program git 'bash -c "git -c init.defaultBranch=m init -q r && cd r && cp ../numbers ../big . && git add . && git -c user.name=a -c user.email=a@b commit -qm one --date=2020-01-01T00:00:00Z && git gc -q && git fsck 2>&1 && git log --format=%T && rm -rf ../r"'
program make 'bash -c "make -s -j4 -f several.mk && ls -1 several.*.o | wc -l && rm -f several.*.o"'
program sqlite3 'sqlite3 :memory: "create table t(a, b); insert into t select value, value * 7919 % 10007 from (with recursive c(value) as (select 1 union all select value + 1 from c where value < 400000) select value from c); create index i on t(b); select count(distinct b), sum(a) from t; select b, count(*) from t group by b % 5 order by 1;"'
program convert '/usr/bin/convert-im6.q16 -seed 1 -size 1500x1500 plasma:red-blue -blur 0x3 -resize 200x200 -format "%w %h %#\n" info:' /usr/bin/convert-im6.q16
program sox 'bash -c "sox -n -r 8000 -b 16 t.wav synth 200 sine 300-3000 reverb 2>/dev/null; sox t.wav -n stat 2>&1 | head -3; rm -f t.wav"'
program vim 'bash -c "vim -u NONE -es -c \"%s/1/one/g\" -c \"g/7/d\" -c \"wq! out.txt\" lines; md5sum <out.txt; rm -f out.txt"'
program ssh-keygen 'bash -c "rm -f k k.*; ssh-keygen -q -t ed25519 -N \"\" -f k && ssh-keygen -y -f k | cut -c1-11; ssh-keygen -q -t rsa -b 3072 -N pass -f k.rsa && ssh-keygen -y -P pass -f k.rsa | cut -c1-16; echo \"a \$(cat k.pub)\" >k.allowed; ssh-keygen -q -Y sign -f k -n file few; ssh-keygen -Y verify -f k.allowed -I a -n file -s few.sig <few | cut -c1-31; rm -f k k.* few.sig"'
program valgrind 'valgrind -q --error-exitcode=9 sort -r few -o sorted'
program gdb 'bash -c "gdb -nx -batch -ex \"break write\" -ex run -ex \"bt 1\" -ex \"python print(sum(i * i % 7 for i in range(6000000)))\" -ex kill --args head -2 numbers 2>&1 | sed \"s/process [0-9]*/process/\""'
program strace 'strace -o /dev/null -f sh -c "dd if=/dev/zero of=/dev/null bs=1 count=4000 2>/dev/null; sort -r numbers | head -3"'
program qemu-aarch64 'bash -c "aarch64-linux-gnu-gcc -static -O1 big.c -o big.arm && qemu-aarch64 ./big.arm; aarch64-linux-gnu-gcc -static -O1 many.c -o big.arm && qemu-aarch64 ./big.arm"'
program musl-gcc 'bash -c "musl-gcc -O1 big.c -o big.musl && ./big.musl; musl-gcc -static -O1 big.c -o big.static && ./big.static; musl-gcc -O1 many.c -o big.musl && ./big.musl"'
program ocamlopt 'bash -c "ocamlopt -w -a work.ml -o work_ml && ./work_ml"'
program work_ml ./work_ml ./work_ml
program work_ml_shallow './work_ml shallow' ./work_ml
program musl './work.musl 600' ./work.musl
program musl_static './work.musl_static 600' ./work.musl_static
program static './work.static 8000' ./work.static
program static_pie './work.static_pie 8000' ./work.static_pie
program qemu 'qemu-aarch64 ./work.arm 700' 'qemu-aarch64 ./work.arm'
program chromium 'bash -c "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=\$PWD/profile --virtual-time-budget=10000 --dump-dom file://\$PWD/page.html 2>/dev/null; echo \$?; rm -rf profile"'
program cgo 'bash -c "export GOCACHE=\$PWD/cache GO111MODULE=off; sed \"\\\$ a // \$\$\" cgo.go >fresh.go; go build -o fresh fresh.go && ./fresh"' go
program cgo_built ./cgo ./cgo
program redis 'bash serve_redis' 'redis-server redis-benchmark redis-cli'
program nginx 'bash serve_nginx' 'nginx curl'
program curl 'bash serve_curl' 'nginx curl ./served/packed'
program memcached 'bash serve_memcached'
program initdb 'bash -c "bash make_cluster made; rm -rf made"' 'pg_ctlcluster setpriv'
program postgres 'bash serve_postgres' 'pg_ctlcluster psql setpriv ./cluster'
program tmux 'bash serve_tmux'
program mariadb 'bash serve_mariadb' 'mariadbd mariadb-install-db'
program apache 'bash serve_apache' 'apache2 curl'
program haproxy 'bash serve_haproxy' 'haproxy nginx curl'
program erlang 'erl +S 2:2 -noshell -pa . -s work main' 'erl ./work.beam'
program mono 'mono Work.exe' 'mono ./Work.exe'
program haskell './work.haskell +RTS -N2' ./work.haskell
program ghc 'bash -c "ghc -v0 -O1 -threaded -outputdir ghc.out work.hs -o work.compiled && ./work.compiled && rm -rf ghc.out work.compiled"'
program racket 'racket work.rkt'
program R 'Rscript --vanilla -e "set.seed(1); x <- matrix(rnorm(250000), 500); print(sum(round(solve(x[1:200,1:200]) %*% x[1:200,], 3)) > 0); f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2); print(f(23)); print(tryCatch(stop(7), error = function(e) conditionMessage(e))); s <- 0; for (i in 1:3000000) s <- s + i %% 7; print(s)"' Rscript
program octave 'octave-cli --no-init-file --eval "a = reshape(mod((1:250000) * 7919, 1009), 500, 500); disp(sum(sum(mod(a * a, 97)))); s = 0; for i = 1:300000, s += mod(i, 7); end, disp(s); try, error(\"x\"); catch e, disp(e.message); end"' octave-cli
program swipl 'swipl -q -g "numlist(1, 300000, L), foldl([X, A, B] >> (B is (A * 31 + X) mod 1000003), L, 0, S), writeln(S), catch(throw(x), E, (write(E), nl)), findall(X, (between(1, 200000, X), X mod 7 =:= 3), Xs), length(Xs, N), writeln(N), halt"'
program emacs 'emacs -Q --batch --eval "(progn (defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (princ (f 27)) (terpri) (princ (condition-case nil (error \"x\") (error 42))) (with-temp-buffer (insert-file-contents \"numbers\") (goto-char 1) (while (re-search-forward \"1\\\\([0-9]\\\\)7\" nil t) (replace-match \"\\\\1\")) (princ (md5 (buffer-string))) (terpri)))"'
program ffmpeg 'bash -c "ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=8 -c:v mpeg4 -threads 2 -flags +bitexact -f rawvideo - | ffmpeg -v error -f m4v -i - -f framemd5 - | md5sum"'
program pypy3 'pypy3 -c "
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
print(f(32)); d = {}
for i in range(6000000): d[i % 1013] = d.get(i % 1013, 0) + i
print(hash(tuple(sorted(d.items()))) != 0, sum(d.values()))
try: 1 // 0
except ZeroDivisionError as e: print(e)"'
program gforth 'gforth -e ": f dup 2 < if else dup 1- recurse swap 2 - recurse + then ; 33 f . cr : g 0 50000000 0 do i 7 mod + loop . ; g cr bye"'
program poly 'bash -c "echo \"fun f n = if n < 2 then n else f (n - 1) + f (n - 2); print (Int.toString (f 31)); print (Int.toString (List.foldl op+ 0 (List.tabulate (2000000, fn i => i mod 7)))); (raise Fail \\\"x\\\") handle Fail s => print s;\" | poly -q --error-exit"'
program clisp 'clisp -q -norc -x "(progn (defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (compile (quote f)) (print (f 25)) (print (handler-case (error \"x\") (error () 42))) (dotimes (i 20) (make-array 1000000)) (let ((h (make-hash-table))) (dotimes (i 400000) (incf (gethash (mod i 1013) h 0) i)) (print (gethash 7 h))) (terpri) (values))"'
program chezscheme 'bash -c "echo \"(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 37)) (newline) (display (call/cc (lambda (k) (for-each (lambda (x) (if (= x 5) (k x))) (iota 10)) 0))) (collect)\" | scheme -q"' scheme
program povray 'bash -c "printf \"%s\" \"camera{location <0,2,-4> look_at 0} light_source{<5,9,-7> rgb 1} sphere{0,1 pigment{rgb <1,0,0>} finish{reflection 0.5 phong 1}} plane{y,-1 pigment{checker rgb 1 rgb 0}}\" >scene.pov; povray +Iscene.pov +Oscene.ppm +FP +W500 +H400 +A0.3 +AM1 -J -D +WT2 2>/dev/null; tail -c 600000 scene.ppm | md5sum; rm -f scene.*"'
program tarantool 'tarantool -e "local fiber = require(\"fiber\") local s = 0 local ch = fiber.channel(10) for k = 1, 50 do fiber.create(function() for i = 1, 2000 do s = s + i % 7 if i % 100 == 0 then fiber.yield() end end ch:put(k) end) end for k = 1, 50 do s = s + ch:get() end for i = 1, 3e7 do s = s + i % 3 end print(s, pcall(error, 1)) os.exit(0)"'
program lldb 'bash -c "lldb -x -b -o \"breakpoint set -n write\" -o run -o \"thread backtrace -c 1\" -o kill -- /usr/bin/head -2 numbers 2>&1 | grep -c write"'
program libreoffice 'bash -c "HOME=\$PWD/office; export HOME; mkdir -p office; soffice --headless --convert-to csv:\"Text - txt - csv (StarCalc)\" --outdir office few >/dev/null 2>&1; soffice --headless --convert-to pdf --outdir office few >/dev/null 2>&1; head -c 8 office/few.pdf; echo; rm -rf office"' soffice
program firefox 'bash -c "HOME=\$PWD/fox; export HOME MOZ_HEADLESS=1; rm -rf fox; mkdir fox; timeout 100 firefox-esr --headless --no-remote --profile \$PWD/fox --window-size 300,300 --screenshot \$PWD/fox/shot.png file://\$PWD/page.html >/dev/null 2>&1; head -c 4 fox/shot.png | tail -c 3; echo; rm -rf fox"' firefox-esr
program wine 'bash -c "export WINEPREFIX=\$PWD/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=; wine cmd /c \"for /L %i in (1,1,20) do @echo gait%i\" 2>/dev/null | tr -d \"\\r\"; wineserver -k -w; rm -rf wine"'
for one in cpu signal sigsegv sigfpe sigq sigrt sigtrap sigsuspend sigpending sigabrt fork vfork clone context timer itimer mmap \
    madvise mprotect mremap futex rseq vm exec pthread io-uring userfaultfd seccomp memfd munmap; do
    program "stress-$one" "stress-ng -q --verify --$one 1 --timeout 2" stress-ng
done
for one in signal threading subprocess ctypes faulthandler asyncio multiprocessing_fork; do
    program "python-$one" "env --default-signal=INT,QUIT,HUP,PIPE bash -c '/usr/bin/python3 -m test -j1 test_$one >log 2>&1; status=\$?; grep -E \"^(test_.*failed|FAIL:|ERROR:|Result|Tests result)\" log; rm -f log; exit \$status'" \
        /usr/lib/python3.11/test/test_signal.py
done

# Our own: each looks for one thing that it could notice. make followed-programs builds them. They begin late, so that
# somebody can attach before they are over.
checkers=$here/../../build/tests/programs
for one in "$checkers"/*; do
    [[ -f $one && -x $one ]] && program "checker-${one##*/}" "env GAIT_TEST_LATE_MS=300 $one" "$one"
done
