#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No leftovers in the tree: tools/check_words.sh [tree]
# Neither notes to oneself nor paths of the machine that a file was written on.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

# Written so that they do not find themselves.
notes='\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b'
paths='(^|[^[:alnum:]_.-])/(h[o]me|r[o]ot|w[o]rk|U[s]ers)/[[:alnum:]]'

if grep -r -n -I -E --exclude-dir=build --exclude-dir=.git --exclude=.git --exclude=compile_commands.json \
    -e "$notes" -e "$paths" .; then
    echo "leftovers, see above"
    exit 1
fi
echo "nothing left over"
