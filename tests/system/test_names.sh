#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions as people name them: what they mean, and what is said where that cannot be recorded.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -o "$folder/short_functions" tests/system/programs/short_functions.c || exit 1

# records status options... -- program...: gait ends with that status; $trace is what it wrote, $folder/err what it said
records() {
    local expected=$1 status
    shift
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn -o "$folder/traces" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$expected" ]] || fail "$*: status $status"
    trace=$(echo "$folder"/traces/*)
}

# said "text": gait said so
said() { check "never said: $1" grep -q -F -- "$1" "$folder/err"; }

# reported "text": the report has a line with it
reported() {
    "$gait" report "$trace" >"$folder/report" 2>&1
    check "not reported: $1" grep -q -F -- "$1" "$folder/report"
}

# has_calls name number: so many calls of a function whose name ends so are in the trace
has_calls() {
    local calls
    calls=$("$gait" dump events "$trace" 2>/dev/null | awk -F '\t' -v name="$1" \
        '$4 == "enter" && substr($6, length($6) - length(name) + 1) == name' | wc -l)
    check "$1: $calls calls, not $2" test "$calls" = "$2"
}

# has_functions number: of so many functions there are calls
has_functions() {
    local count
    count=$("$gait" dump events "$trace" 2>/dev/null | awk -F '\t' '$4 == "enter" { print $6 }' | sort -u | wc -l)
    check "$count functions, not $1" test "$count" = "$1"
}

# ---- what cannot be hooked is said, and nothing else is

records 125 --hook tight -- "$folder/short_functions"
said 'but not all that was asked for'
said 'short_functions!tight was not hooked: it is too short'
reported 'not hooked short_functions!tight: it is too short'
reported 'lost       nothing of what was hooked'
records 3 --hook tight --hook twice -- "$folder/short_functions"
said 'short_functions!tight was not hooked: it is too short'
has_functions 1
records 125 --arg 'tight:int' -- "$folder/short_functions"
records 3 --hook twice -- "$folder/short_functions"
said 'nothing lost'

# ---- what is looked at closely is all that is hooked

records 3 --arg 'twice:int->int' -- "$folder/short_functions"
has_functions 1
reported 'twice(21) = 42'
records 3 --stack thrice -- "$folder/short_functions"
has_functions 1
records 3 --detail twice --hook thrice -- "$folder/short_functions"
has_functions 1
has_calls thrice 1

# ---- functions are meant by what they are called in the source, by addresses and by lines

g++ -O1 -g -o "$folder/spelled" tests/system/programs/spelled.cc -ldl || exit 1
g++ -O1 -shared -fPIC -o "$folder/libspelled_later.so" tests/system/programs/spelled_later.cc || exit 1
cp "$folder/spelled" "$folder/bare" && strip "$folder/bare"
gcc -O1 -no-pie -s -o "$folder/fixed" tests/system/programs/short_functions.c
area='Sq::area(int) const' about='Sq::area(double) const'
greet=$("$gait" find greet "$folder/spelled" | awk '{ print "0x" $1 }')
inside=$(printf '0x%x' $((greet + 2)))

# hooks "pattern" names...: these functions are recorded, and no others; once each
hooks() {
    local pattern=$1 recorded
    shift
    records 0 --hook "$pattern" -- "${program[@]}"
    recorded=$("$gait" dump events "$trace" 2>/dev/null | awk -F '\t' '$4 == "enter" { print $6 }' | sort)
    check "--hook $pattern: $recorded" test "$recorded" = "$(printf '%s\n' "$@" | sort)"
}

program=("$folder/spelled")
hooks Sq::area "$area" "$about"
said 'Sq::area means 2 functions'
hooks 'Sq::area(int)const' "$area"
hooks 'Sq::operator+' 'Sq::operator+(Sq const&) const'
hooks 'Sq::*' "$area" "$about" 'Sq::operator+(Sq const&) const'
hooks 'ns::greatest<int>' 'int ns::greatest<int>(int, int)'
hooks greet 'greet(char const*)'
hooks 'spelled:greet' 'greet(char const*)'
hooks "$greet" 'greet(char const*)'
hooks "*$greet" 'greet(char const*)'
hooks "$inside" 'greet(char const*)'
said "$inside is inside greet(char const*) of spelled"
hooks "spelled+$inside" 'greet(char const*)'
line=$(grep -n '"sum' tests/system/programs/spelled.cc | cut -d : -f 1)
hooks "spelled.cc:$line" 'Sq::operator+(Sq const&) const'
hooks 'spelled.cc:1' "$area"
said 'spelled.cc:1 has no code; line'

records 0 --arg "spelled+$greet:str" -- "${program[@]}"
reported 'greet(char const*)(who="world")'
records 0 --follow call --detail greet --trigger "symbol=$greet" -- "${program[@]}"
reported 'symbol='
check 'no detail' test "$("$gait" dump details "$trace" 2>/dev/null | grep -c 'enter.*greet(char const\*).*who="world"')" = 1
records 0 --hook 'Sq::*' --exclude 'Sq::area(double) const' --stack greet -- "${program[@]}"
has_functions 2
records 0 --exclude "spelled+$greet" --exclude Sq::area -- "${program[@]}"
has_calls 'greet(char const*)' 0
has_calls "$area" 0
has_calls 'Sq::operator+(Sq const&) const' 1

# ---- what is shown can be typed, in views as well

# shows "pattern" "text": a replay of the calls of that function has the text, and nothing but it
shows() {
    "$gait" replay --function "$1" "$trace" >"$folder/replay" 2>&1
    check "replay --function $1" test "$(grep -c -F ';' "$folder/replay") $(grep -c -F "$2" "$folder/replay")" = "1 1"
}

records 0 -- "${program[@]}"
shows greet 'greet(char'
shows _ZL5greetPKc 'greet(char'
shows "$greet" 'greet(char'
shows "spelled+$inside" 'greet(char'
shows "spelled.cc:$line" 'operator+'
shows 'Sq::area(int) const' "$area"
program=("$folder/bare")
hooks "bare+$greet" "bare+$greet"
shows "bare+$greet" "bare+$greet"
records 3 -- "$folder/fixed"
name=$("$gait" dump events "$trace" 2>/dev/null | awk -F '\t' '$4 == "enter" { print $6; exit }')
check "another address than objdump has: $name" grep -q '^fixed+0x40' <<<"$name"
records 3 --hook "$name" -- "$folder/fixed"
has_functions 1

"$gait" find Sq::area "$folder/spelled" >"$folder/out"
check 'find prints other names' grep -q "Sq::area(int) const .*_ZNK2Sq4areaEi" "$folder/out"
"$gait" find --json "$greet" "$folder/spelled" >"$folder/out"
check 'find --json has other names' grep -q '"demangled": "greet(char const\*)"' "$folder/out"
"$gait" disassemble "$folder/spelled" Sq::area >"$folder/out"
check 'disassemble shows other code' test "$(grep -c ' in .*, 0x' "$folder/out")" = 2
"$gait" disassemble "$folder/spelled" "spelled.cc:$line" >"$folder/out"
check 'disassemble finds no line' grep -q 'operator+' "$folder/out"

# ---- what matches nothing is refused, or awaited

gcc -O1 -o "$folder/alone" tests/system/programs/short_functions.c
refuses 2 'did you mean twice?' spawn --hook twcie -- "$folder/alone"
refuses 2 "the program has no module 'libother*'" spawn --hook 'libother*:f' -- "$folder/alone"
refuses 1 'try greet' find gret "$folder/spelled"
later=$folder/libspelled_later.so
program=("$folder/spelled" "$later")
hooks plain_later plain_later
said 'plain_later: no function has such a name'
said 'it is awaited in libraries and programs that come later'
hooks later::deep 'later::deep(int)'
place=$("$gait" find plain_later "$later" | awk '{ print "0x" $1 }')
hooks "libspelled_later.so+$place" plain_later
hooks 'libspelled*:plain_later' plain_later
records 125 --hook plain_latter -- "${program[@]}"
said 'nothing was found that --hook plain_latter means'
records 125 --hook plain_latter --hook greet -- "${program[@]}"
records 0 --hook Sq::area --hook ns::greatest -- sh -c "$folder/spelled"
has_calls "$area" 1
has_functions 4

# ---- indirect functions are what they resolve to

make_indirect() { gcc -O1 -fno-builtin "$@" tests/system/programs/indirect.c; }
make_indirect -Wl,-z,lazy -o "$folder/lazy" && make_indirect -Wl,-z,now -o "$folder/bound" || exit 1
kinds=("$folder/lazy" "$folder/bound")
make_indirect -static -o "$folder/static" 2>/dev/null && kinds+=("$folder/static")
for program in "${kinds[@]}"; do
    records 0 --arg 'strcmp:str,str->int' -- "$program"
    reported '"something else")'
    check "$program: others are said not to be hooked" test "$(grep -c 'indirect\|not hooked' "$folder/err")" = 0
    records 0 --hook strcmp -- "$program"
    has_functions 1
    "$program" loop >/dev/null &
    started+=($!)
    sleep 0.2
    rm -rf "$folder/traces"
    check "attach to $program" "$gait" attach --duration 1 -o "$folder/traces" --arg 'strcmp:str,str' $! 2>"$folder/err"
    trace=$(echo "$folder"/traces/*)
    reported '"something else")'
    kill $!
done

# What they resolve to may have no name in its file.
gcc -O1 -shared -fPIC -s -o "$folder/libpicked.so" tests/system/programs/picked_library.c &&
    gcc -O1 -o "$folder/picks" tests/system/programs/picks.c "$folder/libpicked.so" || exit 1
records 0 --hook picked -- "$folder/picks"
reported ' picked '
shows picked picked

echo "$checks checks, $failures failures"
[[ $failures == 0 ]]
