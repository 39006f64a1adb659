#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Profiles, databases, tables and coverage: each is read back by programs that others wrote, and adds up to the same in
# all formats, and to what the events say. Which lines ran is compared with gcov.
# configurations: debug-gcc
# time limit: 240 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

for tool in babeltrace2 protoc sqlite3 genhtml gcov python3; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not there"; exit 77; }
done

nasty='we"ird\,<b>&%s;*'$'\377'
gcc -g -O0 -pthread -c -o "$folder/covered.o" "$PWD/tests/system/programs/covered.c" || exit 1
objcopy --redefine-sym "plainly_named=$nasty" "$folder/covered.o" || exit 1
gcc -pthread -o "$folder/covered" "$folder/covered.o" || exit 1

# record name options...: its trace is $folder/name
record() {
    local name=$1
    shift
    "$gait" spawn --quiet -o "$folder/$name.traces" "$@" >"$folder/said" 2>"$folder/err" || fail "recording $name"
    mv "$folder/$name.traces"/* "$folder/$name"
}

# export_to format trace file [option]...
export_to() {
    local format=$1 trace=$2 file=$3
    shift 3
    "$gait" export -f "$format" "$trace" -o "$file" "$@" >"$folder/out" 2>"$folder/err"
}

# totals kind file: leaves them in $folder/totals.kind
totals() {
    python3 tests/export/call_totals.py "$@" >"$folder/totals.$1" 2>"$folder/err"
}

same() {
    diff "$1" "$2" >"$folder/err"
}

show_ctf() {
    babeltrace2 --clock-seconds "$1" >"$2" 2>"$folder/err" && [[ ! -s $folder/err ]]
}

show_pprof() {
    gzip -dc "$1" 2>"$folder/err" | protoc -Itests/export --decode=Profile profile.proto >"$2" 2>"$folder/err"
}

is_file() {
    [[ -f $1 ]]
}

is_not_there() {
    [[ ! -e $1 ]]
}

# ---- calls -----------------------------------------------------------------------------------------------------------

# agree what trace options...: all formats do
agree() {
    local what=$1 trace=$2 kind
    shift 2
    rm -rf "$folder"/exported.*
    for kind in csv json sqlite ctf pprof; do
        check "$what to $kind" export_to "$kind" "$trace" "$folder/exported.$kind" "$@"
    done
    check "$what: babeltrace2 reads it" show_ctf "$folder/exported.ctf" "$folder/ctf.text"
    check "$what: protoc reads it" show_pprof "$folder/exported.pprof" "$folder/pprof.text"
    for kind in csv json sqlite; do
        check "$what: $kind adds up" totals "$kind" "$folder/exported.$kind"
    done
    check "$what: ctf adds up" totals ctf "$folder/ctf.text"
    check "$what: pprof adds up" totals pprof "$folder/pprof.text"
    check "$what: there are calls" test -s "$folder/totals.csv"
    for kind in json sqlite ctf pprof; do
        check "$what: $kind and csv agree" same "$folder/totals.csv" "$folder/totals.$kind"
    done
}

# as_events what trace: the formats have all calls that events tell of
as_events() {
    "$gait" dump events "$2" >"$folder/events" 2>"$folder/err" || fail "$1: no events"
    check "$1: events add up" totals events "$folder/events"
    # Where events are of the engine, their names are of what is printable.
    cut -f 2 "$folder/totals.csv" | sort >"$folder/counts.csv"
    cut -f 2 "$folder/totals.events" | sort >"$folder/counts.events"
    check "$1: as many calls as events tell of" same "$folder/counts.csv" "$folder/counts.events"
}

# The count of a function in the last totals.
is_counted() {
    [[ $(awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$folder/totals.csv") == "$2" ]]
}

record hooks -- "$folder/covered"
record calls --follow call,ret --times -- "$folder/covered"
record untimed --follow call,ret -- "$folder/covered"
for trace in hooks calls untimed; do
    agree "$trace" "$folder/$trace"
    as_events "$trace" "$folder/$trace"
    # fibonacci(12) is called 465 times, deep 2501 times, and is_odd 1000 times by each thread.
    check "$trace: fibonacci" is_counted fibonacci 465
    check "$trace: deep" is_counted deep 2501
    check "$trace: is_odd" is_counted is_odd 2000
    check "$trace: the nasty one" grep -q -P '^we"ird\\,<b>&%s;\*\xef\xbf\xbd\t1000\t' "$folder/totals.csv"
done
agree "some of it" "$folder/hooks" --thread covered --from 1ms

if command -v go >/dev/null; then
    export_to pprof "$folder/calls" "$folder/profile.pb.gz"
    HOME=$folder go tool pprof -top -nodecount 1 -sample_index=calls "$folder/profile.pb.gz" >"$folder/top" 2>"$folder/err"
    check "go's pprof finds the most called function" grep -q -E '^ *2501 .* deep$' "$folder/top"
fi

sqlite_says() {
    [[ $(sqlite3 "$folder/exported.sqlite" "$1") == "$2" ]]
}
export_to sqlite "$folder/calls" "$folder/exported.sqlite"
check "sqlite: callers" sqlite_says "SELECT count(*) FROM calls WHERE function = 'deep' AND caller = 'deep'" 2500
check "sqlite: threads" sqlite_says "SELECT count(*) FROM threads" 3
check "sqlite: modules" sqlite_says "SELECT count(*) FROM modules WHERE path LIKE '%/covered'" 1
check "sqlite: functions have modules" sqlite_says \
    "SELECT path = '$folder/covered' FROM functions JOIN modules USING (pid, module) WHERE function = 'deep'
        AND address BETWEEN start AND \"end\"" 1

# ---- coverage --------------------------------------------------------------------------------------------------------

record blocks --follow block -- "$folder/covered"
record insns --follow exec -- "$folder/covered"

# lines trace: "line count" of the program's source, by lcov
lines() {
    awk -F '[:,]' '/^SF:/ { is = /\/covered\.c$/ } is && /^DA:/ { print $2, $3 }' "$1"
}

# The same of gcov.
count_by_gcov() (
    cd "$folder" && gcc --coverage -g -O0 -pthread -o counted "$OLDPWD/tests/system/programs/covered.c" && ./counted &&
        gcov counted-covered.c
) >"$folder/out" 2>"$folder/err"

check "gcov counts" count_by_gcov
awk -F ':' '$1 !~ /-/ && $2 > 0 { gsub(/[ *]/, "", $1); print $2 + 0, $1 ~ /#/ ? 0 : $1 }' "$folder/covered.c.gcov" \
    >"$folder/gcov.lines"
check "gcov has lines" test -s "$folder/gcov.lines"
for trace in blocks insns; do
    check "$trace to lcov" export_to lcov "$folder/$trace" "$folder/$trace.info"
    lines "$folder/$trace.info" >"$folder/$trace.lines"
    # gcov says nothing of lines with brackets only; of the others, whether they ran is the same.
    awk 'NR == FNR { ran[$1] = $2 > 0; next } ($1 in ran) && ran[$1] != ($2 > 0) { print "line", $1, "ran", $2, "times" }
        ($1 in ran) { both++ } END { if (both < 30) print "only", both, "lines in both" }' \
        "$folder/$trace.lines" "$folder/gcov.lines" >"$folder/differences"
    check "$trace: lines are those of gcov" same "$folder/differences" /dev/null
done
check "instructions and blocks agree about lines" same "$folder/blocks.lines" "$folder/insns.lines"

genhtml_reads() {
    lcov -q --extract "$1" '*/covered.c' -o "$folder/own.info" >"$folder/out" 2>"$folder/err" &&
        genhtml -o "$folder/pages" "$folder/own.info" >"$folder/genhtml" 2>"$folder/err"
}
# What genhtml counts is what coverage does.
check "genhtml reads it" genhtml_reads "$folder/blocks.info"
ran=$(awk '$2 > 0' "$folder/blocks.lines" | wc -l) all=$(wc -l <"$folder/blocks.lines")
check "genhtml counts lines" grep -q -F "($ran of $all lines)" "$folder/genhtml"
check "genhtml counts functions" grep -q -F '(6 of 7 functions)' "$folder/genhtml"
check "the nasty name is in the pages" grep -q -r -F 'we&quot;ird\，&lt;b&gt;&amp;%s;' "$folder/pages"
for trace in hooks calls; do
    check "$trace to lcov" export_to lcov "$folder/$trace" "$folder/$trace.info"
    check "$trace: functions" grep -q -x 'FNDA:465,fibonacci' "$folder/$trace.info"
    check "$trace: missed" grep -q -x 'FNDA:0,never_called' "$folder/$trace.info"
    check "$trace: genhtml reads it" genhtml_reads "$folder/$trace.info"
done

# coverage_says trace python-expression options...
coverage_says() {
    local trace=$1 expression=$2
    shift 2
    "$gait" coverage --json "$@" "$trace" 2>"$folder/err" | python3 -c "
import json, sys
coverage = json.load(sys.stdin)
own = [module for module in coverage['modules'] if module['path'].endswith('/covered')][0]
names = {function['name']: function['count'] for function in own.get('function_list', [])}
sources = {source['path'].rsplit('/')[-1]: source for source in coverage.get('sources', [])}
sys.exit(not ($expression))" 2>>"$folder/err"
}
for trace in hooks calls blocks insns; do
    check "$trace: coverage counts" coverage_says "$folder/$trace" \
        "names['fibonacci'] == 465 and names['deep'] == 2501 and names['main'] == 1 and 'never_called' not in names" --functions
    check "$trace: coverage knows what is missed" coverage_says "$folder/$trace" \
        "'never_called' in names and 'main' not in names" --missed
done
check "coverage agrees about lines" coverage_says "$folder/blocks" \
    "sources['covered.c']['executed_lines'] == $ran and sources['covered.c']['lines'] == $all" --lines
"$gait" coverage --missed --lines --filter 'covered!*' "$folder/blocks" >"$folder/out" 2>"$folder/err"
check "coverage shows what is missed" grep -q -x '  never_called' "$folder/out"
check "coverage shows lines" grep -q -E "^ +$ran of +$all .*/covered.c$" "$folder/out"

# What was kept in the trace stands in for a program that is gone; with a packed one, lines as well.
check "a trace is packed" "$gait" pack "$folder/blocks" -o "$folder/packed" >"$folder/out"
for trace in hooks calls blocks; do
    "$gait" coverage --functions --missed --filter 'covered!*' "$folder/$trace" >"$folder/$trace.there" 2>"$folder/err"
done
mv "$folder/covered" "$folder/moved"
for trace in hooks calls blocks; do
    "$gait" coverage --functions --missed --filter 'covered!*' "$folder/$trace" >"$folder/$trace.gone" 2>"$folder/err"
    # Nobody says how long _init is.
    sed -i -E '/ _init$/d; s/ +[0-9]+ of +[0-9]+ +[0-9.]+ % +[0-9]+  \// \//' "$folder/$trace.there" "$folder/$trace.gone"
    check "$trace: functions of a program that is gone" same "$folder/$trace.there" "$folder/$trace.gone"
done
check "lines of a program that is gone" coverage_says "$folder/packed" \
    "sources['covered.c']['executed_lines'] == $ran and sources['covered.c']['lines'] == $all" --lines
mv "$folder/moved" "$folder/covered"

# The blocks of a drcov file, as offsets in hexadecimal, of the program itself.
drcov_blocks() {
    python3 -c '
import re, struct, sys
data = open(sys.argv[1], "rb").read()
head, count, table = re.match(rb"(.*\n)BB Table: (\d+) bbs\n(.*)", data, re.DOTALL).groups()
assert head.startswith(b"DRCOV VERSION: 2\nDRCOV FLAVOR: gait\nModule Table: version 2, count ")
assert len(table) == 8 * int(count)
own = [int(line.split(b",")[0]) for line in head.split(b"\n") if line.endswith(b"/covered")]
for start, size, module in struct.iter_unpack("<IHH", table):
    if [module] == own:
        print("%x" % start, size)' "$1" 2>"$folder/err"
}
nm "$folder/covered" | awk '$3 == "main" { sub(/^0*/, "", $1); print $1 }' >"$folder/main"
for trace in hooks calls blocks insns; do
    check "$trace to drcov" export_to drcov "$folder/$trace" "$folder/$trace.drcov"
    drcov_blocks "$folder/$trace.drcov" >"$folder/drcov"
    check "$trace: main is among the blocks" grep -q "^$(cat "$folder/main") " "$folder/drcov"
done

# ---- what is not as it should be -------------------------------------------------------------------------------------

refuses 2 'cannot write sqlite to standard output' export -f sqlite "$folder/hooks"
refuses 2 'cannot write ctf to standard output' export -f ctf "$folder/hooks"
refuses 1 'it is there already' export -f ctf "$folder/hooks" -o "$folder"
refuses 1 '/nowhere/db' export -f sqlite "$folder/hooks" -o "$folder/nowhere/db"
pushd / >/dev/null || exit 1 # where there is no last trace
refuses 2 'TRACE is missing' coverage
popd >/dev/null || exit 1
refuses 2 "no such option; try '--missed'" coverage --mised "$folder/hooks"
refuses 1 'no such' coverage "$folder/nowhere"

# A file that was there stays until the new one is whole.
mkdir "$folder/full"
cp "$folder/exported.sqlite" "$folder/full/db"
(
    ulimit -f 8
    trap '' XFSZ
    "$gait" export -f sqlite "$folder/calls" -o "$folder/full/db" >"$folder/out" 2>"$folder/err"
) && fail "a database that does not fit is written"
check "the one before stays" cmp -s "$folder/exported.sqlite" "$folder/full/db"
check "nothing else is left" test "$(ls "$folder/full")" = db
(
    ulimit -f 8
    trap '' XFSZ
    "$gait" export -f ctf "$folder/calls" -o "$folder/full/ctf" >"$folder/out" 2>"$folder/err"
) && fail "a folder that does not fit is written"
check "nothing is left of it" is_not_there "$folder/full/ctf"

# Of a trace that is cut off, what is there is exported, and it is said that it is not all.
cp -r "$folder/hooks" "$folder/cut"
largest=$(find "$folder/cut" -name '*.index.gait' -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
truncate -s "-9" "$largest"
agree "what is cut off" "$folder/cut"
warns "${largest##*/}" coverage "$folder/cut"
warns "${largest##*/}" export -f drcov "$folder/cut" -o "$folder/cut.drcov"
check "what ran is told all the same" is_file "$folder/cut.drcov"
# One without calls is empty, and good.
record nothing --follow call -- /bin/true
rm -f "$folder"/nothing/*/*.index.gait
for kind in csv json sqlite ctf pprof; do
    check "nothing to $kind" export_to "$kind" "$folder/nothing" "$folder/nothing.$kind"
done
check "no calls in csv" totals csv "$folder/nothing.csv"
check "no calls in sqlite" totals sqlite "$folder/nothing.sqlite"
check "no calls in pprof" show_pprof "$folder/nothing.pprof" "$folder/pprof.text"
refuses 1 '--follow block' coverage "$folder/nothing"
refuses 1 '--follow block' export -f lcov "$folder/nothing"

# ---- memory ----------------------------------------------------------------------------------------------------------

# peak_kib command...
peak_kib() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@" 2>"$folder/err"
}

record many -- "$folder/covered" 2000
checks=$((checks + 1))
calls=$("$gait" export -f csv "$folder/many" | wc -l)
[[ $calls -gt 900000 ]] || fail "only $calls calls in the large trace"
for kind in csv json sqlite ctf pprof drcov; do
    checks=$((checks + 1))
    small=$(peak_kib "$gait" export -f "$kind" "$folder/hooks" -o "$folder/small.$kind")
    large=$(peak_kib "$gait" export -f "$kind" "$folder/many" -o "$folder/large.$kind")
    # SQLite keeps up to 64 MiB of pages.
    allowed=$((small + 16384))
    [[ $kind != sqlite ]] || allowed=$((allowed + 98304))
    [[ $large -le $allowed ]] || fail "$kind takes $large KiB for many calls, $small KiB for few"
    rm -rf "$folder/large.$kind" "$folder/small.$kind"
done

finish
