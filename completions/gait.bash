# SPDX-License-Identifier: MIT
# Completion of gait for bash: gait itself knows what may come next; files where it knows nothing.
_gait() {
    local words=() i word before=' ' last

    # bash divides words at colons and equals signs: they are put together again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && [[ $word == [:=]* || $before == *[:=] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        before=$word
    done

    # Behind "gait spawn ... --" is another command line.
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            COMPREPLY=()
            if [[ $(type -t _command_offset) == function ]]; then
                _command_offset $((i + 1))
            elif ((i + 1 == COMP_CWORD)); then
                mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
            fi
            return
        fi
    done
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null)
    # What stands before the last colon or equals sign is typed already, as bash sees it.
    last=${words[-1]}
    if [[ $last == *[:=]* && $COMP_WORDBREAKS == *:* ]]; then
        last=${last%"${last##*[:=]}"}
        COMPREPLY=("${COMPREPLY[@]#"$last"}")
    fi
    # More may follow.
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -o bashdefault -F _gait gait
