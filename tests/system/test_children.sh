#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Processes that come and go under gait spawn and gait attach: forks, programs that are executed, daemons; and either
# side killed at any moment. KILLS and VISITS say how often; for a long test: KILLS=200 VISITS=100.
# configurations: debug-gcc
# time limit: 300 s
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# The processes of a trace, and those programs that were executed by one that was there before.
count_processes() { grep -c '"pid"' "$1/manifest.json"; }
count_replaced() { grep -c '"image": \([2-9]\|[0-9][0-9]\)' "$1/manifest.json"; }

# records processes replaced options... -- program...: output and status are what they are without gait, the trace is
# good and has so many processes ("-": any number), so many of them by way of exec
records() {
    local processes=$1 replaced=$2 options=() status natively trace
    shift 2
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    shift
    checks=$((checks + 1))
    "$@" >"$folder/native" 2>"$folder/native_err" </dev/null
    natively=$?
    rm -rf "$folder/traces"
    timeout 60 "$gait" spawn --quiet -o "$folder/traces" "${options[@]}" -- "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$natively" ]] || fail "$*: status $status, natively $natively"
    cmp -s "$folder/native" "$folder/out" || fail "$*: another output"
    cmp -s "$folder/native_err" "$folder/err" || fail "$*: another output on standard error"
    trace=$(find "$folder/traces" -mindepth 1 -maxdepth 1)
    "$gait" verify "$trace" >"$folder/err" 2>&1 || fail "$*: a bad trace"
    "$gait" report "$trace" >"$folder/report" 2>"$folder/err" || fail "$*: no report"
    [[ $processes == - || $(count_processes "$trace") == "$processes" ]] ||
        fail "$*: $(count_processes "$trace") processes, expected $processes"
    [[ $replaced == - || $(count_replaced "$trace") == "$replaced" ]] ||
        fail "$*: $(count_replaced "$trace") of them executed, expected $replaced"
}

# Writes a C program and makes it: program name options... <source; 1: it cannot be made here.
program() {
    local name=$1
    shift
    cat >"$folder/$name.c"
    "${CC:-cc}" -O1 -o "$folder/$name" "$folder/$name.c" "$@" >"$folder/err" 2>&1
}

# ---- forks and programs ---------------------------------------------------------------------------------------------
records 3 0 -- sh -c '(echo a); (echo b; exit 2); echo c'
records 3 2 -- sh -c 'exec sh -c "exec echo end"'
records 1 0 --no-children -- sh -c '(echo a); true; exec sh -c "echo b | cat; exit 4"'
for events in none block; do
    records 3 0 --follow "$events" -- sh -c '(echo a); (echo b); echo c'
    records - - --follow "$events" -- bash -c 'ls / | sort -r | head -n 3; echo $(echo x | tr x y)'
done
cat >"$folder/tree.sh" <<'END'
#!/usr/bin/env bash
say() { echo "$1 $(echo "$1" | tr 1234 abcd)"; }
for i in 1 2 3; do (say $i; for j in 1 2; do (say $i$j) & done; wait); done | sort
seq 1 200 | awk '{sum += $1} END {print sum}'
exec sh -c 'echo end; exit 5'
END
chmod +x "$folder/tree.sh"
records - - -- "$folder/tree.sh"
records - - --overflow drop -- "$folder/tree.sh"
records - - -- bash -c 'for i in $(seq 1 30); do (exit $((i % 3))) || echo -n $?; done; echo'
# A program that is not there, as a shell looks for one, and one that is no program.
records - - -- bash -c 'nothing-like-it; echo $?; /nothing/at/all; echo $?; /etc/passwd; echo $?'
printf 'echo no first line\n' >"$folder/plain" && chmod +x "$folder/plain"
records - - -- bash -c "$folder/plain; exec $folder/plain"

# Posix_spawn and vfork: children in their parent's memory; errors come back through it.
program spawner <<'END' || fail "cannot make spawner"
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile int shared = 1;
int main(void)
{
    char *arguments[] = {"sh", "-c", "exit 6", NULL};
    int status = -1;
    pid_t pid;
    printf("%d\n", posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ));
    printf("%d ", waitpid(pid, &status, 0) == pid);
    printf("%d\n", status);
    printf("%s\n", strerror(posix_spawn(&pid, "/nothing/here", NULL, NULL, arguments, environ)));
    for (int i = 0; i < 20; i++) {
        pid = vfork();
        if (pid == 0) {
            shared++;
            if (i % 2 == 0)
                _exit(i);
            execl("/nothing", "/nothing", NULL);
            execl("/bin/sh", "sh", "-c", "exit 7", NULL);
        }
        waitpid(pid, &status, 0);
        printf("%d %d\n", WEXITSTATUS(status), shared);
    }
    return 0;
}
END
records 12 0 -- "$folder/spawner"

# The mask, ignored signals and descriptors that a program inherits; executed by a thread that is not the first one.
program threads -lpthread <<'END' || fail "cannot make threads"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *wait_for_ever(void *unused) { pause(); return unused; }
static void *execute(void *unused)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGWINCH);
    pthread_sigmask(SIG_SETMASK, &set, 0);
    signal(SIGUSR1, SIG_IGN);
    prctl(PR_SET_KEEPCAPS, 0);
    execl("/bin/grep", "grep", "-rE", "Sig(Blk|Ign)|Threads|^flags", "/proc/self/status", "/proc/self/fdinfo", (char *)0);
    return unused;
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 5; i++)
        pthread_create(&thread, 0, wait_for_ever, 0);
    pthread_create(&thread, 0, execute, 0);
    pthread_join(thread, 0);
    return 1;
}
END
for _ in 1 2 3; do records 2 1 -- "$folder/threads"; done

# Forks of a process whose other threads are busy, in the engine too.
program forker -lpthread <<'END' || fail "cannot make forker"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int is_over;
static void *work(void *unused)
{
    while (!is_over)
        free(malloc(100));
    return unused;
}
int main(void)
{
    pthread_t threads[3];
    int sum = 0, status;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            pid_t grandchild = fork();
            if (grandchild == 0)
                _exit(i);
            waitpid(grandchild, &status, 0);
            _exit(WEXITSTATUS(status));
        }
        waitpid(child, &status, 0);
        sum += status;
    }
    is_over = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", sum);
    return 0;
}
END
records 61 0 --overflow drop --follow none -- "$folder/forker"
records 61 0 --overflow drop -- "$folder/forker"

printf '#include <stdio.h>\nint main(void) { puts("alone"); return 8; }\n' >"$folder/alone.c"
for compiler in "${CC:-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    "$compiler" -static -o "$folder/alone" "$folder/alone.c" 2>/dev/null || continue
    records - - -- sh -c "$folder/alone; echo \$?; exec $folder/alone"
done

if command -v python3 >/dev/null; then
    cat >"$folder/processes.py" <<'END'
import multiprocessing, os, subprocess
def square(x):
    return x * x
if __name__ == "__main__":
    print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture_output=True))
    print(subprocess.run("echo hello | tr a-z A-Z | cat", shell=True, capture_output=True).stdout)
    try:
        subprocess.run(["/nothing/here"])
    except FileNotFoundError as error:
        print(error)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(square, range(10)))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(abs, range(-3, 3)))
    print(os.waitstatus_to_exitcode(os.system("kill -9 $$")))
END
    records - - -- python3 "$folder/processes.py"
fi

# ---- a build --------------------------------------------------------------------------------------------------------
if command -v make >/dev/null && command -v gcc >/dev/null; then
    mkdir "$folder/project"
    for i in 1 2 3; do echo "int f$i(int x) { return x + $i; }" >"$folder/project/f$i.c"; done
    cat >"$folder/project/main.c" <<'END'
#include <stdio.h>
int f1(int), f2(int), f3(int);
int main(void) { printf("%d\n", f1(f2(f3(1)))); return 0; }
END
    printf 'all: main.o f1.o f2.o f3.o\n\t@gcc -o all $^ && ./all\n%%.o: %%.c\n\t@gcc -O1 -c -o $@ $<\nclean:\n\t@rm -f *.o all\n' \
        >"$folder/project/Makefile"
    records - - -- sh -c "cd $folder/project && make -s clean && make -s -j3"
    [[ $(count_processes "$(find "$folder/traces" -mindepth 1 -maxdepth 1)") -ge 20 ]] || fail "make: too few processes"
    cp "$folder/project/all" "$folder/all.recorded"
    make -s -C "$folder/project" clean all >/dev/null
    cmp -s "$folder/project/all" "$folder/all.recorded" || fail "make: what was built is not the same"
fi

# ---- those that outlive the first one: gait waits for them, and ends with the status of the first --------------------
checks=$((checks + 1))
timeout 60 "$gait" spawn --quiet -o "$folder/traces" -- \
    bash -c "(setsid sh -c 'sleep 0.7; echo late >$folder/late' >/dev/null 2>&1 &) ; exit 3" 2>"$folder/err"
[[ $? == 3 && $(cat "$folder/late" 2>/dev/null) == late ]] || fail "a daemon is not waited for"
checks=$((checks + 1))
timeout 60 "$gait" spawn --quiet -o "$folder/traces" --duration 1 -- \
    bash -c "(setsid sh -c 'sleep 2; echo later >$folder/later' >/dev/null 2>&1 &) ; exit 3" 2>"$folder/err"
[[ $? == 3 && ! -e $folder/later ]] || fail "the time does not end a recording with a daemon"
for _ in $(seq 1 100); do
    [[ -e $folder/later ]] && break
    sleep 0.1
done
[[ -e $folder/later ]] || fail "a daemon did not survive the end of its recording"

# ---- privileges -----------------------------------------------------------------------------------------------------
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    checks=$((checks + 1))
    chmod 755 "$folder"
    cp /usr/bin/id "$folder/id" && chmod 4755 "$folder/id"
    "$gait" spawn -o "$folder/traces" -- setpriv --reuid 65534 --regid 65534 --clear-groups \
        sh -c "$folder/id -u; exec $folder/id -u" >"$folder/out" 2>"$folder/err"
    [[ $(tr -d '\n' <"$folder/out") == 00 ]] || fail "a setuid program has other privileges: $(cat "$folder/out")"
    grep -q 'is not recorded' "$folder/err" || fail "nobody says that a setuid program is not recorded"
    # The same where whoever records has none: then the kernel would take them away.
    if mkdir -m 777 "$folder/theirs" && cp "$gait" "$folder/gait"; then
        setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/gait" spawn -o "$folder/theirs" -- \
            sh -c "$folder/id -u; /bin/true; exec $folder/id -u" >"$folder/out" 2>"$folder/err"
        [[ $(tr -d '\n' <"$folder/out") == 00 ]] || fail "recorded by a user, a setuid program has other privileges"
        rm -rf "$folder"/theirs/*
        setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/gait" spawn --quiet -o "$folder/theirs" -- \
            "$folder/spawner" >"$folder/out" 2>"$folder/err"
        [[ $(count_processes "$(find "$folder/theirs" -mindepth 1 -maxdepth 1)") == 12 ]] ||
            fail "recorded by a user, not all processes that are spawned are there"
    fi
fi

# ---- either side is killed ------------------------------------------------------------------------------------------
# Whether processes of a session are left that are not just waiting to be reaped.
is_alive() { [[ -n $(pgrep -s "$1" -r R,S,D,T,t) ]]; }

# kill_one which: gait, or the first process, at a random moment. What is left comes to its end as without gait.
kill_one() {
    local recorder victim trace
    rm -rf "$folder/traces"
    setsid "$gait" spawn --quiet -o "$folder/traces" -- "$folder/tree.sh" >"$folder/out" 2>"$folder/err" </dev/null &
    recorder=$!
    sleep "0.$(printf %03d $((RANDOM % 500)))"
    victim=$recorder
    [[ $1 == gait ]] || victim=$(pgrep -P "$recorder" | head -n 1)
    [[ -z $victim ]] || kill -KILL "$victim" 2>/dev/null
    wait "$recorder" 2>/dev/null
    for _ in $(seq 1 200); do
        is_alive "$recorder" || break
        sleep 0.05
    done
    ! is_alive "$recorder" || fail "after $1 was killed, processes are left"
    [[ ! -s $folder/err ]] || grep -q 'before its first instruction' "$folder/err" ||
        fail "after $1 was killed, somebody complains"
    [[ $1 != gait || ! -s $folder/out ]] || cmp -s "$folder/tree.native" "$folder/out" ||
        fail "after gait was killed, there is another output"
    for trace in "$folder"/traces/*/; do
        [[ -e $trace/manifest.json ]] || continue
        "$gait" verify --repair "$trace" >"$folder/err" 2>&1
        "$gait" verify "$trace" >"$folder/err" 2>&1 || fail "after $1 was killed, a trace cannot be repaired"
    done
}

"$folder/tree.sh" >"$folder/tree.native"
for _ in $(seq 1 "${KILLS:-8}"); do
    checks=$((checks + 2))
    kill_one gait
    kill_one program
done 2>/dev/null

# ---- coming and going -----------------------------------------------------------------------------------------------
program busy -lpthread <<'END' || fail "cannot make busy"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void *work(void *which)
{
    for (;;) {
        for (volatile int i = 0; i < 10000; i++)
            free(malloc(64));
        if (which != NULL)
            usleep(1000);
    }
    return NULL;
}
int main(void)
{
    pthread_t thread;
    for (long i = 0; i < 5; i++)
        pthread_create(&thread, NULL, work, (void *)i);
    pause();
    return 0;
}
END
# What of a process must be as before: mappings but for heaps and stacks that grow, descriptors, threads, signals.
state_of() {
    sed 's/ .*//' "/proc/$1/maps" | sort >"$folder/maps"
    wc -l <"$folder/maps"
    find "/proc/$1/fd" -mindepth 1 -printf '%f %l\n' | sort
    find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l
    grep -E 'Sig|Shd' "/proc/$1/status" | grep -v SigQ
}
"$folder/busy" &
busy=$!
sleep 0.5
state_of "$busy" >"$folder/before"
for _ in $(seq 1 "${VISITS:-10}"); do
    checks=$((checks + 1))
    "$gait" attach --follow none -o "$folder/visits" "$busy" 2>"$folder/err" &
    visitor=$!
    for _ in $(seq 1 500); do
        grep -q 'stood still' "$folder/err" && break
        sleep 0.02
    done
    sleep "0.$(printf %03d $((RANDOM % 100)))"
    kill -TERM "$visitor"
    wait "$visitor" || fail "cannot attach, or leave"
done
state_of "$busy" >"$folder/after"
diff "$folder/before" "$folder/after" >"$folder/err" || fail "a visited process is not as before"
kill -0 "$busy" || fail "a visited process is gone"
kill -KILL "$busy"
wait "$busy" 2>/dev/null

# ---- a container ----------------------------------------------------------------------------------------------------
# Where processes have other numbers, and another /proc.
if unshare -pmf --mount-proc true 2>/dev/null; then
    checks=$((checks + 1))
    unshare -pmf --mount-proc bash -c 'for i in 1 2 3 4 5 6 7 8 9; do (:); ls / >/dev/null; sleep 0.2; done; exit 9' &
    container=$!
    sleep 0.5
    inside=$(pgrep -P "$container")
    "$gait" attach --quiet -o "$folder/container" "$inside" 2>"$folder/err" || fail "cannot attach to a container"
    wait "$container"
    [[ $? == 9 ]] || fail "a process in a container has another status"
    trace=$(find "$folder/container" -mindepth 1 -maxdepth 1)
    "$gait" verify "$trace" >"$folder/err" 2>&1 || fail "a bad trace of a container"
    [[ $(count_processes "$trace") -ge 10 ]] || fail "the children of a container are not recorded"
    grep -q '"name": "bash"' "$trace/manifest.json" || fail "threads of a container have no names"
fi

finish
