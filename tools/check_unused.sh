#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every global function has a caller in another file than its own and the tests: tools/check_unused.sh [tree]
# Looks at the objects in build/obj of the default configuration. What is public (gait_*), what assembly calls and what
# stands in a table counts as used, and so does what its own file calls and a test as well. Sources that are not built
# here, such as those of another CPU, count by their text. tests/UNUSED lists exceptions; that list may only shrink.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
NM=${NM:-gcc-nm}
failures=0
complain() {
    echo "$1"
    failures=$((failures + 1))
}

# Objects are build/obj/x.o of x.c or x.S; the agent's own have a folder of their own. What is left of sources that are
# gone is none.
sources=() objects=() unbuilt=()
while read -r source; do
    object=build/obj/${source%.*}.o
    [[ $source != src/agent/* || -e $object ]] || object=build/obj/agent/${source%.*}.o
    if [[ -e $object ]]; then
        sources+=("$source") objects+=("$object")
    else
        unbuilt+=("$source")
    fi
done < <(find src tools -name '*.[cS]' | LC_ALL=C sort)
((${#objects[@]} > 0)) || { echo "nothing is built: run make"; exit 1; }

# The lines "source name" of functions that no other object refers to.
without_user() {
    "$NM" -A "${objects[@]}" | awk '
        { at = index($0, ":"); object = substr($0, 1, at - 1); fields = split(substr($0, at + 1), field, " ") }
        field[fields - 1] == "U" { used[field[fields]] }
        field[fields - 1] == "T" { defined[field[fields]] = object }
        END { for (name in defined) if (!(name in used)) print defined[name], name }' |
        sed 's|^build/obj/\(agent/src/\)\{0,1\}|\1|; s|^agent/src/|src/|' |
        grep -v -E ' (gait_.*|main|__wrap_.*)$' | LC_ALL=C sort || true
}

# Whether a file has the name outside of comments more than so many times.
has_name() {
    local count

    count=$(sed 's|/\*.*\*/||; /^ *\/\{0,1\}\*/d' "$2" 2>/dev/null | grep -c -w -- "$1" || true)
    ((count > $3))
}

declare -A excepted=()
while read -r name _; do
    [[ -n $name && $name != \#* ]] || continue
    [[ -z ${excepted[$name]-} ]] || complain "tests/UNUSED lists $name twice"
    excepted[$name]=1
done <tests/UNUSED

declare -A found=()
while read -r object name; do
    source=${object%.o}.c
    [[ -e $source ]] || continue
    if ((${#unbuilt[@]} > 0)) && grep -q -w -- "$name" "${unbuilt[@]}" 2>/dev/null; then
        # The same function of another CPU does not use it.
        others=$(grep -l -w -- "$name" "${unbuilt[@]}" | grep -v "/${source##*/}$" || true)
        [[ -z $others ]] || continue
    fi
    is_tested=no
    ! grep -q -r -w -- "$name" tests --include='*.[chS]' --include='*.sh' 2>/dev/null || is_tested=yes
    if has_name "$name" "$source" 1; then
        [[ $is_tested == no ]] || continue
        said="$source: $name is called in its own file alone: make it static"
    elif [[ $is_tested == yes ]]; then
        said="$source: only tests call $name"
    else
        said="$source: nothing calls $name"
    fi
    found[$name]=1
    [[ -n ${excepted[$name]-} ]] || complain "$said"
done < <(without_user)

for name in "${!excepted[@]}"; do
    [[ -n ${found[$name]-} ]] || complain "tests/UNUSED lists $name, which is used or gone: remove the line"
done
echo "${#objects[@]} objects, ${#excepted[@]} exceptions"
[[ $failures == 0 ]]
