import PushModel
public import PushRouter

/// The contents of a `.handler` file, before they are checked as a whole.
struct HandlerDraft: Fillable {
    /// `Type=`.
    enum Kind: Hashable, Sendable {
        case exec, worker, socket, notify, journal, discard
        /// An installed bridge, by its name.
        case bridge(String)
    }

    /// One `NAME=value` of `Environment=`.
    struct Variable: Sendable {
        var name: String
        var value: String
    }

    var kind: Kind?
    var arguments: [String] = []
    var environment: [Variable] = []
    var credentials: [Handler.Credential] = []
    var workingDirectory: String?
    var socketPath: String?
    var idempotent = false
    var grace: Duration?
    var maxConcurrent: Int?
    var queueMax = Handler.defaultQueueMax
    var breaker: BreakerRules?
    var breakerPause: Duration?
    var retries: Int?
    var logsOutput = false
    var instances = InstanceRules()
    var notifications = NotificationRules()
    var confinement = Handler.Confinement()
    /// The settings of bridges by bridge name.
    var bridges: [String: any BridgeSettings] = [:]

    /// Returns the handler, or `nil` if the file does not describe one.
    func validated(
        name: String, mode: DispatchMode, budget: Duration, serviceSockets: [String: String],
        lines: [String: Int], report: inout FileReport
    ) -> Handler? {
        var handler = handler(
            name: name, budget: budget, serviceSockets: serviceSockets, lines: lines, report: &report)
        handler?.queueMax = queueMax
        handler?.breaker = breaker
        if let breakerPause { handler?.breaker?.pause = breakerPause }
        if let line = lines["Breaker"], breaker != nil, mode != .relay {
            report.warning(
                "Breaker= has no effect with Mode=\(mode.rawValue): an app waits for its handler every time",
                line: line)
        }
        if let line = lines["BreakerPause"], breaker == nil {
            report.warning("BreakerPause= has no effect without Breaker=", line: line)
        }
        if handler?.kind.isBuiltIn == true { handler?.breaker = nil }
        return handler
    }

    private func handler(
        name: String, budget: Duration, serviceSockets: [String: String], lines: [String: Int],
        report: inout FileReport
    ) -> Handler? {
        guard let kind else {
            if lines["Type"] == nil {
                report.error("Type= is missing; [Handler] needs Type=\(alternatives(Kind.allCases.map(\.rawValue)))")
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
        for variable in environment where variable.seemsSecret {
            report.warning(
                "Environment=\(variable.name): this seems to be a secret, and who may read this file, or "
                    + "/proc/PID/environ, reads it: put it into a file, and write Credential=\(variable.name):/path/of/it",
                line: lines["Environment"])
        }
        let names = credentials.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            report.error("Credential=\(twice): this name is given twice", line: lines["Credential"])
        }
        if kind == .socket, instances.isSingleUse, instances.pipeline > 1 {
            report.warning(
                "Pipeline= has no effect with OneInvocation=yes: a connection gets one line", line: lines["Pipeline"])
        }
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
        case .notify:
            return Handler(
                name: name, kind: .notify(notifications), idempotent: idempotent,
                maxConcurrent: maxConcurrent ?? NotificationRules.concurrentMax, retries: retries)
        case .journal: return Handler(name: name, kind: .journal, idempotent: idempotent)
        case .discard: return Handler(name: name, kind: .discard, idempotent: idempotent)
        case .bridge(let word):
            guard let settings = bridges[word] ?? kind.bridge?.init(),
                settings.isComplete(lines: lines, report: &report)
            else { return nil }
            var rules = instances
            rules.supportsCancellation = true
            rules.pipeline = maxConcurrent ?? Self.requestsAtOnce
            return Handler(
                name: name, kind: .bridge(Bridge(settings, serviceSocket: serviceSockets[word]), rules),
                idempotent: idempotent, maxConcurrent: rules.pipeline, retries: retries)
        }
    }

    /// The default number of concurrent requests of a bridge's handler.
    static let requestsAtOnce = 16

    private var command: Handler.Command {
        let variables = Dictionary(environment.map { ($0.name, $0.value) }) { _, last in last }
        return Handler.Command(
            arguments: arguments, environment: variables, credentials: credentials,
            workingDirectory: workingDirectory, confinement: confinement, logsOutput: logsOutput)
    }

    private func warnOfUselessKeys(of kind: Kind, lines: [String: Int], report: inout FileReport) {
        for key in Schema.handler.keys where !key.kinds.isEmpty && !key.kinds.contains(kind) {
            guard let line = lines[key.name] else { continue }
            report.warning("\(key.name)= has no effect with Type=\(kind.rawValue), \(kind.explanation)", line: line)
        }
    }
}

extension HandlerDraft.Kind: RawRepresentable, CaseIterable, CustomStringConvertible {
    static let bridges = installedBridges.map { Self.bridge($0.name) }
    static let allCases: [Self] = [.exec, .worker, .socket] + bridges + [.notify, .journal, .discard]

    /// The bridge of this kind; `nil` for other kinds.
    var bridge: (any BridgeSettings.Type)? {
        guard case .bridge(let name) = self else { return nil }
        return installedBridges.first { $0.name == name }
    }

    init?(rawValue: String) {
        guard let kind = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = kind
    }

    /// The word in `Type=`.
    var rawValue: String {
        switch self {
        case .exec: "exec"
        case .worker: "worker"
        case .socket: "socket"
        case .notify: "notify"
        case .journal: "journal"
        case .discard: "discard"
        case .bridge(let name): name
        }
    }

    var description: String { rawValue }

    /// The work of the kind, for the message about a key without effect.
    fileprivate var explanation: String {
        switch self {
        case .exec: "which runs a program for each invocation"
        case .worker: "which runs a program that stays, and replaces it at a deadline"
        case .socket: "which runs no program"
        case .bridge: "which \(bridge?.purpose ?? "")"
        case .notify: "which shows notifications and runs no program"
        case .journal, .discard: "which runs no program"
        }
    }
}

extension Form<[String]> {
    /// A program and its arguments.
    static let commandLine = Form { text throws(ValueError) in
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

extension Handler.Command {
    /// Splits a program and its arguments as in `Exec=`.
    ///
    /// - Throws: if the text is not a command.
    public init(splitting text: String) throws(WrongCommand) {
        do throws(ValueError) {
            self.init(arguments: try Form<[String]>.commandLine.parse(text))
        } catch {
            throw WrongCommand(reason: error.reason)
        }
    }

    /// The error of a text that is not a command.
    public struct WrongCommand: Error, Hashable, Sendable {
        /// The reason, as the rest of a message that begins with `Exec=...: `.
        public let reason: String
    }
}

extension Form<[HandlerDraft.Variable]> {
    /// `NAME=value` words, quoted if the value has spaces.
    static let environment = Form { text throws(ValueError) in
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
}

extension HandlerDraft.Variable {
    /// Whether the name is that of a secret, and the value not the path of its file.
    fileprivate var seemsSecret: Bool {
        let words = name.uppercased().split(separator: "_").map(String.init)
        let secrets = ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "KEY", "CREDENTIALS"]
        return words.last.map(secrets.contains) == true && !value.isEmpty && !value.hasPrefix("/")
    }
}

extension Form<[Handler.Credential]> {
    /// `NAME:/path` words, quoted if the path has spaces.
    static let credentials = Form { text throws(ValueError) in
        var words = QuotedWords(text)
        var credentials: [Handler.Credential] = []
        while let word = try words.next() {
            let parts = word.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(Substring(parts[0]))
            guard parts.count == 2, isVariableName(name) else {
                throw ValueError(
                    "\"\(printable(word, limit: 60))\" must be NAME:/path, with a NAME of letters, digits and _")
            }
            let path = try Form<String>.absolutePath.parse(String(Substring(parts[1])))
            credentials.append(Handler.Credential(name: name, path: path))
        }
        return credentials
    }
}

private func isVariableName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !first.isDigit else { return false }
    return name.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
}

extension Form<BreakerRules> {
    /// `5 in 30s`: the number of failures and the time window.
    static let breaker = Form { text throws(ValueError) in
        let words = Array(text.utf8)[...].split(maxSplits: 2, whereSeparator: \.isWhitespace).map(\.text)
        guard words.count == 3, words[1] == "in" else {
            throw ValueError("must be a number of failures and a time, such as 5 in 30s")
        }
        return BreakerRules(
            failures: try Form<Int>.integer(1...1000).parse(words[0]),
            window: try Form<Duration>.timeSpan(.milliseconds(100) ... .seconds(3600)).parse(words[2]))
    }
}

extension Form<Duration?> {
    /// The longest idle time; `infinity`: unlimited.
    static let idleTimeout = Form { text throws(ValueError) in
        if text == "infinity" { return nil }
        return try Form<Duration>.timeSpan(.seconds(1) ... .seconds(86_400)).parse(text)
    }
}

extension Form<Int> {
    /// A niceness of nice(2).
    static let niceness = Form { text throws(ValueError) in
        let value = Int(text)
        guard let value, -20...19 ~= value else { throw ValueError("must be a whole number from -20 to 19") }
        return value
    }
}

extension Form<String> {
    /// The name or the number of a user, in the syntax of systemd.
    static let userName = Form { text throws(ValueError) in
        let isName = text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "_-.$".utf8.contains($0) }
        guard isName, let first = text.utf8.first, first != UInt8(ascii: "-"), text.utf8.count <= 31 else {
            throw ValueError("must be the name or the number of a user")
        }
        return text
    }

    /// The path of a Unix socket; `sun_path` of unix(7) has room for 107 bytes.
    static let socketPath = Form { text throws(ValueError) in
        let path = try absolutePath.parse(text)
        guard path.utf8.count <= 107 else {
            throw ValueError("is longer than the 107 bytes that a socket's path may have")
        }
        return path
    }
}

extension Form<String> {
    /// The address of `/users/track`: `https://rest.fra-01.braze.eu`, with or without the path; the value has it.
    ///
    /// Messages never repeat the text, because it may contain a password.
    static let endpoint = Form { text throws(ValueError) in
        var rest = Array(text.utf8)[...]
        let scheme = rest.take { $0 != UInt8(ascii: ":") }.text.lowercased()
        guard ["https", "http"].contains(scheme), rest.starts(with: "://".utf8) else {
            throw ValueError("must be an https address, such as https://rest.fra-01.braze.eu")
        }
        rest = rest.dropFirst(3)
        guard !rest.contains(UInt8(ascii: "@")) else {
            throw ValueError("must have no user and password; put the API key into the file of KeyFile=")
        }
        guard !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#")) else {
            throw ValueError("must end with the path, without ? and #; put the API key into the file of KeyFile=")
        }
        let (host, port) = try hostAndPort(rest.take { $0 != UInt8(ascii: "/") })
        guard ["", "/", usersTrackPath, usersTrackPath + "/"].contains(rest.text) else {
            throw ValueError("must have no path but \(usersTrackPath)")
        }
        guard scheme == "https" || isLoopback(host: host) else {
            throw ValueError("must begin with https://; only localhost, 127.0.0.0/8 or [::1] may be reached by http://")
        }
        return "\(scheme)://\(host)\(port)\(usersTrackPath)"
    }
}

private let usersTrackPath = "/users/track"

extension Form<NotificationRules.Bus> {
    /// `session`, or an address of Unix sockets. Other kinds of addresses would run a program, or block on a name
    /// server.
    static let notificationBus = Form { text throws(ValueError) in
        if text == "session" { return .session }
        guard NotificationRules.isAddress(text) else {
            throw ValueError("must be session, or the address of a bus such as unix:path=/run/user/1000/bus")
        }
        return .address(text)
    }
}

extension Form<String> {
    /// A short text for people, or a name.
    static let notificationText = Form { text throws(ValueError) in
        guard !text.isEmpty, text.utf8.count <= 256 else { throw ValueError("must have 1 to 256 bytes") }
        return text
    }

    /// The name of a desktop file.
    static let desktopEntry = Form { text throws(ValueError) in
        let isName = !text.isEmpty && text.utf8.count <= 256 && !text.utf8.contains(UInt8(ascii: "/"))
        guard isName, !text.hasSuffix(".desktop") else {
            throw ValueError("must be the name of a desktop file without its directory and without .desktop")
        }
        return text
    }
}

extension Form<Duration?> {
    /// The display time of a notification; `infinity`: until the person acts.
    static let expiry = Form { text throws(ValueError) in
        if text == "infinity" { return Duration.zero }
        return try Form<Duration>.timeSpan(.seconds(1) ... .seconds(86_400)).parse(text)
    }
}
