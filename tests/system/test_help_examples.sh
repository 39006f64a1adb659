#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the help of each command shows as examples can be typed: each line runs on real programs, processes and traces,
# which take the places of those that the help names.
# configurations: debug-gcc
# time limit: 180 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

allowed=$("$gait" doctor --json)
works() {
    grep -q "\"subject\": \"$1\".*\"works\": \"yes\"" <<<"$allowed"
}

mkdir "$folder/bin" "$folder/work"
ln -s "$(readlink -f "$gait")" "$folder/bin/gait"
export PATH="$folder/bin:$PATH"
cd "$folder/work" || exit 1

# ---- what the examples name
cat >program.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int parse_line(const char *line);
int parse(const char *line);
int handle(int number);
int parse_line(const char *line) { return memmem(line, 2, "2", 1) != NULL ? atoi(line) : 0; }
int parse(const char *line) { return parse_line(line) + (getpid() == 0); }
int handle(int number) { free(malloc(5000)); return number + 1; }
static void *work(void *sum)
{
    for (int i = 0; i < 100; i++)
        *(int *)sum += handle(parse("12"));
    return NULL;
}
int main(int argc, char **argv)
{
    int sum = 0;
    pthread_t thread;
    /* The other thread is called so from its beginning. */
    pthread_setname_np(pthread_self(), "worker1");
    do
        if (pthread_create(&thread, NULL, work, &sum) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    while (argc > 1 && argv[1][0] == 'f' && usleep(2000) == 0);
    return printf("%d\n", sum) < 0;
}
END
gcc -O1 -g -fno-inline -pthread -o program program.c || exit 1
printf 'all:\n\t@perl -e "1 for 1 .. 1000000"\n' >Makefile
echo 'SELECT count(*) FROM calls;' >report.sql
address=0x$(nm program | sed -n 's/^0*\([0-9a-f]*\) . main$/\1/p')
gait spawn --quiet --hook '*' --hook 'libc.so*!memmem' --stack handle -o traces -- ./program >/dev/null || fail "no trace by hooks"
gait spawn --quiet --follow block --exclude 'libc.so*' --exclude 'ld-linux*' -o followed -- ./program >/dev/null || fail "no trace of blocks"
trace=$(echo traces/*) followed=$(echo followed/*)
cp -r "$trace" trace
cp -r "$trace" before
cp -r "$trace" after
./program forever >/dev/null &
started+=($!)
process=$!

# The line with what there is here in the place of what it names.
fit() {
    local line=$1 recorded=$trace
    [[ $line != *coverage* && $line != *'-f lcov'* ]] || recorded=$followed
    sed -E -e "s,(traces/)?[a-z]+-[0-9]{8}-[0-9]{6},$recorded,g" -e "s,traces/program-1,$recorded,g" \
        -e "s,\bTRACE\b,$recorded,g" -e "s,\\\$\(pidof [a-z-]+\)|\b(4711|1234)\b,$process,g" -e "s,0x1139,$address,g" \
        -e 's,/tmp/,,g' -e 's,--duration 5,--duration 1,' -e 's,watch -n 1 ,,' <<<"$line"
}

# Whether the machine lets it be tried.
is_possible() {
    local word
    for word in jq genhtml; do
        [[ " $1" != *" $word "* ]] || command -v "$word" >/dev/null || return 1
    done
    case $1 in
        *tracepoint:*) works tracepoint ;;
        *uprobe:*) works uprobe && works tracepoint ;;
        *profile:*) works profile ;;
        'gait query '* | *sqlite*) is_built_with libsqlite3 ;;
        'gait find --probes '*) is_built_with libdw ;;
        *) true ;;
    esac
}

# Those that go on until they are told to end.
is_endless() {
    case $1 in
        *--duration* | *' -- '*) false ;;
        *' -p '* | *' attach '*) true ;;
        *) false ;;
    esac
}

# Those that talk to a recording need one.
begin_recording() {
    case $1 in
        'gait detach '* | 'gait trigger '* | 'gait stats '*) ;;
        *) return ;;
    esac
    gait attach --quiet --flight --trigger manual -o attached "$process" 2>attached.err &
    recorder=$!
    until_true 'the recording has begun' gait stats "$process" >/dev/null 2>&1
}

end_recording() {
    [[ -n $recorder ]] || return
    kill -INT "$recorder" 2>/dev/null
    wait "$recorder"
    recorder=
}

# try COMMAND LINE: as it stands in the help of the command
try() {
    local line limit=60 status
    line=$(fit "$2")
    is_possible "$line" || { echo "cannot be tried here: $line"; return; }
    checks=$((checks + 1))
    recorder=
    begin_recording "$line"
    ! is_endless "$line" || limit=1
    timeout --preserve-status -s INT "$limit" bash -o pipefail -c "$line" <report.sql >"$folder/out" 2>"$folder/err"
    status=$?
    [[ $line != *"| head"* || $status != 141 ]] || status=0 # it stops reading
    [[ $line != *'-e inject='* || $status != 1 ]] || status=0 # cat is refused its file, and says so
    ((status == 0)) || fail "gait help $1: status $status: $line"
    ! grep -E 'gait: (cannot|warning)|usage:' "$folder/err" >"$folder/said" || fail "gait help $1: $line" "$folder/said"
    end_recording
}

while read -r name; do
    # shellcheck disable=SC2086 # a name may be two words
    mapfile -t lines < <(gait help $name | sed '1,/^Examples:$/d; s/^  //')
    [[ ${lines[*]} == *"gait "* ]] || fail "the help of $name has no example"
    for line in "${lines[@]}"; do
        try "$name" "$line"
    done
done < <(gait help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p')

disown -a
finish
