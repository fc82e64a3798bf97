# Completions of pushctl for bash. The program names the candidates.

_pushctl() {
    local current=${COMP_WORDS[COMP_CWORD]} line
    # --option=value comes as three words.
    [[ $current != = ]] || current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
            :directories) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
            :list) compopt -o nospace 2>/dev/null ;;
            *) line=${line%%$'\t'*}; COMPREPLY+=("${line%=}") ;;
        esac
    done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -F _pushctl pushctl
