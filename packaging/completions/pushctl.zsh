#compdef pushctl
# Completions of pushctl for zsh. The program names the candidates.

local line name meaning before=${(M)PREFIX#--*=}
local -a options others comma
for line in "${(@f)$(${(Q)words[1]} --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    name=${${line%%$'\t'*}#$before} meaning=${line#*$'\t'}
    case $name in
        '') ;;
        :files) compset -p $#before; _files; return ;;
        :directories) compset -p $#before; _directories; return ;;
        :list) before=${PREFIX%${PREFIX##*[,=]}} comma=(-qS ,) ;;
        *=) options+=("${name%=}:$meaning") ;;
        $line) others+=("${name//:/\\:}") ;;
        *) others+=("${name//:/\\:}:$meaning") ;;
    esac
done
compset -p $#before
_describe -o option options -S =
_describe candidate others $comma
