import PushModel
import PushReporting

extension Option {
    // Every command takes these, before its name or after it.
    static let configuration = Option("config", .directory, "read the configuration from this directory only")
    static let stateDirectory = Option("state", .directory, "where the daemon keeps its ledger")
    static let runtime = Option("runtime", .directory, "where the daemon has its sockets")
    static let help = Option("help", .none, "show this help, and do nothing else; -h does the same")
    static let version = Option("version", .none, "print the version, and do nothing else")

    /// What every command takes.
    static let everywhere = [configuration, stateDirectory, runtime, help, version]

    // Without a command.
    static let generate = Option("generate", .words(["man", "bash"]), "print the man page, or completions for a shell")

    // Whom a request is about.
    static let platform = Option("platform", words(Platform.self), "the platform that the payload is for")
    static let transport = Option(
        "transport", words(Transport.self), "what brings the payload (the platform's own, or what its form shows)")
    static let app = Option("app", .text("APP"), "the package name or bundle id of the app")
    static let device = Option("device", .text("DEVICE"), "the device; on Android its deliveries form a line")
    static let externalID = Option("external-id", .text("USER"), "the user")

    // What the app was doing.
    static let appState = Option("state", words(AppState.self), "what the app is doing (background)")
    static let locked = Option("locked", .none, "the screen is locked")
    static let notifications = Option(
        "notifications", words(NotificationPermission.self), "whether the user lets the app notify (allowed)")
    static let sdk = Option(
        "sdk", words(SDKState.self), "the app's Braze instance when the callback runs, on iOS (ready)")
    static let osVersion = Option("os-version", .text("VERSION"), "the version of the operating system")

    // The request itself.
    static let id = Option("id", .text("ID"), "the request's own id: the daemon accepts the same request only once")
    static let at = Option("at", .text("TIME"), "when it happened: RFC 3339, or Unix milliseconds (now)")
    static let action = Option("action", .text("ACTION"), "the id of the button that was pressed")
    static let text = Option("text", .text("TEXT"), "what was typed into the text field of the button")
    static let tokenKind = Option("kind", words(TokenRequest.Kind.self), "what happened (new)")
    static let payload = Option("payload", .file, "name the notification by its payload instead of MESSAGE")
    static let wait = Option("wait", .none, "wait until every outcome is known, and print it")

    static let fail = Option(
        "fail", .none, "with --wait: exit with 1 when an outcome is neither handled nor handed_to_tracker")

    // Custom data.
    static let suite = Option("suite", .text("SUITE"), "the app group that it is stored in; standard is the app's own")
    static let brazeID = Option(
        "braze-id", .text("ID"), "the profile's id at Braze; without a suite it is sent there at once")
    static let property = Option("property", .text("KEY=TEXT"), "a property of the event; also KEY:=JSON, and repeated")
    static let dryRun = Option("dry-run", .none, "print the requests, and send nothing")
    static let onlySuite = Option("suite", .text("SUITE"), "only what is stored in this suite")
    static let onlyApp = Option("app", .text("APP"), "only what is of this app")
    static let onlyStored = Option("stored", .none, "what is in suites, until a session of the app starts")
    static let onlyQueued = Option("queued", .none, "what is to be sent, or with the forwarder")
    static let onlyUnknown = Option("unknown", .none, "what may have been sent, and nobody knows")
    static let onlyRejected = Option("rejected", .none, "what was rejected, with the reasons")
    static let limit = Option("limit", .text("N"), "how many to show, the first ones (text: 100, JSON: all)")
    static let reset = Option("reset", .text("SUITE"), "take all that is stored in this suite out of it, for good")
    static let retry = Option("retry", .text("N,...|all"), "send these entries of unknown outcome again")
    static let discard = Option(
        "discard", .text("N,...|all"), "never send these entries; all: those of unknown outcome")
    static let sessionApp = Option("app", .text("APP"), "the app whose session is said to start")
    static let sessionDevice = Option("device", .text("DEVICE"), "the device (only what names none)")
    static let sessionUser = Option("external-id", .text("USER"), "the user (the device's last known)")
    static let condition = Option("where", .text("NAME=VALUE"), "what an attribute is, or has; repeated: all of it")
    static let delays = Option("delays", .none, "how long custom events took from being saved to flushed or sent, too")

    static let mode = Option("mode", words(DispatchMode.self), "in whose place to stand (as configured)")
    static let keepGoing = Option("keep-going", .none, "go on after a line that is wrong")

    static let since = Option("since", .text("TIME"), "only what was accepted at this time or later")
    static let until = Option("until", .text("TIME"), "only what was accepted before this time")
    static let format = Option("format", .words(["text", "json", "csv"]), "how to print it (text)")
    static let failUnder = Option(
        "fail-under", .text("PERCENT"), "exit with 1 when fewer kept the deadline, such as 99.9")

    static let statusFormat = Option("format", .words(["text", "json", "openmetrics"]), "how to print it (text)")

    static let campaign = Option("campaign", .text("ID"), "only this campaign")
    static let by = Option("by", words(EventField.self), "figures by a field of the events as well")
    static let eventsSince = Option("since", .text("TIME"), "only what happened at this time or later")
    static let eventsUntil = Option("until", .text("TIME"), "only what happened before this time")
    static let exportFormat = Option("format", words(ExportFormat.self), "the form of a line (currents)")
    static let event = Option("event", .text("TYPE,..."), "only these events, such as Open or Open,InfluencedOpen")
    static let cursor = Option("cursor", .file, "go on where this file says, and keep in it how far the export came")
    static let after = Option("after", .text("N"), "go on after the line with this cursor, and give each line its own")
    static let follow = Option("follow", .none, "wait for new events, until SIGINT, SIGTERM or the reader ends it")

    static let callback = Option(
        "callback", .words(Callback.allCases.filter { $0 != .none }.map(\.rawValue)),
        "the callback that the handler is run for (the first that the platform would run)")
    static let deadline = Option(
        "deadline", .text("SPAN"), "how long the handler has, such as 500ms or 1min (as configured)")
    static let verbose = Option("verbose", .none, "show what the handler gets with a line for each value")

    static let junit = Option("junit", .file, "write a test report for CI into this file")

    static let utc = Option("utc", .none, "show times in UTC, and take dates for those of UTC")

    static let json = Option("json", .none, "print JSON, for programs")

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> Value {
        .words(type.allCases.map(\.rawValue))
    }
}
