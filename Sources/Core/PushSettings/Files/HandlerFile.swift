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
    var socketPath: String?
    var idempotent = false
    var grace: Duration?
    var maxConcurrent: Int?
    var retries: Int?
    var logsOutput = false
    var instances = InstanceRules()

    /// The handler, if that is what the file describes.
    func validated(
        name: String, budget: Duration, lines: [String: Int], report: inout FileReport
    ) -> Handler? {
        guard let kind else {
            if lines["Type"] == nil {
                report.error("Type= is missing; [Handler] needs Type=exec, worker, socket, journal or discard")
            }
            return nil
        }
        if let grace, grace >= budget {
            report.error(
                "Grace=\(spelledTimeSpan(grace)): must be less than Budget=\(spelledTimeSpan(budget)), "
                    + "or the handler gets SIGTERM before it starts",
                line: lines["Grace"])
        }
        warnOfUselessKeys(of: kind, lines: lines, report: &report)
        switch kind {
        case .exec:
            if lines["Exec"] == nil { report.error("Exec= is missing; Type=exec needs the program to run") }
            return Handler(
                name: name, kind: .exec(command), idempotent: idempotent, grace: grace, maxConcurrent: maxConcurrent,
                retries: retries)
        case .worker:
            if lines["Exec"] == nil { report.error("Exec= is missing; Type=worker needs the program to run") }
            return Handler(
                name: name, kind: .worker(command, instances), idempotent: idempotent,
                maxConcurrent: maxConcurrent ?? instances.capacity, retries: retries)
        case .socket:
            guard let socketPath else {
                if lines["Connect"] == nil {
                    report.error("Connect= is missing; Type=socket needs the socket of the service")
                }
                return nil
            }
            return Handler(
                name: name, kind: .socket(path: socketPath, instances), idempotent: idempotent,
                maxConcurrent: maxConcurrent ?? instances.capacity, retries: retries)
        case .journal: return Handler(name: name, kind: .journal, idempotent: idempotent)
        case .discard: return Handler(name: name, kind: .discard, idempotent: idempotent)
        case .http:
            report.error(
                "Type=http: not in this version, which has exec, worker, socket, journal and discard",
                line: lines["Type"])
            return nil
        }
    }

    private var command: Handler.Command {
        let variables = Dictionary(environment.map { ($0.name, $0.value) }) { _, last in last }
        return Handler.Command(
            arguments: arguments, environment: variables, workingDirectory: workingDirectory, logsOutput: logsOutput)
    }

    private func warnOfUselessKeys(of kind: Kind, lines: [String: Int], report: inout FileReport) {
        for (key, line) in lines.sorted(by: { $0.value < $1.value }) {
            guard let kinds = Self.kinds[key], !kinds.contains(kind) else { continue }
            report.warning("\(key)= has no effect with Type=\(kind.rawValue), \(kind.explanation)", line: line)
        }
    }

    /// The keys that only some kinds have a use for.
    private static let kinds: [String: Set<Kind>] = [
        "Exec": [.exec, .worker], "Environment": [.exec, .worker], "WorkingDirectory": [.exec, .worker],
        "Grace": [.exec], "Connect": [.socket], "Instances": [.worker, .socket], "Pipeline": [.worker, .socket],
        "IdleTimeout": [.worker, .socket], "LogOutput": [.exec, .worker], "MaxConcurrent": [.exec, .worker, .socket],
        "Retry": [.exec, .worker, .socket],
    ]
}

extension HandlerDraft.Kind {
    /// What it does, for why a key has no effect.
    fileprivate var explanation: String {
        switch self {
        case .exec: "which runs a program for each invocation"
        case .worker: "which runs a program that stays, and replaces it at a deadline"
        case .socket: "which runs no program"
        case .http: "which runs no program of yours"
        case .journal, .discard: "which runs no program"
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
        Key("Handler", "Connect", \.socketPath, Form.socketPath.optional),
        Key("Handler", "Instances", \.instances.instances, .integer(1...64)),
        Key("Handler", "Pipeline", \.instances.pipeline, .integer(1...64)),
        Key("Handler", "IdleTimeout", \.instances.idleTimeout, .idleTimeout),
        Key("Handler", "LogOutput", \.logsOutput, .boolean),
        Key("Handler", "Retry", \.retries, Form.integer(0...1000).optional),
        Key("Handler", "MaxConcurrent", \.maxConcurrent, Form.integer(1...10_000).optional),
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
                throw ValueError("\(name): names that begin with PUSH_ are reserved for the daemon")
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

extension Form<Duration?> {
    /// How long something may have nothing to do; `infinity`: for ever.
    fileprivate static let idleTimeout = Form { text throws(ValueError) in
        if text == "infinity" { return nil }
        return try Form<Duration>.timeSpan(.seconds(1) ... .seconds(86_400)).parse(text)
    }
}

extension Form<String> {
    /// The path of a Unix socket: unix(7) has room for 107 bytes.
    fileprivate static let socketPath = Form { text throws(ValueError) in
        let path = try absolutePath.parse(text)
        guard path.utf8.count <= 107 else {
            throw ValueError("is longer than the 107 bytes that a socket's path may have")
        }
        return path
    }

    /// A path from the root.
    static let absolutePath = Form { text throws(ValueError) in
        guard text.utf8.first == UInt8(ascii: "/") else { throw ValueError("must be an absolute path") }
        return text
    }
}
