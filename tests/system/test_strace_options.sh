#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Command lines that people type for strace, typed for gait syscalls: the same exit status, the same output of the
# program, and the same text in the same place, but for numbers of processes, addresses and times.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v strace >/dev/null || {
    echo "SKIP: strace is not installed"
    exit 77
}
[[ $gait == /* ]] || gait=$PWD/$gait
export TZ=UTC LC_ALL=C

# What cannot be the same in two runs; and what strace says of processes that it finds.
same() {
    sed -E -e '/^strace: Process [0-9]+ (attached|detached)$/d' -e 's/strace: Process [0-9]+ (attached|detached)$//' \
        -e '/^ <detached \.\.\.>$/d' -e 's/ <detached \.\.\.>$//' \
        -e '/^--- SIGCHLD|^\[pid .*--- SIGCHLD|^[0-9]+ .*--- SIGCHLD/d' \
        -e 's/\[[0-9a-f]{16}\]/[PLACE]/; s/0x[0-9a-f]{5,}/ADDRESS/g; s/^\[pid +[0-9]+/[pid N/; s/^[0-9]+ +([^0-9 ])/N \1/' \
        -e 's/^[0-9]+ +([0-9]{2}:|[0-9]{10}|[0-9]+\.)/N \1/; s/(= |pid=|kill\()[0-9]{3,}/\1N/g' \
        -e 's/[0-9]{2}:[0-9]{2}:[0-9]{2}/TIME/; s/\b[0-9]{10}\b/TIME/; s/\.[0-9]{9}/.NINE/g; s/\.[0-9]{6}/.SIX/g' \
        -e 's/\.[0-9]{3}\b/.THREE/g; s/ADDRESS +=/ADDRESS =/; s/ +=/ =/; s/, ADDRESS \/\* [0-9]+ vars/, VARS/; s/getrandom\("[^"]*"/getrandom("BYTES"/' "$1"
}

# How gait sees calls, where that is not its own choice.
way=()

# One command line for both, in a folder with the same name. Whatever files it makes are compared, too.
run_both() {
    local who
    for who in strace gait; do
        rm -rf "${folder:?}/$who"
        mkdir -p "$folder/here"
        (
            cd "$folder/here" || exit 1
            if [[ $who == strace ]]; then
                timeout 60 strace "$@" >stdout 2>stderr </dev/null
            else
                timeout 60 "$gait" syscalls "${way[@]}" "$@" >stdout 2>stderr </dev/null
            fi
            echo $? >status
        ) 2>/dev/null
        mv "$folder/here" "$folder/$who"
    done
}

# Files that are named by processes are told apart by their order.
files() {
    local file
    for file in "$folder/$1"/*; do
        [[ $file == */status || $file == */stderr ]] || same "$file" | sed "s|^|$(basename "$file" | sed -E 's/\.[0-9]+$/.N/'): |"
    done
    same "$folder/$1/stderr"
}

# takes options... -- program...: as strace takes it
takes() {
    checks=$((checks + 1))
    run_both "$@"
    cmp -s "$folder/strace/status" "$folder/gait/status" ||
        fail "$*: ends with $(cat "$folder/gait/status"), under strace with $(cat "$folder/strace/status")" "$folder/gait/stderr"
    files strace >"$folder/theirs"
    files gait >"$folder/ours"
    diff "$folder/theirs" "$folder/ours" >"$folder/difference" || fail "$*: writes something else" "$folder/difference"
}

# shellcheck disable=SC2016
{
    takes true
    takes -o x true
    takes --output-separately -o x true
    takes -o '|cat >piped' true
    takes -o '!cat >piped' -e trace=openat true
    takes -A -o x -e trace=close true
    takes --output=x --trace=close true
    takes --output x --trace close true
    takes -n -e trace=openat,close true
    takes -i -e trace=openat true
    takes -in -e trace=openat true
    takes -a 60 -e trace=openat true
    takes --columns=0 -e trace=close true
    takes -z -e trace=%file cat /etc/hostname
    takes -Z -e trace=%file true
    takes --failed-only -e trace=access true
    takes --successful-only -e trace=access,close true
    takes -e status=unfinished -e trace=exit_group true
    takes -e status='!failed' -e trace=access,close true
    takes -x -e trace=write printf 'a\303\244\n'
    takes -xx -e trace=write echo text
    takes --strings-in-hex=non-ascii-chars -e trace=write printf '\303\244\n'
    takes -s 5 -e trace=write echo a long text
    takes -s0 -e trace=write echo a long text
    takes -v -e trace=execve env -i /bin/true
    takes -P /etc/hostname cat /etc/hostname
    takes -P /etc/hostname -e trace=close cat /etc/hostname /etc/passwd
    takes --trace-path=/no/such/file cat /etc/hostname
    takes -e write=1 -e trace=write echo hello world and all that is in it
    takes -e read=3 -e trace=read cat /etc/hostname
    takes -e trace=none -e signal=usr1 dash -c 'trap : USR1; kill -USR1 $$'
    takes -e trace=none -e signal='!SIGUSR1' dash -c 'trap : USR1; kill -USR1 $$; kill -TERM $$'
    takes -e trace=none -e signal=none dash -c 'kill -TERM $$'
    takes -e abbrev=none -e trace=uname uname
    takes -e verbose=none -e trace=newfstatat true
    takes -e raw=close -e trace=close true
    takes -e quiet=exit -e trace=close true
    takes -q -e trace=close true
    takes -qq -e trace=close true
    takes -qqq -f -e trace=close true
    takes -X raw -e trace=openat true
    takes -X verbose -e trace=openat true
    takes -E NEW=1 -E HOME -e trace=close dash -c 'echo $NEW-$HOME'
    takes -t -e trace=close true
    takes -tt -e trace=close true
    takes -ttTf -o x -e trace=close true
    takes -ttt -e trace=close true
    takes -r -e trace=close true
    takes -r -ttt -e trace=close true
    takes --absolute-timestamps=format:unix,precision:ns -e trace=close true
    takes --timestamps=ms -e trace=close true
    takes --relative-timestamps=ns -e trace=close true
    takes -T -e trace=close true
    takes --syscall-times=ns -e trace=close true
    takes -b execve -f -e trace=close,execve dash -c '/bin/true; exit 2'
    takes -D -e trace=close true
    takes -DDD -o x -e trace=none true
    takes -I 1 -e trace=close true
    takes --seccomp-bpf -f -e trace=close true
    takes --follow -o x -e trace=close true
    takes -y -e trace=read,openat,close cat /etc/hostname
    takes -yy -e trace=read,openat,close cat /dev/null
    takes --decode-fds=dev -e trace=read,close cat /dev/null
    takes -Y -e trace=close true
    takes -o x -e inject=close:error=EIO:when=2+ -e trace=close true
    takes -e fault=access -e trace=access true
    takes -e inject=getcwd:poke_exit=@arg1=2f78 -e trace=getcwd /bin/pwd
    takes -e inject=uname:retval=0:syscall=getpid -e trace=uname uname -s
    takes -e trace=/^access true
    takes -e t=close@64 true
    takes -e '!mmap,mprotect,munmap,brk' true
    takes -e trace=close,?no_such_call true
    takes -C -e trace=close -U calls,name true
    takes -c -U calls,errors,name -S name true
    takes -c -S calls -U name,calls true
    takes -c -o x -U calls -S calls dash -c 'exit 1'
    [[ $(id -u) != 0 ]] || takes -u nobody -e trace=close id -un
}

# What is not seen from inside, and is with a way that sees it: signals, and how children end.
way=(--via ptrace)
# shellcheck disable=SC2016
{
    takes -f -o x -e trace=execve,exit_group dash -c '/bin/true; exit 3'
    takes -ff -o x dash -c '/bin/true; exit 3'
    takes dash -c 'kill -TERM $$'
    takes -c -w -o x -U calls,name -S name dash -c '/bin/true; exit 1'
}
way=()
checks=$((checks + 1))
(cd "$folder" && "$gait" syscalls -ff -o each -e trace=execve,exit_group dash -c '/bin/true; exit 3')
[[ $? == 3 && $(grep -l 'execve("/bin/true"' "$folder"/each.* | wc -l) == 1 && $(grep -l 'exit_group(3)' "$folder"/each.* | wc -l) == 1 ]] ||
    fail '-ff does not write a file for each process'

# Times of the CPU and of the wall: a program that sleeps needs none of the first.
checks=$((checks + 2))
"$gait" syscalls -c -o "$folder/x" sleep 0.2
awk '$NF == "clock_nanosleep" && $2 > 0.1 { found = 1 } END { exit found }' "$folder/x" || fail '-c counts the time that passes' "$folder/x"
"$gait" syscalls -cw -o "$folder/x" sleep 0.2
awk '$NF == "clock_nanosleep" && $2 > 0.1 { found = 1 } END { exit !found }' "$folder/x" || fail '-c -w does not' "$folder/x"

# Lines of several processes are in the order of their times.
checks=$((checks + 1))
"$gait" syscalls -f -ttt -o "$folder/x" dash -c 'sleep 0.1 & sleep 0.05; wait'
awk '$2 < last { exit 1 } { last = $2 }' "$folder/x" || fail 'lines are not in the order of time' "$folder/x"
grep -q 'wait4(.*<unfinished ...>$' "$folder/x" || fail 'a call that waits is not told when it begins' "$folder/x"

# A program beside processes, which are given as pidof writes them: all of them are seen.
sleep 2 &
started+=($!)
sleep 2 &
started+=($!)
checks=$((checks + 1))
timeout 60 "$gait" syscalls -f -o "$folder/x" -p "${started[0]} ${started[1]}" dash -c 'exit 4'
[[ $? == 4 ]] || fail 'a program beside processes does not end as it does' "$folder/x"
[[ $(awk '/exited with/ { print $1 }' "$folder/x" | sort -u | wc -l) == 3 ]] || fail 'not all three were seen' "$folder/x"

refuses 2 'there is no such option' syscalls -M true
refuses 2 "try '--output'" syscalls --outptu x true
refuses 2 'it may be --output' syscalls --outp x true
refuses 2 'did you mean trace=' syscalls -e trcae=read true
refuses 2 'there is no such signal' syscalls -e signal=FOO true
refuses 2 'it takes successful, failed' syscalls -e status=bogus true
refuses 2 'one table' syscalls -ff -c true
refuses 2 'it takes execve only' syscalls -b read true
refuses 2 'needs calls that are stopped' syscalls --via inside -P /etc/passwd true
refuses 2 'virtual CPUs' syscalls -e kvm=vcpu true
refuses 2 'gives none' syscalls --tips true

finish
