/// The completions for zsh.
enum ZshCompletion {
    /// The file to put into `/usr/share/zsh/vendor-completions`, as `_pushctl`.
    static func text(of commands: [Command]) -> String {
        """
        #compdef pushctl
        # Completions of pushctl for zsh, made by "pushctl --generate zsh".

        local command word
        local -i is_value
        local -a known
        known=(
        \(commands.map { "    \(quoted("\($0.name):\(escapedColons($0.summary))"))" }.joined(separator: "\n"))
        )

        for word in "${(@)words[2,CURRENT-1]}"; do
            if (( is_value )); then
                is_value=0
                continue
            fi
            case $word in
            \(Option.namesWithValue(of: commands).joined(separator: "|"))) is_value=1 ;;
        \(commands.map(\.name).joined(separator: "|"))) command=$word; break ;;
            esac
        done

        case $command in
        \(commands.map(branch).joined(separator: "\n"))
        *)
            _arguments -S \\
        \(lines(of: Option.everywhere + [.generate])) \\
                '1:command:{ _describe command known }'
            ;;
        esac

        """
    }

    private static func branch(of command: Command) -> String {
        let words = command.operands.words
        let operands =
            command.takesFiles
            ? "'*:file:_files'" : words.isEmpty ? "'*: : '" : "'*:word:(\(words.joined(separator: " ")))'"
        return """
            \(command.name))
                _arguments -S \\
            \(lines(of: command.options + command.sharedOptions)) \\
                    '1: : ' \\
                    \(operands)
                ;;
            """
    }

    private static func lines(of options: [Option]) -> String {
        options.map { "        \(quoted(specification(of: $0)))" }.joined(separator: " \\\n")
    }

    /// The specification of an option for `_arguments`; `*` allows to repeat it.
    private static func specification(of option: Option) -> String {
        let help = option.help.map { "[]\\".contains($0) ? "\\\($0)" : String($0) }.joined()
        let value: String
        switch option.value {
        case .none: return "*--\(option.name)[\(help)]"
        case .text: value = ": "
        case .file: value = ":_files"
        case .directory: value = ":_directories"
        case .words(let words): value = ":(\(words.joined(separator: " ")))"
        case .list(_, let words): value = ":_values -s , \(option.name) \(words.joined(separator: " "))"
        }
        return "*--\(option.name)=[\(help)]:\(option.name)\(value)"
    }

    private static func escapedColons(_ text: String) -> String { text.split(separator: ":").joined(separator: "\\:") }

    /// A word in single quotes.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
