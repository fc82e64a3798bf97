import LinuxSystem
import PushModel
import PushRouter
import PushSettings

extension Command {
    static let verify = Command(
        name: "verify", summary: "check the configuration",
        description: [
            """
            Reads the configuration as the daemon would, prints each mistake with file, line and reason, and lists the \
            settings, handlers, routes and tracks in force, with --verbose the providers too. Its last line is the \
            number of errors and warnings. The exit status is 1 when there are errors, also when the configuration \
            cannot be read; other commands that need the configuration end with 78 then. Warnings are not errors. The \
            address in [Store] Log= is checked by pushrouterd-fleet, where that is installed. gateway.conf and web.conf, \
            which the daemon does not read, are checked too, and so are the rules in the file of Errors=. A handler that the sandbox of the service blocks is an error too: \
            the command asks the running daemon for its permissions, or else reads the unit. By "pushctl reload", or \
            SIGHUP, the daemon loads a changed configuration, and keeps the previous one if the new one has errors.
            """,
            """
            With --effective the command prints every setting in force in place of the lists, with the file and line that \
            set it, or default: of pushrouterd.conf, gateway.conf and web.conf all keys, of the other files the keys that \
            are set or have a default. A value that may hold a secret is not shown; the path of a secret's file is. \
            Settings that wait for a restart may differ in the running daemon: a reload has named them.
            """,
            """
            With --producer the command reads requests, one on a line, and prints what the rules of producers.d would \
            decide if this user sent all of them at once. A credential or project is that of the request's own sender \
            and project. The exit status is 1 when a request would be refused.
            """,
        ],
        operands: Operands(usage: "[FILE|-]", count: 0...1),
        options: [.json, .quiet, .verboseProviders, .effective, .producer],
        examples: [
            Example(line: "pushctl verify", meaning: "check the installed configuration"),
            Example(line: "pushctl verify --quiet", meaning: "errors and warnings only"),
            Example(line: "pushctl verify --effective | grep Retention=", meaning: "the value in force, and its place"),
            Example(
                line: "pushctl verify --producer shop requests.jsonl", meaning: "may the user shop send these requests?"
            ),
            Example(line: "pushctl verify --config ./etc", meaning: "check a directory before it is installed"),
        ]
    ) { arguments, session throws(Failure) in
        if let user = arguments[.producer] { return try session.verifyProducer(arguments, user: user) }
        guard arguments.operands.isEmpty else { throw arguments.usageFailure("FILE goes with --producer") }
        let report = VerifyReport(
            session, listsProviders: arguments.has(.verboseProviders), listsSettings: arguments.has(.effective))
        if arguments.has(.json) {
            session.output.write(document: report.json)
        } else {
            session.output.print(arguments.has(.quiet) ? report.mistakes : report.text)
        }
        return report.errors > 0 ? .no : .done
    }
}

extension Option {
    fileprivate static let effective = Option(
        "effective", .none, "print every setting in force, and where it comes from")
}

extension Session {
    /// Returns the problems that the program for `Log=` finds in its value. It alone has the library that reads such an address.
    fileprivate func addressFindings(of settings: Settings, _ sources: ConfigurationSources) -> [Diagnostic] {
        guard settings.store.shared.database != nil else { return [] }
        let place = sources.place(of: "Log")
        func finding(_ severity: Diagnostic.Severity, _ message: String) -> Diagnostic {
            Diagnostic(severity, file: place.file, line: place.line, message: message)
        }
        guard let path = FleetProgram.path, let output = ask(fleetProgram: path, "--verify") else {
            return [finding(.warning, "Log=: \(FleetProgram.name) cannot be run, so the address was not checked")]
        }
        // Takes only the findings about `Log=`: this command has reported all others.
        let beginning = finding(.error, "").description
        return output.text.split(separator: "\n").filter { $0.hasPrefix(beginning) }.map {
            finding(.error, String($0.dropFirst(beginning.count)))
        }
    }
}

/// The findings about a configuration.
private struct VerifyReport {
    private let directories: [String]
    private let diagnostics: [Diagnostic]
    /// `nil` when it has errors.
    private let settings: Settings?
    private let listsProviders: Bool
    /// The settings in force, by file; `nil`: they are not asked for.
    private let settingsInForce: [ConfigurationSources.FileInForce]?

    init(_ session: Session, listsProviders: Bool, listsSettings: Bool) {
        self.listsProviders = listsProviders
        let directories = session.directories.configuration
        self.directories = directories
        do {
            let sources = try session.configurationSources()
            let services = try ServiceFiles(in: directories)
            var (settings, diagnostics) = Settings.read(sources)
            diagnostics += sources.lookUpProducers(of: &settings)
            self.settings = diagnostics.contains { $0.severity == .error } ? nil : settings
            settingsInForce =
                listsSettings
                ? sources.settingsInForce(hasProviders: listsProviders) + services.settingsInForce : nil
            // Also with other errors: a missing program is reported at once, not after the next try.
            self.diagnostics =
                diagnostics
                + sources.systemFindings(of: settings, directories: directories, in: session.serviceFacts())
                + sources.keyFileWarnings(of: settings) + session.addressFindings(of: settings, sources)
                + services.diagnostics
        } catch {
            (settings, settingsInForce) = (nil, nil)
            let reason = error.description.dropFirst(error.path.count + 2)
            diagnostics = [Diagnostic(.error, file: error.path, message: String(reason))]
        }
    }

    var errors: Int { diagnostics.count { $0.severity == .error } }

    private var warnings: Int { diagnostics.count - errors }

    // MARK: For people

    /// One line for each error and warning.
    var mistakes: String { diagnostics.map { "\($0)\n" }.joined() }

    /// The settings in force, the errors and warnings, and their numbers.
    var text: String {
        let sum = "\(counted(errors, "error")), \(counted(warnings, "warning"))\n"
        return (settings.map { (effective ?? inForce($0.routing, $0.producers)) + "\n" } ?? "") + mistakes + sum
    }

    /// The settings in force, file by file: the value, and the place behind it.
    private var effective: String? {
        settingsInForce?.map { file in
            let rows = file.settings.map { setting in
                [
                    "[\(setting.section)] \(setting.key)=\(setting.value ?? "(not shown)")",
                    setting.place.map { "\($0.file):\($0.line)" } ?? "default",
                ]
            }
            return "\(file.name)\n" + Text.columns(rows, indent: 2)
        }.joined(separator: "\n")
    }

    private func inForce(_ table: RoutingTable, _ rules: [ProducerRule]) -> String {
        let facts = [
            ["Read from", directories.joined(separator: ", ")], ["Mode", table.mode.rawValue],
            ["Deadline", "\(table.budget.milliseconds) ms"],
            ["Providers", "\(table.detection.providers.count)" + (listsProviders ? "" : "; --verbose lists them")],
        ]
        let routes = table.routes.map { route in
            let budget = route.budget.map { " within \($0.milliseconds) ms" } ?? ""
            let copy = route.observes ? "copy to " : ""
            return [route.name, "\(route.match.text) -> \(copy)\(route.handler)\(budget)"]
        }
        let handlers = table.handlers.values.sorted { $0.name < $1.name }.map { [$0.name, $0.kind.text] }
        let providers = table.detection.providers.map { [$0.name, $0.text] }
        // Without tracks nothing is sent; most configurations have none.
        let tracks = table.tracks.map { track in
            [track.name, "\(track.on), \(track.match.text) -> \(track.output) of \(track.identifier.text)"]
        }
        let registrations = table.registrations.map { [$0.name, $0.text] }
        let producers = rules.map { [$0.name, $0.text] }
        let copies = table.routes.contains(where: \.observes) ? "; each matching copy is sent as well" : ""
        return Text.columns(facts) + section("Routes: the first matching route handles the push\(copies)", routes)
            + (tracks.isEmpty ? "" : section("Tracks: each matching track makes an entry for /users/track", tracks))
            + (registrations.isEmpty
                ? ""
                : section("Registrations: the first matching registration names the device of a token", registrations))
            + (producers.isEmpty
                ? ""
                : section("Producers: the first matching rule decides; whom no rule matches may send all", producers))
            + section("Handlers", handlers)
            + (listsProviders
                ? section(
                    "Providers: on each platform the lowest number is tried first, providers of low confidence last",
                    providers) : "")
    }

    private func section(_ title: String, _ rows: [[String]]) -> String {
        "\n\(title)\n" + (rows.isEmpty ? "  none\n" : Text.columns(rows, indent: 2))
    }

    // MARK: For programs

    var json: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        writer.object { writer in
            writer.member("ok", errors == 0)
            writer.member("errors", errors)
            writer.member("warnings", warnings)
            writer.member("directories", array: { list in directories.forEach { list.string($0) } })
            writer.member("diagnostics", array: { list in diagnostics.forEach { $0.write(to: &list) } })
            writer.member("mode", settings?.routing.mode.rawValue)
            writer.member("deadline_ms", settings?.routing.budget.milliseconds)
            writer.member("routes", array: { list in settings?.routing.routes.forEach { $0.write(to: &list) } })
            writer.member("tracks", array: { list in settings?.routing.tracks.forEach { $0.write(to: &list) } })
            writer.member(
                "registrations",
                array: { list in settings?.routing.registrations.forEach { $0.write(to: &list) } })
            writer.member("producers", array: { list in settings?.producers.forEach { $0.write(to: &list) } })
            let handlers = settings?.routing.handlers.values.sorted { $0.name < $1.name } ?? []
            writer.member("handlers", array: { list in handlers.forEach { $0.write(to: &list) } })
            if let settingsInForce {
                writer.member(
                    "settings",
                    array: { list in
                        for file in settings == nil ? [] : settingsInForce {
                            for setting in file.settings { list.object { $0.members(of: setting, in: file.name) } }
                        }
                    })
            }
            let providers = settings?.routing.detection.providers ?? []
            writer.member("providers", array: { list in providers.forEach { $0.write(to: &list) } })
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func members(of setting: SettingInForce, in name: String) {
        member("of", name)
        member("section", setting.section)
        member("key", setting.key)
        member("value", setting.value)
        member("default", setting.place == nil)
        member("file", setting.place?.file)
        member("line", setting.place?.line)
    }
}

extension Diagnostic {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("severity", severity.rawValue)
            $0.member("file", file)
            $0.member("line", line)
            $0.member("message", message)
        }
    }
}

extension Route {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("name", name)
            $0.member("match", match.text)
            $0.member("handler", handler)
            $0.member("deadline_ms", budget?.milliseconds)
            $0.member("observe", observes)
        }
    }
}

extension RegistrationRule {
    /// The rule for people.
    fileprivate var text: String {
        let target = [platform?.rawValue, app, device.map { "device \($0)" }, externalID.map { "user \($0)" }]
        let words = target.compactMap(\.self)
        return tokens.map(\.description).joined(separator: " ") + " -> "
            + (words.isEmpty ? "as the sender presumes" : words.joined(separator: ", "))
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("name", name)
            $0.member("tokens", array: { list in tokens.forEach { list.string($0.description) } })
            $0.member("platform", platform?.rawValue)
            $0.member("app", app)
            $0.member("device", device)
            $0.member("external_id", externalID)
            $0.member("state", object: { $0.members(of: state) })
        }
    }
}

extension ProducerRule {
    /// The conditions on the sender, and what it may send, as the file has them.
    private var parts: (sender: [String], allowed: [String]) {
        func list(_ key: String, _ values: [String]) -> [String] {
            values.isEmpty ? [] : ["\(key)=\(values.joined(separator: " "))"]
        }
        let sender =
            list("User", users.map(\.text)) + list("Group", groups.map(\.text))
            + list("Account", accounts.map(\.description)) + list("Project", projects.map(\.description))
        let allowed =
            list("Operation", operations.map(\.rawValue)) + list("App", apps.map(\.description))
            + list("ExternalID", externalIDs.map(\.description)) + list("Rate", rate.map { ["\($0)"] } ?? [])
            + list("Burst", burst.map { ["\($0)"] } ?? [])
        return (sender, allowed)
    }

    /// The rule for people.
    fileprivate var text: String {
        let (sender, allowed) = parts
        return (sender.isEmpty ? "everybody" : sender.joined(separator: ", ")) + " -> "
            + (refusesAll ? "nothing" : allowed.isEmpty ? "everything" : allowed.joined(separator: ", "))
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("match", array: { list in parts.sender.forEach { list.string($0) } })
            writer.member("refuse", refusesAll)
            writer.member("allow", array: { list in parts.allowed.forEach { list.string($0) } })
        }
    }
}

extension TrackRule {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("name", name)
            $0.member("on", array: { list in occasions.forEach { list.string($0.rawValue) } })
            $0.member("actions", array: { list in buttons.forEach { list.string($0.description) } })
            $0.member("match", match.text)
            $0.member("identifier", identifier.text)
            $0.member("event", event?.name.described)
            $0.member("properties", array: { list in event?.properties.forEach { list.string($0.name) } })
            $0.member("attributes", array: { list in attributes.forEach { list.string($0.name) } })
            $0.member("user_attributes", array: { list in userAttributes.forEach { list.string($0.name) } })
        }
    }

    /// The occasions and buttons, as the file has them.
    fileprivate var on: String {
        "On=\(occasions.map(\.rawValue).joined(separator: " "))"
            + (buttons.isEmpty ? "" : ", Action=\(buttons.map(\.description).joined(separator: " "))")
    }

    /// The event and attributes that the track makes.
    fileprivate var output: String {
        let fields = (attributes + userAttributes).map(\.name).joined(separator: " ")
        let parts = [event.map { "event \($0.name.described)" }, fields.isEmpty ? nil : "attributes \(fields)"]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension TrackIdentifier {
    fileprivate var text: String {
        switch self {
        case .brazeID(let key): "braze_id in \(TrackSource.keyValue(key).described)"
        case .externalID(.fact(.externalID)): "external_id"
        case .externalID(let source): "external_id in \(source.described)"
        case .alias(let label, let source): "alias \(label) in \(source.described)"
        }
    }
}

extension Handler {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("name", name)
            $0.member("type", kind.name)
            if let command = kind.command {
                $0.member("exec", array: { list in command.arguments.forEach { list.string($0) } })
            }
            if let path = kind.socketPath { $0.member("connect", path) }
            if let rules = kind.notificationRules { $0.member("bus", rules.bus.text) }
            $0.member("idempotent", idempotent)
        }
    }
}

extension ProviderRule {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("purpose", purpose.rawValue)
            for platform in Platform.allCases {
                guard let rule = platforms[platform] else { continue }
                writer.key(platform.rawValue)
                writer.object {
                    $0.member("order", rule.order)
                    $0.member("confidence", rule.confidence.rawValue)
                    $0.member("entry", rule.entry.rawValue)
                }
            }
        }
    }

    /// The rule's order on each platform, and its special cases.
    fileprivate var text: String {
        let places = Platform.allCases.compactMap { platform -> String? in
            guard let rule = platforms[platform] else { return nil }
            return "\(platform.rawValue) \(rule.order)" + (rule.confidence == .low ? " low confidence" : "")
                + (rule.entry == .ownReceiver ? " own receiver" : "")
        }
        return places.joined(separator: ", ") + (purpose == .uninstallProbe ? "; uninstall probe" : "")
    }
}

extension Handler.Kind {
    fileprivate var text: String {
        if let command { return "\(name): \(command.arguments.joined(separator: " "))" }
        return (socketPath ?? notificationRules?.bus.text).map { "\(name): \($0)" } ?? name
    }
}

extension NotificationRules.Bus {
    /// The bus as the file has it.
    fileprivate var text: String {
        switch self {
        case .session: "session"
        case .address(let address): address
        }
    }
}

extension RouteMatch {
    /// The conditions as a route file has them; `everything` without any.
    fileprivate var text: String {
        let conditions =
            Self.list("Provider", providers) + Self.list("Platform", platforms.map(\.rawValue))
            + Self.list("Callback", callbacks.map(\.rawValue)) + Self.list("App", apps.map(\.description))
            + data.map { "Data=\($0.text)" } + keyValues.map { "KeyValue=\($0.text)" }
        return conditions.isEmpty ? "everything" : conditions.joined(separator: ", ")
    }

    private static func list(_ key: String, _ values: [String]) -> [String] {
        values.isEmpty ? [] : ["\(key)=\(values.joined(separator: " "))"]
    }
}

extension RouteMatch.KeyCondition {
    fileprivate var text: String { key + (pattern.map { " \($0)" } ?? "") }
}
