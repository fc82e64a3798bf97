# Completions of pushctl for fish. The program names the candidates.

function __pushctl_candidates --description "The candidates for the last word of the line"
    set -l words (commandline -opc) (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' (commandline -ct))
    set -l value (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    for line in ($words[1] --complete $words[2..] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$value" | string replace -r -- '^' "$before"
            case :directories
                __fish_complete_directories "$value" | string replace -r -- '^' "$before"
            case :list
            case '*'
                string replace -- =\t \t $line
        end
    end
end

complete -c pushctl -f -a '(__pushctl_candidates)'
