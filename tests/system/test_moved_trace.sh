#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Traces that are read where the programs are gone, or others: functions have the names that they had when they were
# recorded, since these were kept; and traces as one file. Nothing that is damaged, or has no room, does harm.
# configurations: debug-gcc
# time limit: 180 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

bin=$folder/bin
source=tests/system/programs/moved_calls.c
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"

# build flags...: all of it anew, with these flags for the compiler
build() {
    rm -rf "$bin"
    mkdir "$bin"
    gcc -O1 -fPIC -shared -DLIBRARY "$@" -o "$bin/liborders.so" "$source" &&
        gcc -O1 -fPIC -shared -DPLUGIN=plugin_a "$@" -o "$bin/plugin_a.so" "$source" &&
        gcc -O1 -fPIC -shared -DPLUGIN=plugin_b "$@" -o "$bin/plugin_b.so" "$source" &&
        gcc -O1 -DPROGRAM "$@" -o "$bin/moved" "$source" -L"$bin" -lorders -Wl,-rpath,"$bin" || exit 1
}

# record options...: $trace is what it leaves
record() {
    rm -rf "$folder/traces"
    checks=$((checks + 1))
    "$gait" spawn --quiet -o "$folder/traces" --times --follow call,ret --exclude 'libc.so*' --exclude 'ld-linux*' \
        --stack leaf "$@" -- "$bin/moved" "$bin" >"$folder/said" 2>"$folder/err" </dev/null || fail "cannot record"
    [[ ! -s $folder/err ]] || fail "recording says something"
    trace=$(echo "$folder"/traces/*)
}

# show trace name: all that commands say of it; what is only about files is left out
show() {
    mkdir -p "$folder/$2"
    checks=$((checks + 1))
    "$gait" dump events "$1" >"$folder/$2/events" 2>"$folder/err" || fail "dump events $1"
    "$gait" dump details "$1" >"$folder/$2/details" 2>"$folder/err" || fail "dump details $1"
    XDG_CACHE_HOME="$folder/cache-$2" "$gait" stacks "$1" >"$folder/$2/stacks" 2>"$folder/err" || fail "stacks $1"
    "$gait" report --limit 1000 "$1" >"$folder/$2/report" 2>"$folder/err" || fail "report $1"
    "$gait" replay "$1" >"$folder/$2/replay" 2>"$folder/err" || fail "replay $1"
    [[ ! -s $folder/err ]] || fail "something is said of $1"
}

# same left right "what" [files...]
same() {
    local left=$1 right=$2 what=$3 file
    shift 3
    [[ $# != 0 ]] || set -- events details stacks report replay
    for file in "$@"; do
        checks=$((checks + 1))
        diff "$folder/$left/$file" "$folder/$right/$file" >"$folder/diff" || fail "$what: $file" "$folder/diff"
    done
}

# has "text" file "what"
has() {
    checks=$((checks + 1))
    grep -q -F -- "$1" "$2" || fail "$3: there is no '$1'" "$2"
}

has_not() {
    checks=$((checks + 1))
    ! grep -q -F -- "$1" "$2" || fail "$3: there is '$1'" "$2"
}

# ---- nothing to be named -------------------------------------------------------------------------------------------
"$gait" spawn --quiet -o "$folder/nothing" --follow none -- true || fail "cannot record true"
check "where nothing was recorded no names are kept" test ! -e "$(echo "$folder"/nothing/*)/names"

# ---- programs that are gone ----------------------------------------------------------------------------------------
build -g
record
read -r _ same_places <"$folder/said"
check "plugins come to the same place" test "$same_places" -gt 10
show "$trace" before
for name in leaf library_work library_inside plugin_a plugin_b library_work@plt; do
    has "$name" "$folder/before/events" "events"
    [[ $name == library_work@plt ]] || has "$name" "$folder/before/report" "report"
done
has plugin_a+ "$folder/before/stacks" "stacks"
has plugin_b+ "$folder/before/stacks" "stacks"
check "each plugin is called as often" test \
    "$(grep -c -P '\tcall\t.*\tplugin_a$' "$folder/before/events")" = 20 -a \
    "$(grep -c -P '\tcall\t.*\tplugin_b$' "$folder/before/events")" = 20
# The program, its library, two plugins, libc and its loader, and what the kernel maps.
check "names of each file are kept once" test "$(find "$trace/names" -name '*.gait' | wc -l)" -le 8
has "good" <("$gait" verify "$trace") "verify"
check "a packed trace" "$gait" pack "$trace" -o "$folder/moved.gaitpack" >"$folder/out"
has "lines of" "$folder/out" "pack"

mv "$bin" "$folder/hidden"
show "$trace" gone
same before gone "names of files that are gone" events report replay
# Lines are not kept in a trace that is not packed.
without_lines() {
    checks=$((checks + 1))
    sed 's/ (moved_calls.c:[0-9]*)//' "$folder/before/stacks" | diff - "$folder/$1/stacks" >"$folder/diff" ||
        fail "stacks of files that are $1" "$folder/diff"
}
has "(moved_calls.c:" "$folder/before/stacks" "lines"
without_lines gone

# ---- programs that are others --------------------------------------------------------------------------------------
build -g -DOTHER -O0
show "$trace" changed
same before changed "names of files that have changed" events
without_lines changed
has "moved (has changed since; the names are those that were kept)" "$folder/changed/report" "report"
has "plugin_a.so (has changed since; the names are those that were kept)" "$folder/changed/report" "report"
checks=$((checks + 1))
sed 's/ (has changed since; the names are those that were kept)//' "$folder/changed/report" |
    diff "$folder/before/report" - >"$folder/diff" || fail "report of changed files" "$folder/diff"

# ---- one file ------------------------------------------------------------------------------------------------------
rm -rf "$bin"
mv "$trace" "$folder/moved_trace"
show "$folder/moved.gaitpack" packed
# With lines.
same before packed "a packed trace"
check "a packed trace is good" "$gait" verify "$folder/moved.gaitpack" >"$folder/out"
check "nothing is left behind" test -z "$(ls -A "$TMPDIR")"
"$gait" dump events "$folder/moved.gaitpack" | head -n 1 >"$folder/out"
is_tidy() { [[ -z $(ls -A "$TMPDIR") ]]; }
until_true "what is unpacked goes, also if nobody reads it to its end" is_tidy
# More is dumped than goes into a pipe, so this one waits for a reader.
check "a larger trace" "$gait" spawn --quiet -o "$folder/large" --follow block -- /bin/true
check "a larger pack" "$gait" pack "$folder"/large/* -o "$folder/large.gaitpack" >"$folder/out"
is_unpacking() { ! is_tidy; }
mkfifo "$folder/fifo"
"$gait" dump events "$folder/large.gaitpack" >"$folder/fifo" &
started+=($!)
exec 3<"$folder/fifo"
until_true "it is unpacked" is_unpacking
kill -KILL $! 2>/dev/null
exec 3<&-
wait $! 2>/dev/null
started=()
until_true "what is unpacked goes, also if gait is killed" is_tidy

check "unpacking" "$gait" unpack "$folder/moved.gaitpack" "$folder/unpacked" >"$folder/out"
show "$folder/unpacked" unpacked
same before unpacked "an unpacked trace"
# Lines, without the program.
id=$(readelf -n "$folder/hidden/liborders.so" | awk '/Build ID/ { print $3 }')
address=$(nm "$folder/hidden/liborders.so" | awk '$3 == "library_work" { print $1 }')
addr2line -f -e "$folder/unpacked/debug/.build-id/${id:0:2}/${id:2}.debug" "0x$address" >"$folder/line"
has "library_work" "$folder/line" "lines"
checks=$((checks + 1))
addr2line -f -e "$folder/hidden/liborders.so" "0x$address" | diff - "$folder/line" >"$folder/diff" || fail "lines" "$folder/diff"
refuses 1 "it is there already" pack "$folder/unpacked" -o "$folder/moved.gaitpack"
refuses 1 "it is packed already" pack "$folder/moved.gaitpack" -o "$folder/twice.gaitpack"
trace=$folder/moved_trace

# ---- files without build IDs ---------------------------------------------------------------------------------------
build -Wl,--build-id=none
record
show "$trace" before
has_not "changed" "$folder/before/report" "report"
cp -r "$bin" "$folder/copy"
rm -rf "$bin"
show "$trace" gone
same before gone "files without IDs that are gone"
cp -r "$folder/copy" "$bin"
show "$trace" copied
same before copied "copies of files without IDs"
build -Wl,--build-id=none -DOTHER -O0
show "$trace" changed
same before changed "files without IDs that have changed" events stacks
has "moved (has changed since; the names are those that were kept)" "$folder/changed/report" "report"

# ---- names that are not kept ---------------------------------------------------------------------------------------
build
record --keep-names no
check "no names are kept" test ! -e "$trace/names"
show "$trace" before
cp -r "$trace" "$folder/unkept"
"$gait" pack "$trace" -o "$folder/later.gaitpack" >"$folder/out" || fail "packing later"
rm -rf "$bin"
"$gait" report "$folder/unkept" >"$folder/out" 2>&1
has "moved+0x" "$folder/out" "names that were not kept"
has "(is gone)" "$folder/out" "names that were not kept"
show "$folder/later.gaitpack" packed
same before packed "names that are packed"
build
echo 'keep-names = "no"' >"$folder/options"
record --config "$folder/options"
check "no names are kept, as the file says" test ! -e "$trace/names"
refuses 2 "--keep-names is maybe; it should be yes or no" spawn --keep-names maybe -- true

# ---- many processes ------------------------------------------------------------------------------------------------
rm -rf "$folder/traces"
# shellcheck disable=SC2016
"$gait" spawn --quiet -o "$folder/traces" -- bash -c 'for i in 1 2 3 4; do "$0" "$1" & done; wait' "$bin/moved" "$bin" \
    >"$folder/out" 2>"$folder/err" || fail "cannot record several processes"
trace=$(echo "$folder"/traces/*)
check "there are several processes" test "$(find "$trace" -name modules.gait | wc -l)" -ge 5
check "names of several processes are kept once" test "$(find "$trace/names" -name '*.gait' | wc -l)" -le 12

# ---- damage --------------------------------------------------------------------------------------------------------
record
rm -rf "$bin"
show "$trace" before
RANDOM=7
# damage file copy: another one with a bit that is wrong, or without its end
damage() {
    local size at byte
    size=$(stat -c %s "$1")
    at=$(((RANDOM << 15 | RANDOM) % size))
    cp "$1" "$2"
    if ((RANDOM % 2)); then
        truncate -s "$at" "$2"
    else
        byte=$(($(od -An -tu1 -j "$at" -N 1 "$1") ^ 1 << RANDOM % 8))
        # shellcheck disable=SC2059
        printf "\\x$(printf %02x "$byte")" | dd of="$2" bs=1 seek="$at" conv=notrunc status=none
    fi
}

# survives arguments...: it ends with 0, or with 1 and a message
survives() {
    local status
    checks=$((checks + 1))
    timeout 60 "$gait" "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    [[ $status == 0 || ($status == 1 && -s $folder/err) ]] || fail "gait $* ends with $status"
}

names=$(grep -l "$bin/moved" "$trace"/names/*.gait 2>/dev/null | head -n 1)
[[ -n $names ]] || names=$("$gait" verify "$trace" | awk -v path="$bin/moved" '$NF == path { print $1 }')
[[ $names == /* ]] || names=$trace/$names
cp "$names" "$folder/good_names"
for ((i = 0; i < 60; i++)); do
    damage "$folder/good_names" "$names"
    survives report "$trace"
    if grep -q -F "names that were kept are damaged" "$folder/out"; then
        has "moved+0x" "$folder/out" "damaged names"
        refuses 1 "cannot vouch for" verify "$trace"
    fi
done
: >"$names"
"$gait" report "$trace" >"$folder/out" 2>&1
has "cannot be used, and the names that were kept are damaged" "$folder/out" "empty names"
cp "$folder/good_names" "$names"
show "$trace" again
same before again "names that are good again"
for ((i = 0; i < 60; i++)); do
    damage "$folder/moved.gaitpack" "$folder/damaged.gaitpack"
    survives report "$folder/damaged.gaitpack"
done
check "nothing is left behind by what is damaged" test -z "$(ls -A "$TMPDIR")"
head -c 100000 "$folder/moved.gaitpack" >"$folder/damaged.gaitpack"
refuses 1 "damaged.gaitpack" report "$folder/damaged.gaitpack"
refuses 1 "not all of it" report "$trace/names/${names##*/}"
refuses 1 "nor a packed trace" report "$source"

# ---- a full disk ---------------------------------------------------------------------------------------------------
build
if unshare -rm true 2>/dev/null; then
    mkdir "$folder/small"
    # shellcheck disable=SC2016
    unshare -rm bash -c '
        mount -t tmpfs -o size=48k none "$1" || exit 9
        "$2" spawn -o "$1" --hook "leaf" -- "$3/moved" "$3"
        echo "status $?"
        "$2" verify "$1"/moved-*
        find "$1" -name "*.new"' bash "$folder/small" "$gait" "$bin" >"$folder/out" 2>"$folder/err"
    has "status 0" "$folder/out" "a full disk"
    has "cannot keep the names of functions in the trace: No space left on device" "$folder/err" "a full disk"
    has ", 0 bad, 0 missing" "$folder/out" "a full disk"
    has_not ".new" "$folder/out" "a full disk"
    # shellcheck disable=SC2016
    unshare -rm bash -c 'mount -t tmpfs -o size=64k none "$1" && TMPDIR=$1 "$2" report "$3"; ls -A "$1"' bash "$folder/small" \
        "$gait" "$folder/moved.gaitpack" >"$folder/out" 2>"$folder/err"
    has "TMPDIR can name another place" "$folder/err" "no room to unpack"
    check "nothing is left where there is no room" test ! -s "$folder/out"
else
    echo "no disk is made full: unshare may not be used here"
fi

finish
