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

say '1. Reading machine code: any function of a program or library, by name.'
show 10 disassemble libc.so.6 bsearch

say '2. Moving machine code: a function of this process, copied so far away that every reference
   changes. Original on the left, copy on the right; then both run on the same input.'
"$build/examples/relocate_function"

say '3. The same for any function of a file, without running it. More: gait help, man gait.'
show 12 dump relocation libz.so.1 crc32_combine_op --far

say '4. Following a function: every call that it makes, in a tree, while it runs.'
run call_tree

say "5. The blocks of zlib's code that ran, counted by code put into each of them."
run coverage

say '6. Replacing an instruction: each rdtsc is answered by a function of ours.'
run replace_instruction

say '7. Changing arguments: probes on usleep() and puts() of libc.'
run probe_argument

say '8. Call stacks of itself: taken in nanoseconds, also in a signal handler; names come afterwards.'
run own_stack
