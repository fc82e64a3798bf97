/// The completions for fish.
enum FishCompletion {
    /// The file to put into `/usr/share/fish/vendor_completions.d`.
    static func text(of commands: [Command]) -> String {
        """
        # Completions of pushctl for fish, made by "pushctl --generate fish".

        function __pushctl_command --description "The command of the line, where it has one"
            set -l isValue no
            for word in (commandline -opc)[2..]
                if test $isValue = yes
                    set isValue no
                else if contains -- $word \(Option.namesWithValue(of: commands).joined(separator: " "))
                    set isValue yes
                else if contains -- $word \(commands.map(\.name).joined(separator: " "))
                    echo $word
                    return 0
                end
            end
            return 1
        end

        function __pushctl_in --description "Whether the command of the line is one of these"
            set -l command (__pushctl_command); and contains -- $command $argv
        end

        complete -c pushctl -f
        \(commands.map(line).joined(separator: "\n"))
        \(line(of: .generate, where: "not __pushctl_command >/dev/null"))
        \(Option.everywhere.map { shared(by: commands, $0) }.joined(separator: "\n"))
        \(commands.flatMap { command in command.options.map { line(of: $0, where: "__pushctl_in \(command.name)") } }
            .joined(separator: "\n"))
        \(commands.filter { !$0.operands.words.isEmpty }.map(operands).joined(separator: "\n"))
        complete -c pushctl -n '__pushctl_in \(names(of: commands.filter(\.takesFiles)))' -F

        """
    }

    private static func line(of command: Command) -> String {
        "complete -c pushctl -n 'not __pushctl_command >/dev/null' -a \(command.name) -d \(quoted(command.summary))"
    }

    private static func operands(of command: Command) -> String {
        "complete -c pushctl -n '__pushctl_in \(command.name)' -a '\(command.operands.words.joined(separator: " "))'"
    }

    /// An option of every command, without the commands in which it means something else.
    private static func shared(by commands: [Command], _ option: Option) -> String {
        let others = commands.filter { !$0.sharedOptions.contains(option) }
        return line(of: option, where: others.isEmpty ? nil : "not __pushctl_in \(names(of: others))")
    }

    private static func line(of option: Option, where condition: String?) -> String {
        let value =
            switch option.value {
            case .none: ""
            case .text: " -x"
            case .file: " -r -F"
            case .directory: " -x -a '(__fish_complete_directories)'"
            case .words(let words): " -x -a '\(words.joined(separator: " "))'"
            case .list(_, let words): " -x -a '(__fish_append , \(words.joined(separator: " ")))'"
            }
        return "complete -c pushctl" + (condition.map { " -n '\($0)'" } ?? "") + " -l \(option.name)\(value)"
            + " -d \(quoted(option.help))"
    }

    private static func names(of commands: [Command]) -> String { commands.map(\.name).joined(separator: " ") }

    /// A word in single quotes, as fish reads them.
    private static func quoted(_ text: String) -> String {
        "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
