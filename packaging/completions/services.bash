# Completions of the daemon and its services for bash: the options that --help of the program at hand lists.

_pushrouter_service() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options
    [[ $current == = ]] && current=
    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
    case $previous in
        --config | --state | --runtime | --backups)
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            return
            ;;
        --textfile | --gateway)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
            ;;
    esac
    options=$("$1" --help 2>/dev/null | grep -oE '(^|[[:space:][])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u)
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -o filenames -F _pushrouter_service pushrouterd pushrouterd-fleet pushrouter-forward pushrouter-http pushrouter-metrics pushrouter-gateway pushrouter-web
