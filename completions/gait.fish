# SPDX-License-Identifier: MIT
# Completion of gait for fish: gait itself knows what may come next; files where it knows nothing.
function __gait_offer
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    if contains -- -- $words
        return
    end
    $words[1] complete $words[2..-1] "$last" 2>/dev/null
end
complete -c gait -a '(__gait_offer)'
