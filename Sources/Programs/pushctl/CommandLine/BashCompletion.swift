/// The completions for bash.
enum BashCompletion {
    /// The file to put into `/usr/share/bash-completion/completions`.
    static func text(of commands: [Command]) -> String {
        """
        # Completions of pushctl for bash, made by "pushctl --generate bash".

        _pushctl() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
            local command= options= i

            # --option=value comes as three words.
            [[ $current == = ]] && current=
            [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}

            for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
        \(indent)\(Option.namesWithValue(of: commands).joined(separator: "|")))
                    # Its value is the next word.
                    [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
                    ((i++)) ;;
        \(names(of: commands))) command=${COMP_WORDS[i]}; break ;;
                esac
            done

            case $command:$previous in
        \(values(of: commands))
            esac

            if [[ $current == -* ]]; then
                case $command in
        \(options(of: commands))
                esac
                mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
            elif [[ -z $command ]]; then
                mapfile -t COMPREPLY < <(compgen -W "\(commands.map(\.name).joined(separator: " "))" -- "$current")
            else
                case $command in
        \(names(of: commands.filter(\.takesFiles)))) \(files("-f")) ;;
        \(commands.filter { !$0.operands.words.isEmpty }.map(operands).joined(separator: "\n"))
                esac
            fi
        }

        complete -F _pushctl pushctl

        """
    }

    private static func names(of commands: [Command]) -> String {
        indent + commands.map(\.name).joined(separator: "|")
    }

    private static let indent = String(repeating: " ", count: 12)

    private static func operands(of command: Command) -> String {
        "\(indent)\(command.name)) \(words(command.operands.words)) ;;"
    }

    /// Completes names of files or directories. compopt is called only here: elsewhere a word may name a directory by
    /// chance.
    private static func files(_ kind: String) -> String {
        "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen \(kind) -- \"$current\")"
    }

    private static func words(_ words: [String]) -> String {
        "mapfile -t COMPREPLY < <(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\")"
    }

    /// Completes the last of several words; a comma may follow.
    private static func list(of words: [String]) -> String {
        "compopt -o nospace 2>/dev/null; mapfile -t COMPREPLY < <(compgen -P \"${current%\"${current##*,}\"}\" "
            + "-W \"\(words.joined(separator: " "))\" -- \"${current##*,}\")"
    }

    /// The completions of option values: first those of one command, then those of every command.
    private static func values(of commands: [Command]) -> String {
        let own = commands.flatMap { command in command.options.map { value(of: $0, after: command.name) } }
        let shared = (Option.everywhere + [.generate]).map { value(of: $0, after: "*") }
        return (own + shared).compactMap(\.self).joined(separator: "\n")
    }

    private static func value(of option: Option, after command: String) -> String? {
        let action: String
        switch option.value {
        case .none: return nil
        case .text: action = ""
        case .file: action = files("-f") + "; "
        case .directory: action = files("-d") + "; "
        case .words(let known): action = words(known) + "; "
        case .list(_, let known): action = list(of: known) + "; "
        }
        return "        \(command):--\(option.name)) \(action)return ;;"
    }

    private static func options(of commands: [Command]) -> String {
        let known = commands.map { command in
            "            \(command.name)) options=\"\(list(command.options + command.sharedOptions))\" ;;"
        }
        return (known + ["            *) options=\"\(list(Option.everywhere + [.generate]))\" ;;"])
            .joined(separator: "\n")
    }

    private static func list(_ options: [Option]) -> String {
        options.map { "--\($0.name)" }.joined(separator: " ")
    }
}
