import Glibc
import TestSupport
import Testing

@Suite("The completions of other shells")
struct CompletionFileTests {
    private static let fish = "/usr/bin/fish"
    private static let zsh = "/usr/bin/zsh"
    private static let completions = packageRoot + "/packaging/completions"
    /// The completions ask the built program.
    private static let path =
        "PATH=" + pushctl.path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" } + ":/usr/bin:/bin"

    @Test(
        "complete commands, options and values in fish",
        .needs(program: fish, of: "fish"),
        arguments: [
            ("pushctl sh", "show"), ("pushctl --config /etc expl", "explain"), ("pushctl explain --pl", "--platform"),
            ("pushctl explain --platform a", "all android"), ("pushctl inject --app-state force_s", "force_stopped"),
            ("pushctl inject /etc/hostn", "/etc/hostname"), ("pushctl status /etc/passw", ""),
            ("pushctl --generate sc", "schema"), ("pushctl --state test rep", "replay report"),
            ("pushctl --state=test repo", "report"), ("pushctl export --event Open,Infl", "Open,InfluencedOpen"),
            ("pushctl report --by handler,pla", "handler,platform"), ("pushctl log-level war", "warning"),
            ("pushctl session st", "start"),
        ])
    func inFish(_ line: String, _ expected: String) {
        let directory = TemporaryDirectory()
        let script = #"source $argv[1]; complete --do-complete $argv[2]"#
        let result = Program(path: "/usr/bin/env")
            .run([
                "HOME=\(directory.path)", Self.path, Self.fish, "-c", script, Self.completions + "/pushctl.fish", line,
            ])
        #expect(result.errors.isEmpty, "\(result.errors)")
        let words = result.lines.map { String($0.prefix { $0 != "\t" }) }.filter { !$0.isEmpty }
        #expect(words.sorted() == expected.split(separator: " ").map(String.init))
    }

    @Test(
        "complete commands, options and values in zsh",
        .needs(program: zsh, of: "zsh"),
        arguments: [
            ("pushctl sh", "pushctl show "), ("pushctl --config /etc expl", "pushctl --config /etc explain "),
            ("pushctl explain --plat", "pushctl explain --platform="),
            ("pushctl explain --platform an", "pushctl explain --platform android "),
            ("pushctl inject --app-state force_s", "pushctl inject --app-state force_stopped "),
            ("pushctl inject /etc/hostn", "pushctl inject /etc/hostname "),
            ("pushctl status /etc/passw", "pushctl status /etc/passw"),
            ("pushctl --state test repo", "pushctl --state test report "),
            // A comma may follow; typing a space removes it.
            ("pushctl export --event Open,Infl", "pushctl export --event Open,InfluencedOpen,"),
            ("pushctl report --by handler,pla", "pushctl report --by handler,platform,"),
            ("pushctl log-level war", "pushctl log-level warning "),
        ])
    func inZsh(_ line: String, _ expected: String) {
        let directory = TemporaryDirectory()
        // The line editor runs in a pseudo-terminal; the script prints its buffer after a tab. The terminal may echo
        // typed text at any time, so the typed text of each marker differs from its printed form.
        let script = #"""
            zmodload zsh/zpty
            zpty shell "HOME=$3 $5 $4 -f -i"
            zpty -w shell "PROMPT= RPROMPT= fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
            zpty -w shell "compdef _pushctl pushctl; print-buffer() { print -r -- \"<\${:-}<\$BUFFER>\${:-}>\"; zle send-break }"
            zpty -w shell "zle -N print-buffer; bindkey '^X^P' print-buffer; setopt no_beep; zstyle ':completion:*' insert-tab false; print begin-${:-}now"
            zpty -r shell answer '*begin-now*'
            zpty -w -n shell "$2"$'\t\x18\x10'
            zpty -r shell answer '*<<*>>*'
            answer=${answer##*<<}
            print -r -- "${answer%%>>*}"
            zpty -d shell
            """#
        let functions = directory.path + "/functions"
        mkdir(functions, 0o755)
        _ = Program(path: "/bin/cp").run([Self.completions + "/pushctl.zsh", functions + "/_pushctl"])
        let result = Program(path: "/usr/bin/timeout")
            .run(["60", Self.zsh, "-f", "-c", script, "zsh", functions, line, directory.path, Self.zsh, Self.path])
        #expect(result.output == expected + "\n", "\(result.errors)")
    }

    @Test(
        "tell a command from a directory of the same name in bash",
        .needs(program: zsh, of: "zsh"),
        arguments: [
            ("pushctl tes", "pushctl test "), ("pushctl verify --config tes", "pushctl verify --config test/"),
            ("pushctl export --event Open,Infl", "pushctl export --event Open,InfluencedOpen"),
        ])
    func inBash(_ line: String, _ expected: String) {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/test", 0o755)
        let settings = #"""
            PS1=
            . \#(Self.completions)/pushctl.bash
            show() { printf '<<%s>>\n' "$READLINE_LINE"; READLINE_LINE=; }
            bind 'set bell-style none'
            bind -x '"\C-g": show'
            echo begin-now

            """#
        writeFile(settings, to: directory.path + "/bashrc")
        let script = #"""
            zmodload zsh/zpty
            cd $3
            zpty shell "env TERM=dumb HOME=$3 $4 /bin/bash --noprofile --rcfile $3/bashrc -i"
            zpty -r shell answer '*begin-now*'
            zpty -w -n shell "$2"$'\t\x07'
            zpty -r shell answer '*<<*>>*'
            answer=${answer##*<<}
            print -r -- "${answer%%>>*}"
            zpty -d shell
            """#
        let result = Program(path: "/usr/bin/timeout")
            .run(["60", Self.zsh, "-f", "-c", script, "zsh", Self.completions, line, directory.path, Self.path])
        #expect(result.output == expected + "\n", "\(result.errors)")
    }
}
