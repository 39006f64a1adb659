#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The gait command as people use and misuse it: what it prints, what it says on standard error, its exit status.
# configurations: debug-gcc
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

[[ $(uname -m) == x86_64 ]] || { echo "skipped: gait knows no other CPU's instructions yet"; exit 77; }
gait=$PWD/build/gait
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C COLUMNS=100
failures=0 checks=0

fail() {
    failures=$((failures + 1))
    echo "FAILED: $1"
    sed 's/^/    stdout: /' "$folder/out" | head -n 5
    sed 's/^/    stderr: /' "$folder/err"
}

run() {
    "$gait" "$@" >"$folder/out" 2>"$folder/err"
}

# prints "text" arguments...: succeeds, says nothing on standard error, and the text is in its output
prints() {
    local text=$1 status
    shift
    checks=$((checks + 1))
    run "$@"
    status=$?
    if [[ $status != 0 || -s $folder/err ]] || ! grep -q -F -- "$text" "$folder/out"; then
        fail "gait $*: status $status, expected: $text"
    fi
}

# refuses status "text" arguments...: prints nothing, and one line on standard error with the text
refuses() {
    local expected=$1 text=$2 status
    shift 2
    checks=$((checks + 1))
    run "$@"
    status=$?
    [[ $status == "$expected" && ! -s $folder/out && $(wc -l <"$folder/err") == 1 &&
        $(<"$folder/err") == "gait: cannot "*": "*"; "* && $(<"$folder/err") == *"$text"* ]] ||
        fail "gait $*: status $status, expected $expected and: $text"
}

version=$(make -s DEPS=no print-VERSION)
prints "gait $version" version
prints "gait $version" --version
prints "gait $version" -V
for command in report export verify find disassemble 'dump block' 'dump relocation' help version; do
    prints "$command" help
    # shellcheck disable=SC2086 # a command may be two words
    prints "usage: gait $command" help $command
    # shellcheck disable=SC2086
    prints "usage: gait $command" $command --help
done
prints "Gait watches" --help
prints "Gait watches" -h

# ---- wrong usage: status 2
refuses 2 "no command was given"
refuses 2 "try 'gait disassemble'" dissasemble
refuses 2 "try 'gait dump relocation'" dump
refuses 2 "try 'gait dump relocation'" dump relocations
refuses 2 "gait help" frobnicate
refuses 2 "gait help" --frobnicate
refuses 2 "gait version" help versoin
refuses 2 "FILE is missing" disassemble
refuses 2 "FUNCTION or 0xADDRESS is missing" disassemble libc.so.6
refuses 2 "'extra'" disassemble libc.so.6 qsort extra
refuses 2 "no such option" disassemble --color libc.so.6 qsort
refuses 2 "'--far'" dump relocation libc.so.6 qsort --fra
refuses 2 "stack|segment" dump relocation libc.so.6 qsort --spill heap
refuses 2 "FUNCTION or 0xADDRESS is missing" dump block libc.so.6
refuses 2 "'--events'" dump block libc.so.6 qsort --event call
refuses 2 "a list of call,ret,exec,block,compile" dump block libc.so.6 qsort --events call,jump
refuses 2 "a list of call,ret,exec,block,compile" dump block libc.so.6 qsort --events
pushd "$folder" >/dev/null || exit 1 # where there is no last trace
refuses 2 "TRACE is missing" verify
refuses 2 "'--repair'" verify "$folder" --repare
refuses 2 "TRACE is missing" report
popd >/dev/null || exit 1
refuses 2 "a number from 1 on" report "$folder" --limit few
refuses 2 "no format was given" export "$folder"
refuses 2 "did you mean 'perfetto'?" export -f perfeto "$folder"
refuses 2 "try '--format', or" export --fromat chrome "$folder"
refuses 2 "1.5s" export -f chrome "$folder" --from soon
refuses 2 "the end is not after the beginning" export -f chrome "$folder" --from 2s --to 1s
refuses 1 "no such folder" export -f chrome "$folder/nothing"
refuses 2 "'please'" version please

# ---- things that are not as they should be: status 1
refuses 1 "no such file" disassemble ./nothing main
refuses 1 "no such library" disassemble libnothing.so.1 main
refuses 1 "directory" disassemble / main
refuses 1 "not a 64-bit ELF" disassemble README.md main
refuses 1 "not a 64-bit ELF" disassemble /dev/null main
: >"$folder/empty"
refuses 1 "not a 64-bit ELF" disassemble "$folder/empty" main
head -c 100 build/gait >"$folder/short"
refuses 1 "not a 64-bit ELF" disassemble "$folder/short" main
for command in verify report; do
    refuses 1 "no such folder" "$command" "$folder/nothing"
    refuses 1 "neither a folder" "$command" README.md
    refuses 1 "no trace in it" "$command" docs
done
refuses 1 "try bsearch" disassemble libc.so.6 bserch
refuses 1 "nothing executable" disassemble libc.so.6 0x1
refuses 1 "try bsearch" dump block libc.so.6 bserch
refuses 1 "nothing executable" dump block libc.so.6 0x1
refuses 1 "no such library" dump block libnothing.so.1 main
refuses 1 "no number" disassemble libc.so.6 0x12zz
refuses 1 "no number" disassemble libc.so.6 0x30000+x
cp build/gait "$folder/arm"
printf '\xb7' | dd of="$folder/arm" bs=1 seek=18 conv=notrunc status=none
refuses 1 "another CPU (ELF machine 183)" disassemble "$folder/arm" main
strip -o "$folder/stripped" build/gait
refuses 1 "has no names of functions" disassemble "$folder/stripped" commands_find
# Nothing is secret from root, who has to become somebody else.
cp build/gait "$folder/secret"
chmod 0 "$folder/secret"
if [[ $(id -u) != 0 ]]; then
    refuses 1 "may not read" disassemble "$folder/secret" main
elif command -v setpriv >/dev/null; then
    checks=$((checks + 1))
    cp build/gait "$folder/gait"
    chmod 755 "$folder" "$folder/gait"
    setpriv --reuid=65534 --clear-groups "$folder/gait" disassemble "$folder/secret" main >"$folder/out" 2>"$folder/err"
    [[ $? == 1 && $(<"$folder/err") == *"may not read"* ]] || fail "a file that may not be read"
fi

# ---- the output cannot be written
checks=$((checks + 2))
"$gait" disassemble libc.so.6 qsort >/dev/full 2>"$folder/err" && fail "a full output is no success"
grep -q 'gait: cannot write the output: No space left on device; try' "$folder/err" || fail "a full output is not explained"
"$gait" disassemble libc.so.6 qsort >&- 2>"$folder/err" && fail "a closed output is no success"
grep -q 'gait: cannot write the output: Bad file descriptor; try' "$folder/err" || fail "a closed output is not explained"

# ---- disassemble
cat >"$folder/small.s" <<'ASSEMBLY'
    .globl small
    .type small, @function
small:
    push %rbp
    lea value(%rip), %rax
1:  dec %rdi
    jnz 1b
    pop %rbp
    ret
    .size small, . - small
    .globl unsized
unsized:
    ret
    .data
value: .quad 1
    .section .note.GNU-stack,"",@progbits
ASSEMBLY
gcc -shared -nostdlib -Wl,--build-id=none -o "$folder/small.so" "$folder/small.s"
address=$(nm "$folder/small.so" | awk '$3 == "small" { print $1 }')
address=$((16#$address))
prints "push rbp" disassemble "$folder/small.so" small
prints "$(printf 'jnz 0x%x' $((address + 8)))" disassemble "$folder/small.so" small
prints "55 " disassemble "$folder/small.so" small
prints "c3 " disassemble "$folder/small.so" unsized
prints "pop rbp" disassemble "$folder/small.so" "$(printf '0x%x' $((address + 13)))"
prints "2 bytes" disassemble "$folder/small.so" "$(printf '0x%x+2' $((address + 13)))"
prints "chooses the function" disassemble libc.so.6 strlen

# The same instructions as objdump sees them: as many, at the same addresses.
checks=$((checks + 1))
run disassemble libc.so.6 qsort_r
library=$(sed -n '1s/.* in \([^,]*\),.*/\1/p' "$folder/out")
read -r start size <<<"$(sed -n '1s/.*, 0x\([0-9a-f]*\), \([0-9]*\) bytes/\1 \2/p' "$folder/out")"
objdump -d --no-show-raw-insn --start-address="0x$start" --stop-address=$((16#$start + size)) "$library" |
    sed -n 's/^ *\([0-9a-f]*\):\t.*/\1/p' >"$folder/expected"
awk 'NR > 1 { print $1 }' "$folder/out" | cmp - "$folder/expected" || fail "objdump sees other instructions"

# ---- dump relocation
prints "small: 15 bytes" dump relocation "$folder/small.so" small
prints " * " dump relocation "$folder/small.so" small --far
prints "gs:[" dump relocation libc.so.6 random --far --spill segment
prints " * " dump relocation libc.so.6 random --far --return=original
refuses 1 "is cut off" dump relocation "$folder/small.so" "$(printf '0x%x+2' "$address")"

# ---- dump block
prints "small: block of 13 bytes" dump block "$folder/small.so" small
prints "push rbp" dump block "$folder/small.so" small
prints "jnz" dump block "$folder/small.so" small --events block,exec
prints "small: block of 5 bytes" dump block "$folder/small.so" "$(printf '0x%x+5' $((address + 8)))"
prints "gs:[" dump block "$folder/small.so" small --events=call,ret,exec,block,compile
prints "ret" dump block "$folder/small.so" unsized

# Help fits a terminal, however wide its source is.
while read -r -a name; do
    "$gait" help "${name[@]}" >"$folder/out" 2>"$folder/err" || fail "no help of ${name[*]}"
    check "lines of gait help ${name[*]} are wider than a terminal" awk 'length > 80 { exit 1 }' "$folder/out"
done < <(sed -n 's/^COMMAND(\(.*\)).*/\1/p' src/cli/commands.def | tr _ ' ')

# Every line fits, for any width, and has no colours in a pipe.
for columns in 60 80 100 140 200; do
    checks=$((checks + 1))
    COLUMNS=$columns run dump relocation libc.so.6 qsort_r --far
    awk -v columns="$columns" 'NR > 1 && length($0) > columns { exit 1 }' "$folder/out" ||
        fail "lines are wider than $columns"
    ! grep -q $'\033' "$folder/out" || fail "there are colours in a file"
done

# On a terminal there are colours, unless NO_COLOR objects. script runs a command on a terminal of its own.
if command -v script >/dev/null; then
    checks=$((checks + 2))
    TERM=xterm NO_COLOR='' script -qec "$gait dump relocation libc.so.6 random --far" /dev/null >"$folder/out" </dev/null
    grep -q $'\033\[33m' "$folder/out" || fail "there are no colours on a terminal"
    TERM=xterm NO_COLOR=1 script -qec "$gait dump relocation libc.so.6 random --far" /dev/null >"$folder/out" </dev/null
    ! grep -q $'\033' "$folder/out" || fail "NO_COLOR does not count"
fi

# ---- broken files never kill it
checks=$((checks + 1))
for seed in {1..150}; do
    cp "$folder/small.so" "$folder/broken"
    RANDOM=$seed
    for _ in 1 2 3; do
        printf '%b' "\\x$(printf '%02x' $((RANDOM % 256)))" |
            dd of="$folder/broken" bs=1 seek=$((RANDOM % 800)) conv=notrunc status=none
    done
    run dump relocation "$folder/broken" small --far
    status=$?
    ((status <= 2)) || { fail "a broken file, seed $seed: status $status"; break; }
done

echo "$checks checks, $failures failed"
[[ $failures == 0 ]]
