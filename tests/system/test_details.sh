#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Details of calls: arguments and results are shown as what they are, and stacks as they were, of programs that say what
# is right, and of programs that others wrote.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -O1 -pthread -o "$folder/declared_calls" tests/system/programs/declared_calls.c || exit 1
gcc -O1 -pthread -static -o "$folder/declared_calls_static" tests/system/programs/declared_calls.c || exit 1
gcc -O2 -pthread -fomit-frame-pointer -rdynamic -o "$folder/called_from" tests/system/programs/called_from.c || exit 1

# record status options... -- program...
record() {
    local expected=$1 status
    shift
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" >"$folder/said" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$expected" ]] || fail "$*: status $status" "$folder/err"
    [[ ! -s $folder/err ]] || fail "$*: it says something" "$folder/err"
    "$gait" verify "$folder"/traces/* >"$folder/verified" 2>&1 || fail "$*: a bad trace" "$folder/verified"
    "$gait" dump details "$folder"/traces/* >"$folder/dumped" 2>"$folder/err" || fail "$*: no details" "$folder/err"
    # Threads come by their numbers, which begin anew at times: whoever began first comes first here.
    awk -F '\t' -v OFS='\t' '{ who = $1 "." $2; if (!(who in first)) first[who] = $3; print first[who], NR, $0 }' "$folder/dumped" |
        sort -k 1,1n -k 2,2n | cut -f 3- >"$folder/details"
    "$gait" report --limit 1000 "$folder"/traces/* >"$folder/report" 2>"$folder/err" || fail "$*: no report" "$folder/err"
}

# Without the names of arguments, which are there if libraries have debug information.
without_names() {
    sed -E 's/(\t|, )[A-Za-z_]+=/\1/g' "$folder/details" >"$folder/nameless"
}

# has "text" file what
has() {
    checks=$((checks + 1))
    grep -q -F -- "$1" "$2" || fail "$3: there is no '$1'" "$2"
}

# Both ways to look into calls.
followed=(--follow none)
hooked=(--hook '*')

# both command: with each of them
both() {
    inside=("${followed[@]}")
    "$1"
    inside=("${hooked[@]}")
    "$1"
}

# ---- a program that says what is right -----------------------------------------------------------------------------
declarations=()
while read -r declaration; do
    declarations+=(--arg "$declaration")
done < <(sed -n 's/^ \*     \(d_.*\)/\1/p' tests/system/programs/declared_calls.c | sed 's/   */\n/g')
checks=$((checks + 1))
[[ ${#declarations[@]} == 26 ]] || fail "$((${#declarations[@]} / 2)) declarations"

# as_said what: details are what the program says of each of its threads, one after the other
as_said() {
    awk -F '\t' '$4 == "enter" && $14 != "" { print $6 "\t" $14 } $4 == "leave" && $9 != "" { print $6 "\t= " $9 }' \
        "$folder/details" >"$folder/seen"
    diff "$folder/said" "$folder/seen" >"$folder/diff" || fail "$1" "$folder/diff"
}

for options in '' '--hook d_skips' '--follow none' '--follow call,ret --stack-bytes 0' '--follow block --stack-bytes 512 --times'; do
    # shellcheck disable=SC2086
    record 0 $options "${declarations[@]}" -- "$folder/declared_calls"
    as_said "$options"
done
said_more() {
    record 0 "${inside[@]}" "${declarations[@]}" -- "$folder/declared_calls_static"
    as_said "a static program"
    has 'd_pointer(0) = 0x' "$folder/report" "the report"
    has 'd_numbers(-1, 255, ' "$folder/report" "the report"

    # The stack gets what is left of a record, and --string-bytes says how much of a string is kept.
    record 0 "${inside[@]}" --stack-bytes 512 --arg 'd_full:str[300],str[100],_' --arg 'd_string:str' --string-bytes 5 -- "$folder/declared_calls"
    awk -F '\t' '$4 == "enter" && $6 == "d_full" && length($13) != 2 * (512 - 416) { print "a stack of " length($13) / 2 " bytes" }' \
        "$folder/details" >"$folder/bad"
    [[ ! -s $folder/bad ]] || fail "a stack beside values" "$folder/bad"
    has '"01234"...' "$folder/details" "--string-bytes"
    has '"tail"' "$folder/details" "--string-bytes"

    # Of two declarations the first one counts, and of a function with details nothing is told twice.
    record 0 "${inside[@]}" --arg 'd_skip*:int' --arg 'd_skips:hex,hex' --detail 'd_*' -- "$folder/declared_calls"
    awk -F '\t' '$6 == "d_skips" && $4 == "enter" { print $14 }' "$folder/details" >"$folder/seen"
    printf '2\n2\n2\n' | diff - "$folder/seen" >"$folder/diff" || fail "two declarations" "$folder/diff"
}

both said_more

# ---- stacks --------------------------------------------------------------------------------------------------------
# stacks_as_said depth: of each thread, one after the other; frames in libraries are not named by the program
stacks_as_said() {
    awk -F '\t' -v OFS='\t' '$4 == "stack" && $6 == "s_leaf" {
        line = "stack"
        for (i = 7; i <= NF; i++) {
            line = line "\t" ($i ~ /^(s_|main\+|\.\.\.)/ ? $i : "?")
            if ($i ~ /^(main|s_thread)\+/) break
        }
        print line }' "$folder/details" >"$folder/seen"
    awk -F '\t' -v OFS='\t' -v depth="$1" '{
        line = $1
        for (i = 2; i <= NF && i <= depth + 1; i++) line = line OFS $i
        print line (NF > depth + 1 ? OFS "..." : "") }' "$folder/said" >"$folder/expected"
    # What comes outside of the last frame that the program tells is not compared.
    diff <(sed 's/\t\.\.\.$//' "$folder/expected") <(sed 's/\t\.\.\.$//' "$folder/seen") >"$folder/diff" || fail "stacks of depth $1" "$folder/diff"
    [[ $(wc -l <"$folder/seen") -gt 30 ]] || fail "few stacks" "$folder/seen"
}

stacks_of_all_depths() {
    for depth in 64 32 3 1; do
        record 0 "${inside[@]}" --stack s_leaf --stack-depth $depth -- "$folder/called_from"
        stacks_as_said $depth
    done
}

both stacks_of_all_depths

record 0 --follow call,ret --times --stack s_leaf --detail 's_*' -- "$folder/called_from"
stacks_as_said 32
"$gait" stacks --limit 1000 "$folder"/traces/* >"$folder/stacks" 2>"$folder/err" || fail "gait stacks: status $?"
has 's_leaf  2 times, process' "$folder/stacks" "gait stacks"
has '    s_recursive+0x' "$folder/stacks" "gait stacks"
checks=$((checks + 1))
taken=$(awk '$1 == "s_leaf" { sum += $2 } END { print sum }' "$folder/stacks")
[[ $taken == "$(wc -l <"$folder/said")" ]] || fail "gait stacks counts $taken"

# Libraries that come and go at the same place: each stack is that of the one that was there.
for letter in a b c d; do
    gcc -O1 -fPIC -shared -fomit-frame-pointer -DLETTER=$letter -DFRAME_BYTES=$((0x$letter * 100)) -o "$folder/plugin_$letter.so" \
        tests/system/programs/plugin.c || exit 1
done
gcc -O1 -pthread -o "$folder/plugins" tests/system/programs/plugins.c || exit 1
libraries_at_one_place() {
    record 0 "${inside[@]}" --stack 's_*' -- "$folder/plugins" "$folder"
    awk -F '\t' -v OFS='\t' '$4 == "stack" && $6 == "s_leaf" { sub(/\+.*/, "", $7); sub(/\+.*/, "", $9); print $4, $7, $9 }' "$folder/details" >"$folder/seen"
    diff "$folder/said" "$folder/seen" >"$folder/diff" || fail "libraries at the same place" "$folder/diff"
    [[ $(wc -l <"$folder/seen") == 96 ]] || fail "not all orders" "$folder/seen"
}

both libraries_at_one_place

# ---- programs that others wrote ------------------------------------------------------------------------------------
echo text >"$folder/file"
# shellcheck disable=SC2016
record 1 --arg 'libc.so*!open*:str,hex->int!errno' --arg 'libc.so*!getenv:str->str' --stack 'libc.so*!open*' -- perl -e '
    open(F, "<", $ARGV[0]) or exit 2; open(F, "<", "$ARGV[0]/nothing\x{7f}") or exit 1' "$folder/file"
without_names
has "\"$folder/file\", 0x80000" "$folder/nameless" "perl"
has "\"$folder/file/nothing\\x7f\", 0x80000" "$folder/nameless" "perl"
has "	-1 ENOTDIR" "$folder/details" "perl"
has "Perl_" "$folder/details" "who calls in perl"

record 0 --arg 'libc.so*!open64:str,hex' -- sqlite3 "$folder/db" 'create table t(x); insert into t values(1);'
without_names
has "\"$folder/db\", 0x" "$folder/nameless" "sqlite3"

# ---- debug information ---------------------------------------------------------------------------------------------
# The same program with it, without it, and with it in another file: strings and floats are kept, and all have names.
# described what program: what debug information tells of its calls is what the program says
described() {
    record 0 "${inside[@]}" --detail 'b_*' -- "$folder/$2"
    awk -F '\t' '$4 == "enter" { print $6 "\t" $14 } $4 == "leave" && $9 != "" { print $6 "\t= " $9 }' "$folder/details" >"$folder/seen"
    diff "$folder/said" "$folder/seen" >"$folder/diff" || fail "$1" "$folder/diff"
}
gcc -O2 -g -o "$folder/described_calls" tests/system/programs/described_calls.c || exit 1
gcc -O2 -g -gdwarf-4 -gz -static -o "$folder/described_static" tests/system/programs/described_calls.c || exit 1
cp "$folder/described_calls" "$folder/stripped"
strip --strip-debug "$folder/stripped"
objcopy --only-keep-debug "$folder/described_calls" "$folder/elsewhere.debug"
objcopy --strip-debug --add-gnu-debuglink="$folder/elsewhere.debug" "$folder/described_calls" "$folder/linked"
debug_information() {
    if is_built_with libdw; then
        described "debug information" described_calls
        described "compressed debug information, static" described_static
        described "debug information elsewhere" linked
        # What is known is used for the report, and --arg counts more.
        has 'b_variadic(format="%d\n", ...) = 37' "$folder/report" "the report"
        record 0 "${inside[@]}" --detail 'b_*' --arg 'b_plain:ptr,hex->int' -- "$folder/described_calls"
        has 'number=0xfffffffe' "$folder/details" "--arg and debug information"
    fi
    record 0 "${inside[@]}" --detail 'b_*' -- "$folder/stripped"
    awk -F '\t' '$4 == "enter" && $14 != ""' "$folder/details" >"$folder/bad"
    [[ ! -s $folder/bad ]] || fail "arguments of nothing known" "$folder/bad"
}

both debug_information

# ---- attach, and away again ----------------------------------------------------------------------------------------
# shellcheck disable=SC2016
perl -e '$| = 1; print "ready\n"; select(undef, undef, undef, 0.01), sleep 0 while 1' >"$folder/ready" &
process=$!
started+=("$process")
disown
until [[ -s $folder/ready ]]; do sleep 0.01; done
cp /proc/$process/maps "$folder/before"
for _ in 1 2 3; do
    checks=$((checks + 1))
    "$gait" attach --quiet --duration 1 --arg 'libc.so*!select:int,ptr,_,_->int!errno' --stack 'libc.so*!select' -o "$folder/attached" $process \
        2>"$folder/err" || fail "attach: status $?"
    diff "$folder/before" /proc/$process/maps >"$folder/diff" || fail "attach leaves something" "$folder/diff"
done
for trace in "$folder"/attached/*; do
    "$gait" dump details "$trace" >"$folder/details" 2>"$folder/err" || fail "attach: no details"
    without_names
    has "	0, NULL, _, _" "$folder/nameless" "attach"
    has "	select	Perl_pp_sselect+0x" "$folder/details" "attach"
done

# ---- what is wrong -------------------------------------------------------------------------------------------------
refuses 2 "'imt' is no type; is it int?" spawn --arg 'open:str,imt' -- true
refuses 2 "           ^" spawn --arg 'open:str,imt' -- true
refuses 2 "there is no argument 3" spawn --arg 'open:str,buf[arg3]' -- true
refuses 2 "a ':' and the types of its arguments are missing" spawn --arg open -- true
refuses 2 "--stack-depth is 65" spawn --stack f --stack-depth 65 -- true
refuses 2 "--string-bytes is 0" spawn --arg f:int --string-bytes 0 -- true
refuses 2 "--arg no_such: no function has such a name" spawn -o "$folder/traces" --arg 'no_such:int' -- true
refuses 2 "--stack nor_such: no function has such a name" spawn -o "$folder/traces" --stack 'nor_such' -- true

finish
