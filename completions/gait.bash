# SPDX-License-Identifier: MIT
# Completion of gait for bash: gait itself knows what may come next; files where it knows nothing.
_gait() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") i

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
}
complete -o default -o bashdefault -F _gait gait
