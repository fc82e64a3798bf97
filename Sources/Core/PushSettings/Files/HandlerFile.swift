import PushModel
import PushRouting

/// What a `.handler` file says, before it is known whether that makes a handler.
struct HandlerDraft: Fillable {
    /// `Type=`; all that the design names, so that those of a later version get a message of their own.
    enum Kind: String, Sendable, CaseIterable {
        case exec, journal, discard, worker, socket, http
    }

    /// One `NAME=value` of `Environment=`.
    struct Variable: Sendable {
        var name: String
        var value: String
    }

    var kind: Kind?
    var arguments: [String] = []
    var environment: [Variable] = []
    var workingDirectory: String?
    var idempotent = false
    var grace: Duration?

    /// The handler, if that is what the file describes.
    func validated(
        name: String, budget: Duration, lines: [String: Int], report: inout FileReport
    ) -> Handler? {
        guard let kind else {
            if lines["Type"] == nil { report.error("Type= is missing; [Handler] needs Type=exec, journal or discard") }
            return nil
        }
        if let grace, grace >= budget {
            report.error(
                "Grace=\(spelledTimeSpan(grace)): must be less than Budget=\(spelledTimeSpan(budget)), "
                    + "or the handler is told to end before it starts",
                line: lines["Grace"])
        }
        switch kind {
        case .exec:
            if lines["Exec"] == nil { report.error("Exec= is missing; Type=exec needs the program to run") }
            let variables = Dictionary(environment.map { ($0.name, $0.value) }) { _, last in last }
            let command = Handler.Command(
                arguments: arguments, environment: variables, workingDirectory: workingDirectory)
            return Handler(name: name, kind: .exec(command), idempotent: idempotent, grace: grace)
        case .journal, .discard:
            for key in ["Exec", "Environment", "WorkingDirectory", "Grace"] {
                guard let line = lines[key] else { continue }
                report.warning("\(key)= has no effect with Type=\(kind.rawValue), which runs no program", line: line)
            }
            return Handler(name: name, kind: kind == .journal ? .journal : .discard, idempotent: idempotent)
        case .worker, .socket, .http:
            report.error(
                "Type=\(kind.rawValue): not in this version, which has exec, journal and discard", line: lines["Type"])
            return nil
        }
    }
}

extension Schema<HandlerDraft> {
    /// `handlers.d/*.handler`.
    static let handler = Schema(keys: [
        Key("Handler", "Type", \.kind, Form.choice.optional),
        Key("Handler", "Exec", \.arguments, .commandLine),
        Key("Handler", "Environment", addingTo: \.environment, .environment),
        Key("Handler", "WorkingDirectory", \.workingDirectory, Form.absolutePath.optional),
        Key("Handler", "Idempotent", \.idempotent, .boolean),
        Key("Handler", "Grace", \.grace, Form.timeSpan(.milliseconds(1) ... .seconds(9)).optional),
    ])
}

extension Form<[String]> {
    /// A program and its arguments.
    fileprivate static let commandLine = Form { text throws(ValueError) in
        var words = QuotedWords(text)
        var arguments: [String] = []
        while let word = try words.take(bare: "\\;") ? ";" : words.next() {
            arguments.append(word)
            if words.isNext(bare: ";") {
                throw ValueError("a handler runs one program; write \\; for an argument that is a semicolon")
            }
        }
        let program = arguments.first ?? ""
        if let prefix = program.unicodeScalars.first, "-@:+!|".unicodeScalars.contains(prefix) {
            throw ValueError("the prefix \(prefix) of systemd has no meaning here; begin with the program's path")
        }
        guard program.utf8.first == UInt8(ascii: "/"), program.utf8.last != UInt8(ascii: "/") else {
            throw ValueError("must begin with the absolute path of a program, such as /usr/bin/env")
        }
        return arguments
    }
}

extension Form<[HandlerDraft.Variable]> {
    /// `NAME=value` words, quoted where the value has spaces.
    fileprivate static let environment = Form { text throws(ValueError) in
        var words = QuotedWords(text)
        var variables: [HandlerDraft.Variable] = []
        while let word = try words.next() {
            let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(Substring(parts[0]))
            guard parts.count == 2, isVariableName(name) else {
                throw ValueError("\"\(printable(word, limit: 60))\" must be NAME=value, quoted whole if it has spaces")
            }
            guard !name.hasPrefix("PUSH_") else {
                throw ValueError("\(name): the names that begin with PUSH_ are the daemon's own")
            }
            variables.append(HandlerDraft.Variable(name: name, value: String(Substring(parts[1]))))
        }
        return variables
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !first.isDigit else { return false }
        return name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}

extension Form<String> {
    /// A path from the root.
    static let absolutePath = Form { text throws(ValueError) in
        guard text.utf8.first == UInt8(ascii: "/") else { throw ValueError("must be an absolute path") }
        return text
    }
}
