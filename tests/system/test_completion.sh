#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What shells offer behind "gait": bash always, zsh and fish where they are installed.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

mkdir "$folder/bin"
ln -s "$(readlink -f "$gait")" "$folder/bin/gait"
export PATH="$folder/bin:$PATH"

# bash_offers words...: the last one is completed
bash_offers() {
    bash --norc -c 'source completions/gait.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gait; printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

# offers shell expected words...
offers() {
    local shell=$1 expected=$2
    shift 2
    checks=$((checks + 1))
    "${shell}_offers" "$@" >"$folder/offered" 2>"$folder/err"
    [[ $(sort "$folder/offered" | tr '\n' ' ') == "$expected" ]] || fail "$shell: $*" "$folder/offered"
}

offers bash 'replay report ' gait rep
offers bash 'block details events relocation ' gait dump ''
offers bash '--sort ' gait report trace --so
offers bash ' ' gait report not_there
offers bash 'file function ' gait report --by f
offers bash 'call,ret ' gait spawn --follow call,r
offers bash 'flamegraph folded ' gait export -f f
# bash divides words at colons and equals signs, and replaces what is behind the last one.
offers bash 'page-faults ' gait probe software : page-f
offers bash 'call,ret ' gait spawn --follow = call,r
checks=$((checks + 1))
bash_offers gait spawn -- bas >"$folder/offered"
grep -q -x bash "$folder/offered" || fail "bash: another program" "$folder/offered"

if command -v fish >/dev/null; then
    fish_offers() {
        local line="$*"
        fish --no-config -c "source completions/gait.fish; complete -C '$line'" | cut -f 1
    }
    offers fish 'replay report ' gait rep
    offers fish '--sort ' gait report trace --so
    offers fish 'flamegraph folded ' gait export -f f
else
    echo 'not installed: fish'
fi

if command -v zsh >/dev/null; then
    checks=$((checks + 1))
    zsh -n completions/_gait 2>"$folder/err" || fail "zsh does not understand its script" "$folder/err"
else
    echo 'not installed: zsh'
fi

finish
