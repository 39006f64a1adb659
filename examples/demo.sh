#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What gait can do today, in one go: examples/demo.sh, with GAIT_BUILD saying where it was built.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${GAIT_BUILD:-build}

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR-} ]]; then
    bold=$'\033[1m' plain=$'\033[0m'
fi

say() {
    printf '\n%s%s%s\n\n' "$bold" "$1" "$plain"
}

# Shows the command, then its first lines.
show() {
    local lines=$1
    shift
    printf '$ gait %s\n' "$*"
    # awk reads to the end, so that gait never writes into a closed pipe.
    "$build/gait" "$@" |
        awk -v lines="$lines" 'NR <= lines; END { if (NR > lines) print "   ... " NR - lines " more lines" }'
}

# Shows and runs an example.
run() {
    printf '$ %s\n' "$build/examples/$1"
    "$build/examples/$1"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Shows the command and what it says, on both ways out, with the folder's name left out.
show_all() {
    printf '$ %s\n' "${1//$folder\//}"
    (cd "$folder" && PATH=$gait_folder:$PATH bash -c "$1") 2>&1 | sed "s,$folder/,,g"
}
gait_folder=$(cd "$build" && pwd)

say '1. Recording a program: each call of its functions, with its times, from the first instruction to its end.'
show_all "gait spawn -- perl -e 'my %seen; \$seen{\$_ % 7} += \$_ for 1 .. 20000; print \"\$seen{3}\\n\"'"
show_all 'gait replay --depth 3 --limit 8'
show_all 'gait report --limit 5'
rm -rf "$folder/traces"

say '2. The flight recorder: nothing is written until something happens. Here a program dies.'
cat >"$folder/sums.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
struct item { struct item *next; int value; };
static int sum(struct item *item, int count) { return count == 0 ? 0 : item->value + sum(item->next, count - 1); }
int main(void)
{
    struct item *list = NULL;
    for (int i = 0; i < 5; i++) {
        struct item *item = malloc(sizeof(*item));
        *item = (struct item){list, i};
        list = item;
    }
    printf("%d\n", sum(list, 5));
    printf("%d\n", sum(list, 6));
}
END
"${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o "$folder/sums" "$folder/sums.c"
show_all 'gait spawn --flight --trigger crash -- ./sums; echo "status $?"' 2>/dev/null
show_all 'gait report traces/* | tail -n 18'
rm -rf "$folder/traces"

say '3. Looking into a process that runs, and leaving it as it was.'
perl -e 'for (;;) { select(undef, undef, undef, 0.01); $s += $_ for 1 .. 500; }' &
process=$!
trap 'kill $process; rm -rf "$folder"' EXIT
show_all "gait attach --duration 1 $process"
show_all 'gait report traces/* --limit 3 | tail -n 6'

say '4. A profile: where the time goes, by samples, of programs without frame pointers, too.'
if "$build/gait" doctor --json | grep -c '"subject": "profile".*"works": "yes"' >/dev/null; then
    # shellcheck disable=SC2016 # it is another shell that sees it
    show_all 'gait probe -o traces --stack profile:hz:999 -- perl -e "\$s{\$_ % 9} .= 1 for 1 .. 900000"'
    show_all 'gait graph --min-percent 10'
    rm -rf "$folder/traces"
else
    echo 'This user may not watch anything by the kernel here; gait doctor says why.'
fi

say '5. What it is made of, from here on. Machine code of any function of a program or library, by name.'
show 10 disassemble libc.so.6 bsearch

say '6. Moving machine code: a function of this process, copied so far away that every reference
   changes. Original on the left, copy on the right; then both run on the same input.'
"$build/examples/relocate_function"

say '7. The same for any function of a file, without running it. More: gait help, man gait.'
show 12 dump relocation libz.so.1 crc32_combine_op --far

say '8. Following a function: every call that it makes, in a tree, while it runs.'
run call_tree

say "9. The blocks of zlib's code that ran, counted by code put into each of them."
run coverage

say '10. Replacing an instruction: each rdtsc is answered by a function of ours.'
run replace_instruction

say '11. Changing arguments: probes on usleep() and puts() of libc.'
run probe_argument

say '12. Changing floating-point numbers: a hook that reads and writes vector registers.'
run double_argument

say '13. Call stacks of itself, taken also in a signal handler; names come afterwards.'
run own_stack
