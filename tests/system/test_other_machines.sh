#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 32-bit programs cannot be recorded: that is said, and they go on as if nobody had asked.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# Sleeps for two seconds, says so, and ends with 7.
cat >"$folder/program.s" <<'END'
        .globl  _start
_start: mov     $162, %eax
        mov     $time, %ebx
        xor     %ecx, %ecx
        int     $0x80
        mov     $4, %eax
        mov     $1, %ebx
        mov     $text, %ecx
        mov     $6, %edx
        int     $0x80
        mov     $1, %eax
        mov     $7, %ebx
        int     $0x80
time:   .long   2, 0
text:   .ascii  "slept\n"
END
if ! as --32 -o "$folder/program.o" "$folder/program.s" || ! ld -m elf_i386 -o "$folder/program" "$folder/program.o"; then
    echo "skipped: no 32-bit programs can be made here"
    exit 77
fi
"$folder/program" >"$folder/native"
[[ $? == 7 ]] || { echo "skipped: this kernel runs no 32-bit programs"; exit 77; }

for options in '--follow none' '--hook *'; do
    read -ra words <<<"$options"
    "$folder/program" >"$folder/said" &
    pid=$!
    sleep 0.2
    refuses 1 "64-bit programs only" attach -o "$folder/traces" "${words[@]}" "$pid"
    wait "$pid"
    check "it ends as it would, asked with $options" test $? == 7
    check "it says what it would, asked with $options" cmp "$folder/native" "$folder/said"
    refuses 1 "64-bit programs only" spawn -o "$folder/traces" "${words[@]}" -- "$folder/program"
done
refuses 1 "64-bit programs only" syscalls "$folder/program"

# Its system calls can be seen, but have other numbers, and no names here: 1, which is write elsewhere, is exit.
for way in kernel ptrace; do
    "$gait" syscalls --via $way -o "$folder/calls" "$folder/program" >"$folder/out" 2>"$folder/err"
    status=$?
    [[ $way == ptrace || $status == 7 ]] || { echo "without the kernel's way: $(tail -n 1 "$folder/err")"; continue; }
    check "it ends as it would, looked at by $way" test $status == 7
    check "the call by which it ends has no name, by $way" grep -q '^syscall_0x80000001(0x7,' "$folder/calls"
    check "nothing is named, by $way" test "$(grep -c -E '^(write|stat|exit)' "$folder/calls")" == 0
done

# Who executes one is recorded until then.
"$gait" spawn -o "$folder/traces" --follow none -- bash -c "$folder/program; echo \$?" >"$folder/out" 2>"$folder/err"
check "the shell ends well" test $? == 0
check "both said what they had to" test "$(tr '\n' ' ' <"$folder/out")" == "slept 7 "
check "that it is not recorded is said" grep -q "is not recorded" "$folder/err"
finish
