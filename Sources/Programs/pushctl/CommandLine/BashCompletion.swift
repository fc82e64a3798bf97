/// The completions for bash.
enum BashCompletion {
    /// The file to put into `/usr/share/bash-completion/completions`.
    static func text(of commands: [Command]) -> String {
        """
        # Completions of pushctl for bash, made by "pushctl --generate bash".

        _pushctl() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
            local command= options= word

            # --option=value comes as three words.
            [[ $current == = ]] && current=
            [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}

            for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                case $word in
        \(names(of: commands))) command=$word; break ;;
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
        \(names(of: commands.filter(\.takesFiles)))) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
                esac
            fi
        }

        complete -o filenames -F _pushctl pushctl

        """
    }

    private static func names(of commands: [Command]) -> String {
        "            " + commands.map(\.name).joined(separator: "|")
    }

    /// What may follow an option: in one command, then in every command.
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
        case .file: action = "mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); "
        case .directory: action = "mapfile -t COMPREPLY < <(compgen -d -- \"$current\"); "
        case .words(let words):
            action = "mapfile -t COMPREPLY < <(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"); "
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
