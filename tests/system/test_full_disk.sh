#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a full disk the recording ends, and the program goes on; what was not written is counted, by thread, and told: when
# the recording ends, in the report, and in the table of losses. That nothing was lost is never said then.
# configurations: debug-gcc
# time limit: 300 s
if [[ -z ${GAIT_TEST_OWN_MOUNTS-} ]]; then
    export GAIT_TEST_OWN_MOUNTS=1
    unshare -m true 2>/dev/null && exec unshare -m "$0"
    unshare -rm true 2>/dev/null && exec unshare -rm "$0"
    echo "skipped: no file system can be mounted here"
    exit 77
fi
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -pthread -o "$folder/busy" tests/system/programs/busy_threads.c || exit 1
disk=$folder/disk
mkdir "$disk"
clean_up() {
    [[ ${#started[@]} == 0 ]] || kill -KILL "${started[@]}" 2>/dev/null
    umount "$disk"
    rm -rf "$folder"
}
mount -t tmpfs -o size=3m tmpfs "$disk" || { echo "skipped: no file system can be mounted here"; exit 77; }

# lost_of: the bytes that the table of losses has of what was not written
lost_of() {
    "$gait" query --csv "$disk"/busy-* "select coalesce(sum(bytes), 0) from losses where reason = 'not written'" \
        2>"$folder/err" | tail -n 1
}

# is_honest WHAT: what the recording that ended in $disk has told, in $folder/said
is_honest() {
    local what=$1 lost
    check "$what: nothing lost, it says" test "$(grep -c 'nothing lost' "$folder/said")" = 0
    check "$what: it is not said why it ended" \
        test "$(grep -c 'the disk is full: the recording ends here' "$folder/said")" = 1
    check "$what: nobody says how much was lost" \
        grep -qE '^gait: [0-9.]+ [a-zA-Z]+ of event records could not be written: [0-9.]+ [a-zA-Z]+ of thread [0-9]+ \(busy\)' "$folder/said"
    check "$what: the rest is not told" grep -q '^gait: what the program did after that was not recorded' "$folder/said"
    check "$what: the trace is no good" "$gait" verify "$disk"/busy-* >"$folder/err" 2>&1
    "$gait" report "$disk"/busy-* >"$folder/report" 2>&1
    check "$what: the report does not say it" grep -qE '^ended +disk full' "$folder/report"
    check "$what: the report says that nothing is lost" \
        grep -qE '^lost +[0-9,]+ bytes of records, and what came after' "$folder/report"
    if is_built_with libsqlite3; then
        lost=$(lost_of)
        check "$what: no losses in the table" test "${lost:-0}" -gt 0
        check "$what: report and table differ" \
            grep -qE "^process [0-9]+ lost $lost bytes of records that could not be written" "$folder/report"
    fi
}

# records WHAT OPTIONS...: a program that goes on behind what is too much for the disk
records() {
    local what=$1
    shift
    rm -rf "${disk:?}"/*
    "$gait" spawn --times -o "$disk" "$@" -- "$folder/busy" 2000000 >"$folder/out" 2>"$folder/said"
    check "$what: another status" test $? = 7
    check "$what: another output" test "$(sort -u "$folder/out" | tr -d '\n')" = 2000000
    is_honest "$what"
}

records hooked
records "in pieces" --rotate 1M
records followed --follow call,ret
# A window that is larger than the disk.
records "of a flight" --flight --trigger symbol=run --post-roll-sec 100

# What is kept for a trigger, and is to be written all at once.
rm -rf "${disk:?}"/*
"$gait" spawn --times -o "$disk" --flight --trigger crash -- bash -c "$folder/busy 2000000; kill -SEGV \$\$" \
    >"$folder/out" 2>"$folder/said"
check "kept for a crash: another status" test $? = 139
check "kept for a crash: nothing lost, it says" test "$(grep -c 'nothing lost' "$folder/said")" = 0
check "kept for a crash: no loss is told" grep -q 'of event records could not be written' "$folder/said"

# There is enough for pieces that go again.
rm -rf "${disk:?}"/*
"$gait" spawn --times -o "$disk" --rotate 64K --keep 2 -- "$folder/busy" 20000 >"$folder/out" 2>"$folder/said"
check "with pieces that go: a loss" grep -q 'nothing lost' "$folder/said"

# Somebody else takes the last byte: what the trace says of itself still has room.
rm -rf "${disk:?}"/*
bash -c 'while :; do :; done' &
pid=$!
started+=("$pid")
"$gait" attach --syscalls --follow call -o "$disk" "$pid" >"$folder/out" 2>"$folder/said" &
recorder=$!
until_true "it is not attached to" grep -q Ctrl-C "$folder/said"
until_true "nothing is written" compgen -G "$disk/pid-*/manifest.json" >"$folder/out"
until_true "nothing is written" grep -q '"tid"' "$disk"/pid-*/manifest.json
dd if=/dev/zero of="$disk/other" bs=1k 2>"$folder/out"
wait "$recorder"
check "filled by another: another status" test $? = 1
check "filled by another: nothing lost, it says" test "$(grep -c 'nothing lost' "$folder/said")" = 0
"$gait" report "$disk"/pid-* >"$folder/report" 2>&1
check "filled by another: the trace does not say it" grep -qE '^ended +disk full' "$folder/report"
check "filled by another: nothing is lost, it says" grep -qE '^lost .*what came after' "$folder/report"

finish
