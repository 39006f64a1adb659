#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recordings by hooks: every call of the hooked functions, in order, nested as they were, of programs that say so
# themselves; with exceptions, long jumps, threads, libraries that come and go, forks and executed programs. And
# programs that nobody here wrote, with all of their functions hooked: the same output, status and files.
# VISITS says how often a process is attached to and left.
# configurations: debug-gcc
# time limit: 300 s
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

g++ -O1 -g -pthread -o "$folder/calls" tests/system/programs/hooked_calls.cc || exit 1

# record program options...: what gait dump events says is in $folder/events, the program's output in $folder/said
record() {
    local program=$1
    shift
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- "$program" >"$folder/said" 2>"$folder/err" || fail "spawn $* $program"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$program with $*: a bad trace" "$folder/verify"
    "$gait" dump events "$folder"/traces/* >"$folder/events" 2>"$folder/err" || fail "dump of $program with $*"
}

# Lines of gait dump events as the programs write them. What a long jump left is not noted by the programs.
read -r -d '' as_program_says <<'AWK'
{
    if ($3 + 0 < last[$2]) { print "time goes back in " $0; exit }
    last[$2] = $3 + 0
    if ($4 == "unwound") unwound++
    if ($4 == "unwound" && $6 == "f_jump") jumped++
    else print $2, $4 == "enter" ? "call" : "ret", $6, $5 + 1
}
END { print unwound + 0, jumped + 0 >"/dev/stderr" }
AWK

# exact program unwound jumped options...
exact() {
    local program=$1 unwound="$2"$'\t'"$3"
    shift 3
    checks=$((checks + 1))
    record "$program" "$@"
    awk -F '\t' -v OFS='\t' "$as_program_says" "$folder/events" 2>"$folder/counts" | sort -s -n -k 1,1 >"$folder/seen"
    # Behind the outermost function of a thread that ends in it comes nobody who would notice.
    grep -v -P '\tret\tf_(exit|cancelled)\t1$' "$folder/said" | sort -s -n -k 1,1 >"$folder/expected"
    [[ $(wc -l <"$folder/expected") -gt 3000 ]] || fail "$program says too little" "$folder/said"
    diff "$folder/expected" "$folder/seen" >"$folder/diff" || fail "calls of $program with $*" "$folder/diff"
    [[ $(cat "$folder/counts") == "$unwound" ]] ||
        fail "$program with $*: unwound, and by long jumps: $(cat "$folder/counts"), expected $unwound"
}

for options in '' '--compress' '--buffer 4K --overflow block'; do
    # shellcheck disable=SC2086
    exact "$folder/calls" 3150 840 --hook 'f_*' $options
done

# Hand-written code that looks for its own address is seen to return, and runs as it is.
cat >"$folder/own_address.c" <<'END'
#include <stdio.h>
#define FUNCTION(name, code) \
    __asm__(".p2align 4\n.type " #name ", @function\n" #name ":\n" code "ret\n.size " #name ", .-" #name "\n"); \
    long name(void);
FUNCTION(a_first, "call 1f\n1: pop %rax\nlea 1b(%rip), %rcx\nsub %rcx, %rax\n")
FUNCTION(a_later, ".cfi_startproc\npush %rbx\ncall 1f\n1: pop %rbx\nlea 1b(%rip), %rax\nsub %rbx, %rax\n"
                  "call a_first\npop %rbx\n.cfi_endproc\n")
FUNCTION(a_caller, "mov (%rsp), %rax\n")
int main(void)
{
    long first = a_first(), later = a_later();
    return printf("%ld %ld %d\n", first, later, a_caller() != 0) != 6;
}
END
gcc -O1 -o "$folder/own_address" "$folder/own_address.c" 2>"$folder/err" || fail "cannot make own_address"
checks=$((checks + 1))
"$gait" find --hookable "$folder/own_address" | awk '/a_/ { print $NF == "" ? "" : $(NF - 1), /entry only/ }' >"$folder/seen"
[[ $(sort "$folder/seen" | tr '\n' ' ') == 'a_caller 1 a_first 0 a_later 0 ' ]] || fail "which look for their caller" "$folder/seen"
record "$folder/own_address" --hook 'a_*'
[[ $(cat "$folder/said") == '0 0 1' ]] || fail "code that looks for its own address says: $(cat "$folder/said")"
[[ $(awk '$6 ~ /a_(first|later)/ { printf "%s %s ", $4, $6 }' "$folder/events") == \
    'enter a_first leave a_first enter a_later enter a_first leave a_first leave a_later ' ]] ||
    fail "code that looks for its own address" "$folder/events"

# ---- libraries that come and go --------------------------------------------------------------------------------------

# program name options... <source: makes a C program, or a library
program() {
    local name=$1
    shift
    cat >"$folder/$name.c"
    gcc -O1 -o "$folder/$name" "$folder/$name.c" "$@" >"$folder/err" 2>&1 || fail "cannot make $name"
}

program plugin.so -shared -fPIC <<'END'
static volatile int calls;
__attribute__((noinline)) void p_work(int n) { calls += n; }
__attribute__((constructor)) static void p_begin(void) { p_work(1); }
__attribute__((destructor)) static void p_end(void) { p_work(2); }
void p_run(void);
void p_run(void) { for (int i = 0; i < 5; i++) p_work(i); }
END
program loader -ldl <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        void (*run)(void);
        if (library == NULL)
            return 1;
        *(void **)&run = dlsym(library, "p_run");
        run();
        dlclose(library);
    }
    return 0;
}
END

# counts_of program... : "function enters" lines of what was recorded into $folder/traces
counts() {
    "$gait" dump events "$folder"/traces/* 2>"$folder/err" | awk -F '\t' '$4 == "enter" { n[$6]++ } END { for (f in n) print f, n[f] }' | sort
}

checks=$((checks + 1))
rm -rf "$folder/traces"
"$gait" spawn --quiet -o "$folder/traces" --hook 'plugin*!p_*' -- "$folder/loader" "$folder/plugin.so" 2>"$folder/err" ||
    fail "a program that loads libraries"
[[ $(counts | tr '\n' ' ') == 'p_begin 3 p_end 3 p_run 3 p_work 21 ' ]] || fail "a library's constructors: $(counts | tr '\n' ' ')"
[[ ! -s $folder/err ]] || fail "a program that loads libraries says something"

# ---- processes and programs ------------------------------------------------------------------------------------------

program family <<'END'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile int sum;
__attribute__((noinline)) void c_child(int n) { sum += n; }
__attribute__((noinline)) int c_wait(void) { int status; wait(&status); return WEXITSTATUS(status); }
int main(int argc, char **argv)
{
    char *again[] = {argv[0], "again", NULL};
    pid_t pid;
    if (argc > 1) {
        c_child(9);
        return 7;
    }
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            for (int j = 0; j <= i; j++)
                c_child(j);
            _exit(i);
        }
        if (c_wait() != i)
            return 1;
    }
    if (posix_spawn(&pid, argv[0], NULL, NULL, again, environ) != 0 || c_wait() != 7)
        return 2;
    if (vfork() == 0)
        execve(argv[0], again, environ);
    if (c_wait() != 7 || execve("/nothing/like/it", again, environ) == 0)
        return 3;
    if (fork() == 0)
        execve(argv[0], again, environ);
    if (c_wait() != 7)
        return 4;
    execve(argv[0], again, environ);
    return 5;
}
END
checks=$((checks + 1))
rm -rf "$folder/traces"
"$gait" spawn --quiet -o "$folder/traces" --hook 'c_*' -- "$folder/family" 2>"$folder/err"
status=$?
[[ $status == 7 ]] || fail "processes: status $status"
[[ $(counts | tr '\n' ' ') == 'c_child 10 c_wait 6 ' ]] || fail "processes: $(counts | tr '\n' ' ')"
[[ $(grep -c '"pid"' "$folder"/traces/*/manifest.json) == 9 ]] || fail "processes: how many"
checks=$((checks + 1))
rm -rf "$folder/traces"
"$gait" spawn --quiet -o "$folder/traces" --no-children --hook 'c_*' -- "$folder/family" 2>"$folder/err"
[[ $(counts | tr '\n' ' ') == 'c_wait 6 ' ]] || fail "without children: $(counts | tr '\n' ' ')"

# ---- programs that nobody here wrote ---------------------------------------------------------------------------------

export HOME="$folder" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'

make_place() {
    rm -rf "$folder/place"
    mkdir -p "$folder/place"
    cd "$folder/place" || exit 1
    seq 1 2000 >numbers
    head -c 100000 "$(command -v bash)" >binary
    printf 'pear 3\napple 1\nfig 2\n' >fruit
    printf '#include <stdio.h>\nint main(void)\n{\n    for (int i = 0; i < 3; i++)\n        printf("%%d\\n", i * i);\n}\n' >small.c
}

# run NAME command...: output, status and what is left, in files called NAME.*
run() {
    local name=$1
    shift
    (
        make_place
        timeout 120 "$@" >"$folder/$name.out" 2>"$folder/$name.err" </dev/null
        echo "status $?" >"$folder/$name.left"
        find . -type f ! -path './.git/*' -exec md5sum {} + | sort -k 2 >>"$folder/$name.left"
    )
}

# same hooks command...: with those hooks, separated by spaces
same() {
    local hooks what options=()
    read -r -a hooks <<<"$1"
    shift
    if ! command -v "$1" >/dev/null; then
        echo "not installed: $1"
        return
    fi
    for what in "${hooks[@]}"; do options+=(--hook "$what"); done
    checks=$((checks + 1))
    run native "$@"
    rm -rf "$folder/traces"
    run gait "$gait" spawn --quiet -o "$folder/traces" "${options[@]}" -- "$@"
    for what in out err left; do
        cmp -s "$folder/native.$what" "$folder/gait.$what" && continue
        diff "$folder/native.$what" "$folder/gait.$what" >"$folder/diff"
        fail "$* with ${hooks[*]}: $what differs" "$folder/diff"
    done
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$* with ${hooks[*]}: a bad trace" "$folder/verify"
}

for hooks in '*' '* lib*!* ld-*!*'; do
    same "$hooks" ls -l /usr/include/linux
    same "$hooks" sort -n -r numbers
    same "$hooks" bash -c 'for i in {1..50}; do a[i]=$((i * i)); done; echo "${a[*]}"; f() { (( $1 < 2 )) && echo 1 || echo $(($(f $(($1 - 1))) + 1)); }; f 5'
    same "$hooks" bash -c 'seq 1 500 | grep 7 | sort -r | while read -r x; do echo "<$x>"; done | tail -n 5; false || exit 9'
    same "$hooks" bash -c 'trap "echo got it" USR1; kill -USR1 $$; wait; (exit 4); echo $?; sleep 0.01 & wait $!; echo end'
    same "$hooks" gzip -n -k numbers
    same "$hooks" xz -k numbers
    same "$hooks" zstd -q -k numbers
    same "$hooks" /usr/bin/python3 -c 'import json, re, hashlib; print(json.dumps({str(i): hashlib.md5(str(i).encode()).hexdigest() for i in range(50)})); print(re.sub("a+", "b", "caaandaat"))'
    same "$hooks" /usr/bin/python3 -c 'import threading
total = []
def work(n): total.append(sum(i * i for i in range(n)))
threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(total))'
    same "$hooks" /usr/bin/python3 -c 'import subprocess, os; print(subprocess.run(["sort", "-r", "fruit"], capture_output=True).stdout); os.abort()'
    same "$hooks" perl -e 'my %h; $h{$_ % 17} += $_ for 1 .. 5000; print "$_ $h{$_}\n" for sort { $a <=> $b } keys %h; eval { die "x\n" }; print $@'
    same "$hooks" sqlite3 :memory: 'create table t(a, b); insert into t select value, value * value from (with recursive c(value) as (select 1 union all select value + 1 from c where value < 3000) select value from c); select sum(a), sum(b), count(distinct b % 7) from t; create index i on t(b); select a from t where b = 14641;'
    same "$hooks" bash -c 'git -c init.defaultBranch=main init -q . && git add fruit small.c && git -c user.name=a -c user.email=a@b commit -q -m first && git log --stat && git fsck'
    same "$hooks" lua5.4 -e 't = {} for i = 1, 300 do t[i] = (i * 7919) % 1009 end table.sort(t) print(table.concat(t, " ")); print(pcall(error, "x"))'
    same "$hooks" awk '{ s[$2] = $1 } END { for (i = 1; i <= 3; i++) print i, s[i] }' fruit
done
same '*' gcc -O2 -c small.c -o small.o
same '*' bash -c 'gcc -O1 -g small.c -o small && ./small; rm -f small'
same '*' g++ -x c++ -O1 -c small.c -o small.o

# ---- servers, and processes that are visited -------------------------------------------------------------------------

wait_for_port() {
    for _ in {1..200}; do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
        sleep 0.05
    done
    return 1
}

# Ends a recorded server by a signal to it, as an operator would; the status that gait gives, and the trace.
end_server() {
    local status
    wait "$1"
    status=$?
    [[ $status == 0 ]] || fail "a server: status $status" "$folder/server.err"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "a server: a bad trace" "$folder/verify"
}

redis() {
    local recorder port=7393
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --hook "$1" -- redis-server --port $port --save '' --dir "$folder" \
        >"$folder/server.out" 2>"$folder/server.err" &
    recorder=$!
    started+=("$recorder")
    wait_for_port $port || fail "redis with hooks does not answer" "$folder/server.err"
    timeout 60 redis-benchmark -p $port -q -n 4000 -c 20 -t set,get,lpush,zadd,mset >"$folder/load" 2>&1 || fail "redis-benchmark" "$folder/load"
    redis-cli -p $port set gait walks >/dev/null
    [[ $(redis-cli -p $port get gait) == walks ]] || fail "redis with hooks forgets"
    redis-cli -p $port bgsave >/dev/null
    sleep 0.3
    redis-cli -p $port shutdown nosave >/dev/null
    end_server $recorder
}

nginx_served() {
    local recorder port=7394
    checks=$((checks + 1))
    rm -rf "$folder/traces" "$folder/nginx"
    mkdir -p "$folder/nginx/logs"
    head -c 20000 "$(command -v bash)" >"$folder/nginx/file"
    cat >"$folder/nginx/nginx.conf" <<CONF
daemon off; worker_processes 2; pid $folder/nginx/pid; error_log $folder/nginx/error.log; user root;
events { worker_connections 256; }
http { access_log off; server { listen 127.0.0.1:$port; root $folder/nginx; gzip on; gzip_types *; } }
CONF
    "$gait" spawn --quiet -o "$folder/traces" --hook "$1" -- nginx -p "$folder/nginx" -c "$folder/nginx/nginx.conf" \
        >"$folder/server.out" 2>"$folder/server.err" &
    recorder=$!
    started+=("$recorder")
    wait_for_port $port || fail "nginx with hooks does not answer" "$folder/server.err"
    wrk -t 2 -c 16 -d 1s "http://127.0.0.1:$port/file" >"$folder/load" 2>&1 || fail "wrk" "$folder/load"
    grep -q 'Socket errors\|Non-2xx' "$folder/load" && fail "nginx with hooks: errors" "$folder/load"
    curl -s "http://127.0.0.1:$port/file" | cmp -s - "$folder/nginx/file" || fail "nginx with hooks: another file"
    kill -QUIT "$(cat "$folder/nginx/pid")"
    end_server $recorder
}

if command -v redis-server >/dev/null; then redis '*'; else echo 'not installed: redis-server'; fi
if command -v nginx >/dev/null && command -v wrk >/dev/null && command -v curl >/dev/null; then
    nginx_served '*'
else
    echo 'not installed: nginx, wrk, curl'
fi

# A process with threads that come and go, catch exceptions and sleep in hooked functions.
cat >"$folder/lively.cc" <<'END'
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>
std::atomic<bool> is_over;
std::atomic<long> sum;
extern "C" __attribute__((noinline)) void v_throw(int n) { if (n == 0) throw std::runtime_error("x"); v_throw(n - 1); sum++; }
extern "C" __attribute__((noinline)) void v_sleep(int n) { if (n == 0) usleep(20000); else v_sleep(n - 1); sum++; }
extern "C" __attribute__((noinline)) void *v_short(void *) { sum++; return nullptr; }
extern "C" __attribute__((noinline)) void *v_busy(void *)
{
    while (!is_over)
        try { v_throw(5); } catch (const std::exception &) { sum++; }
    return nullptr;
}
extern "C" __attribute__((noinline)) void *v_sleepy(void *)
{
    while (!is_over)
        v_sleep(10);
    return nullptr;
}
extern "C" __attribute__((noinline)) void *v_maker(void *)
{
    pthread_t thread;
    while (!is_over)
        if (pthread_create(&thread, nullptr, v_short, nullptr) == 0)
            pthread_join(thread, nullptr);
    return nullptr;
}
int main()
{
    pthread_t threads[6];
    void *(*const functions[])(void *) = {v_busy, v_sleepy, v_maker};
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], nullptr, functions[i % 3], nullptr);
    (void)!getchar();
    is_over = true;
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return sum > 0 ? 42 : 1;
}
END
g++ -O1 -pthread -o "$folder/lively" "$folder/lively.cc" || fail "cannot make lively"

mappings() { awk '{print $1, $2, $3, $6}' "/proc/$1/maps" | grep -v ' $\|\[heap\]\|\[stack' ; }
descriptors() { find "/proc/$1/fd" -type l | sort; }

visit() {
    local visits=$1 process i
    checks=$((checks + 1))
    mkfifo "$folder/word"
    "$folder/lively" <"$folder/word" &
    process=$!
    started+=("$process")
    exec 4>"$folder/word"
    sleep 0.2
    mappings $process >"$folder/mappings"
    descriptors $process >"$folder/descriptors"
    for ((i = 0; i < visits; i++)); do
        rm -rf "$folder/traces"
        "$gait" attach -o "$folder/traces" --hook '*' $process >"$folder/err" 2>&1 &
        recorder=$!
        sleep 0.0$((i % 9 + 1))
        for _ in {1..100}; do grep -q hooked "$folder/err" && break; sleep 0.02; done
        kill -INT $recorder
        wait $recorder || fail "visit $i failed"
        kill -0 $process 2>/dev/null || { fail "visit $i killed the process"; break; }
        mappings $process | diff - "$folder/mappings" >"$folder/diff" || { fail "visit $i left mappings" "$folder/diff"; break; }
        descriptors $process | cmp -s - "$folder/descriptors" || { fail "visit $i left descriptors"; break; }
        "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "visit $i: a bad trace" "$folder/verify"
    done
    echo >&4
    exec 4>&-
    wait $process
    status=$?
    [[ $status == 42 ]] || fail "a visited process: status $status"
    rm -f "$folder/word"
}

visit "${VISITS:-10}"

# Pages behind a stack that nobody can read before a thread of the process goes on, which stands still meanwhile.
gcc -O1 -pthread -o "$folder/late_pages" tests/system/programs/late_pages.c || exit 1
late_pages() {
    local process
    checks=$((checks + 1))
    mkfifo "$folder/word"
    "$folder/late_pages" <"$folder/word" >"$folder/said" &
    process=$!
    started+=("$process")
    exec 4>"$folder/word"
    until_true "it waits" grep -q -E 'waiting|none here' "$folder/said"
    if grep -q waiting "$folder/said"; then
        timeout -k 5 40 "$gait" attach --quiet --duration 1 -o "$folder/late" --hook '*' $process >"$folder/err" 2>&1 ||
            fail "attaching while a page is missing"
        echo >&4
        until_true "the page is there" grep -q 'read 42' "$folder/said"
    fi
    exec 4>&-
    wait $process
    rm -f "$folder/word"
}

late_pages

# Gait is killed, again and again: the process goes on.
killed() {
    local kills=$1 process i
    checks=$((checks + 1))
    mkfifo "$folder/word"
    "$folder/lively" <"$folder/word" &
    process=$!
    started+=("$process")
    exec 4>"$folder/word"
    sleep 0.1
    for ((i = 0; i < kills; i++)); do
        rm -rf "$folder/traces"
        "$gait" attach --quiet -o "$folder/traces" --hook '*' $process >"$folder/err" 2>&1 &
        recorder=$!
        sleep 0.$((RANDOM % 3))$((RANDOM % 10))
        kill -KILL $recorder
        wait $recorder 2>/dev/null
        sleep 0.05
        kill -0 $process 2>/dev/null || { fail "killing gait killed the process"; break; }
    done
    echo >&4
    exec 4>&-
    wait $process
    status=$?
    [[ $status == 42 ]] || fail "a process whose recorders were killed: status $status"
    rm -f "$folder/word"
}

killed "${KILLS:-3}"

finish
