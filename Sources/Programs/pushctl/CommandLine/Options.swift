import PushModel
import PushViews

extension Option {
    // For every command, before its name or after it.
    static let configuration = Option("config", .directory, "read the configuration from this directory only")
    static let stateDirectory = Option("state", .directory, "the directory of the daemon's ledger")
    static let runtime = Option("runtime", .directory, "the directory of the daemon's sockets")
    static let help = Option("help", .none, "show this help and exit; -h does the same")
    static let version = Option("version", .none, "print the version and exit")

    /// The options of every command.
    static let everywhere = [configuration, stateDirectory, runtime, help, version]

    // Without a command.
    static let generate = Option(
        "generate", .words(["man", "conf", "schema", "conform-schema", "reconcile-schema", "accidents", "parts"]),
        """
        print the man page, the shipped pushrouterd.conf, the schemas of report --json, conform judge and reconcile, the catalogue of accidents, or the parts of other man pages that \
        packaging/generate.sh writes; after a command, man is the page of that command
        """)
    static let complete = Option(
        "complete", .text("WORD..."), "print the candidates for the last word of a line, for the completions of a shell"
    )
    static let withoutCommand = [generate, complete]

    // The target of a request.
    static let platform = Option("platform", words(Platform.self), "the platform that the payload is for")
    static let transport = Option(
        "transport", words(Transport.self), "the service that carries the payload (by default the platform's own)")
    static let app = Option("app", .text("APP"), "the package name or bundle id of the app")
    static let device = Option("device", .text("DEVICE"), "the device")
    static let externalID = Option("external-id", .text("USER"), "the user")

    // The state of the app.
    static let appState = Option("app-state", words(AppState.self), "the state of the app (background)")
    /// The word for every platform, or every state of the app.
    static let all = "all"
    static let locked = Option("locked", .none, "the screen is locked")
    static let unlocked = Option("unlocked", .none, "the screen is unlocked")
    static let notifications = Option(
        "notifications", words(NotificationPermission.self),
        "whether the user allows notifications of the app (allowed)")
    static let sdk = Option(
        "sdk", words(SDKState.self), "the app's Braze instance when the callback runs, on iOS (ready)")
    static let osVersion = Option("os-version", .text("VERSION"), "the version of the operating system")

    // The request itself.
    static let id = Option("id", .text("ID"), "the request's id: the daemon accepts a request once under one id")
    static let at = Option("at", .text("TIME"), "when it happened: RFC 3339, or Unix milliseconds (now)")
    static let action = Option("action", .text("ACTION"), "the id of the button that was pressed")
    static let text = Option("text", .text("TEXT"), "the text that the user typed into the button's text field")
    static let tokenKind = Option("kind", words(TokenRequest.Kind.self), "the change of the token (new)")
    static let payload = Option("payload", .file, "name the notification by its payload instead of MESSAGE")
    static let wait = Option("wait", .none, "wait until every outcome is known, and print it")

    static let waitForTracker = wait.meaning(
        "wait until the tracker has decided, and print what the session did, and what still waits")
    static let fail = Option(
        "fail", .none, "with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker")

    // Custom data.
    static let suite = Option("suite", .text("SUITE"), "the app group that stores the entry; standard is the app's own")
    static let brazeID = Option(
        "braze-id", .text("ID"), "the profile's id at Braze; an entry without a suite is sent there at once")
    static let property = Option("property", .text("KEY=TEXT"), "a property of the event; also KEY:=JSON, and repeated")
    static let dryRun = Option("dry-run", .none, "print the requests and send nothing")
    static let onlySuite = Option("suite", .text("SUITE"), "only entries of this suite")
    static let onlyStored = Option(
        "stored", .none, "only entries in suites, which wait for a session of the app (pending)")
    static let onlyQueued = Option("queued", .none, "only entries to be sent, or being sent (queued, claimed)")
    static let onlyUnknown = Option("unknown", .none, "only entries that may have been sent (unknown)")
    static let onlyRejected = Option("rejected", .none, "only rejected entries, with the reasons")
    static let limit = Option("limit", .text("N"), "show at most this many (text: 100, JSON: all)")
    static let reset = Option("reset", .text("SUITE"), "delete all entries that are stored in this suite")
    static let retry = Option("retry", .text("N,...|all"), "send these unknown entries again")
    static let discard = Option(
        "discard", .text("N,...|all"), "never send these entries; all: the unknown ones")
    static let clear = Option(
        "clear", .none, "discard the entries that the filters choose: pending, queued and unknown ones; asks first")
    static let yes = Option("yes", .none, "with --clear: do not ask")
    static let sessionDevice = Option(
        "device", .text("DEVICE"), "the device (without it: only entries that name no device)")
    static let sessionUser = Option("external-id", .text("USER"), "the user (the device's last known)")
    static let condition = Option(
        "where", .text("NAME=VALUE"), "a condition on an attribute; given several times, all must hold")
    static let delays = Option(
        "delays", .none, "also show the time for which custom events waited until they were flushed or sent")

    // Load.
    static let connections = Option("connections", .text("N"), "the number of connections, up to 1000 (1)")
    static let pipeline = Option(
        "pipeline", .text("N"), "the number of requests on a connection that may wait for replies, up to 10000 (16)")
    static let benchDuration = Option(
        "duration", .text("SPAN"), "the time for which requests are sent, such as 30s or 5min (10s)")
    static let count = Option("count", .text("N"), "the highest number of requests (limited by the duration only)")
    static let rate = Option(
        "rate", .text("N"), "send this many requests a second, even if the daemon does not keep up")
    static let withoutIDs = Option("no-ids", .none, "send requests without ids; otherwise each has one of its own")

    // Erasing.
    static let erasedUser = Option("user", .text("USER"), "the user; also rows without a user on the user's devices")
    static let erasedDevice = Option("device", .text("DEVICE"), "every user of this device")
    static let unasked = Option("yes", .none, "do not ask")
    static let countOnly = Option("dry-run", .none, "print the number of rows that would be erased, and erase nothing")

    // Dead letters.
    static let onlyHandler = Option("handler", .text("NAME"), "only dead letters whose last handler is NAME")
    static let onlyRoute = Option("route", .text("NAME"), "only dead letters whose last route is NAME")
    static let onlyOutcome = Option(
        "outcome", .words(Outcome.allCases.filter(\.isDeadLetter).map(\.rawValue)),
        "only dead letters with this outcome")
    static let onlyProvider = Option("provider", .text("NAME"), "only payloads of this provider")
    static let query = Option(
        "query", .text("QUERY"), "only matches of this query; pushrouter-web(8) explains its language")
    static let deadLetterLimit = Option(
        "limit", .text("N|all"), "at most this many requests, the newest (100); all is for purge and replay")
    static let listOnly = Option("dry-run", .none, "print the chosen dead letters and change nothing")

    static let trace = Option(
        "trace", .none, "print all that one scenario decides as JSON lines, without a look at its expectations")
    static let mode = Option(
        "mode", words(DispatchMode.self),
        "with --trace: act as the device, or as a relay in production (as the scenario or the configuration says)")
    static let keepGoing = Option("keep-going", .none, "with --trace: go on after a line with an error")

    static let since = Option("since", .text("TIME"), "only requests accepted at this time or later")
    static let until = Option("until", .text("TIME"), "only requests accepted before this time")
    static let format = Option("format", .words([]), "the format of the output (text)")
    static let crossedBy = Option(
        "by", .list("FIELD[,FIELD]", Dimension.allCases.map(\.rawValue)),
        "also show the figures by a field, or by two fields that are crossed; can be repeated")
    static let baseline = Option(
        "baseline", .file, "compare with an earlier report in JSON, and name the figures that got worse beyond chance")
    static let failOnMiss = Option("fail-on-miss", .none, "exit with 1 when an invocation missed its deadline")
    static let width = Option("width", .text("COLUMNS"), "the width of the text (COLUMNS, or the terminal's)")
    static let failUnder = Option(
        "fail-under", .text("PERCENT"), "exit with 1 when the compliance is below this, such as 99.9")
    static let fromJournal = Option(
        "from-journal", .none, "make the report from the journal alone, without ledger and daemon")
    static let journalDirectory = Option(
        "journal-directory", .directory, "with --from-journal: read the journal files of this directory")
    static let unit = Option("unit", .text("UNIT"), "with --from-journal: the daemon's unit (pushrouterd.service)")
    static let userUnit = Option(
        "user-unit", .text("UNIT"), "with --from-journal: the daemon's unit of this user's service manager")

    static let allFields = Option("all", .none, "print every field, a line each")

    static let campaign = Option("campaign", .text("ID"), "only campaigns whose id matches, as spring-*")
    static let by = Option("by", words(EventField.self), "also show the figures by a field of the events")
    static let event = Option(
        "event", .list("TYPE,...", AnalyticsEvent.Kind.allCases.map(\.shortName)),
        "only these events, such as Open or Open,InfluencedOpen")
    static let cursor = Option("cursor", .file, "begin at the cursor in this file, and write the new cursor to it")
    static let after = Option("after", .text("N"), "begin after the line with this cursor; each line shows its own")
    static let follow = Option("follow", .none, "wait for new events, until SIGINT, SIGTERM or the reader ends it")

    // Filters of the outcomes and events that `tail` follows.
    static let followedHandler = Option("handler", .text("NAME"), "only outcomes of this handler")
    static let followedRoute = Option("route", .text("NAME"), "only outcomes of this route")
    static let followedProvider = Option("provider", .text("NAME"), "only outcomes of this provider's payloads")
    static let followedOutcome = Option(
        "outcome", .list("OUTCOME,...", Outcome.allCases.map(\.rawValue)), "only invocations with these outcomes")
    static let followedCallback = Option("callback", words(Callback.self), "only outcomes of this callback")
    static let once = Option("once", .none, "print one picture and exit")

    static let callback = Option(
        "callback", .words(Callback.allCases.filter(\.isOfDelivery).map(\.rawValue)),
        "the callback that the handler is run for (the first that the platform would run)",
        instead: "for the callback of a tap or a token write a scenario, and run it with pushctl test --real-handlers")
    static let seq = Option(
        "seq", .text("N"), "the payload and the facts of request N of the ledger, instead of a file")
    static let deadline = Option(
        "deadline", .text("SPAN"), "the deadline of the handler, such as 500ms or 1min (as configured)")
    static let verbose = Option("verbose", .none, "show the input of the handler with a line for each value")

    static let verboseProviders = Option("verbose", .none, "list the providers, too")

    static let realHandlers = Option(
        "real-handlers", .none, "run the real handlers of the configuration, by the wall clock")

    static let junit = Option("junit", .file, "write a test report for CI into this file")

    static let fullTokens = Option(
        "full-tokens", .none, "show push tokens whole; otherwise their first characters")

    static let utc = Option("utc", .none, "show times in UTC, and read dates as UTC")

    static let successor = Option(
        "to", .text("NODE"), "with move: the machine that leads next (the one with the smallest lag)")
    static let undoDraining = Option("undo", .none, "with drain: the machine may lead again")
    static let forceDraining = Option("force", .none, "with drain: drain even if no other machine can lead")
    static let silent = Option("quiet", .none, "print nothing: the exit status is the answer")
    static let asService = Option(
        "as-service", .none, "run it as the service's user and with its sandbox, by systemd-run (as root)")
    static let quiet = Option("quiet", .none, "print errors and warnings only")

    static let json = Option("json", .none, "print JSON, for programs")

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> Value {
        .words(type.allCases.map(\.rawValue))
    }
}

/// One option, for the parser, the help, the man page and the completions.
///
/// An option is declared once. A command may have it with values or an effect of its own, and it is the same option.
struct Option: Hashable, Sendable {
    /// The value of an option.
    enum Value: Hashable, Sendable {
        /// No value: the option is a flag.
        case none
        /// Any text; the help shows the name in its place.
        case text(String)
        /// The path of a file.
        case file
        /// The path of a directory.
        case directory
        /// One of these words.
        case words([String])
        /// Some of these words, separated by commas; the help shows the text in their place.
        case list(String, [String])
    }

    /// The name without `--`.
    let name: String
    /// The kind of the value.
    let value: Value
    /// The effect, as a sentence without a full stop.
    let help: String
    /// The advice after the error message for a word that the option does not take.
    let instead: String?

    init(_ name: String, _ value: Value = .none, _ help: String, instead: String? = nil) {
        self.name = name
        self.value = value
        self.help = help
        self.instead = instead
    }

    /// The option with these values.
    func allowing(_ words: [String]) -> Option { Option(name, .words(words), help, instead: instead) }

    /// The option with the words of a type.
    func allowing<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> Option {
        allowing(type.allCases.map(\.rawValue))
    }

    /// The option with one word more.
    func allowing(also word: String) -> Option {
        guard case .words(let words) = value else { preconditionFailure("--\(name) takes no words") }
        return allowing(words + [word])
    }

    /// The option with another effect.
    func meaning(_ help: String) -> Option { Option(name, value, help, instead: instead) }

    static func == (left: Option, right: Option) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Whether the option takes a value.
    var takesValue: Bool { value != .none }

    /// The placeholder of the value in the help; `nil` without a value.
    var placeholder: String? {
        switch value {
        case .none: nil
        case .text(let name), .list(let name, _): name
        case .file: "FILE"
        case .directory: "DIR"
        case .words(let words): words.count <= 3 ? words.joined(separator: "|") : name.uppercased()
        }
    }

    /// `--app-state STATE`, for messages and the help.
    var usage: String { "--\(name)" + (placeholder.map { " \($0)" } ?? "") }

    /// The effect, and the allowed words if the usage does not show them.
    var fullHelp: String {
        switch value {
        case .words(let words) where words.count > 3: "\(help): \(words.joined(separator: ", "))"
        case .list(_, let words): "\(help): \(words.joined(separator: ", "))"
        case .none, .text, .file, .directory, .words: help
        }
    }
}
