public import PushModel
import PushRouter

extension Settings {
    /// Reads and checks a whole configuration, and reports every problem, not only the first.
    ///
    /// - Returns: the settings, or `nil` if a diagnostic is an error; and the diagnostics by line: of the main files,
    ///   the providers, handlers, routes, tracks, registrations and producers, each kind in its order of application;
    ///   then of files that are not read.
    public static func load(_ sources: ConfigurationSources) -> (settings: Settings?, diagnostics: [Diagnostic]) {
        let (settings, diagnostics) = read(sources)
        return (diagnostics.contains { $0.severity == .error } ? nil : settings, diagnostics)
    }

    /// Reads and checks a configuration as ``load(_:)`` does.
    ///
    /// - Returns: the valid parts, for further checks; and the diagnostics.
    public static func read(_ sources: ConfigurationSources) -> (settings: Settings, diagnostics: [Diagnostic]) {
        var loader = Loader()
        for file in sources.main { loader.readMain(file) }
        loader.readProviders(sources.providersInForce)
        for file in sources.handlers.inOrder { loader.readHandler(file) }
        loader.shareOutPlaces()
        for file in sources.routes.inOrder { loader.readRoute(file) }
        for file in sources.tracks.inOrder { loader.readTrack(file) }
        for file in sources.registrations.inOrder { loader.readRegistration(file) }
        for file in sources.producers.inOrder { loader.readProducer(file) }
        loader.checkUse()
        return (loader.settings, loader.reports.flatMap(\.diagnostics) + sources.strays)
    }
}

/// Turns files into settings: main files, providers, handlers, routes, tracks, registrations, producers. Each kind
/// refers to the kinds before it.
private struct Loader {
    var settings = Settings()
    var reports: [FileReport] = []
    private var providerFiles: Set<String> = []
    /// The handlers so far. Each change of those in `settings` would copy all of them.
    private var handlers: [String: Handler] = [:]
    /// The index in `reports` of each handler file, even with errors, by handler name.
    private var handlerFiles: [String: Int] = [:]
    /// The handlers with `MaxConcurrent=`.
    private var limitedHandlers: Set<String> = []
    private var routeFiles: Set<String> = []
    private var trackFiles: Set<String> = []
    private var registrationFiles: Set<String> = []
    private var producerFiles: Set<String> = []
    /// The first file of `producers.d` so far that decides about all senders.
    private var lastProducer: String?
    /// The place of the last `SendFlushed=`.
    private var sendFlushed: (report: Int, line: Int)?
    /// The place of the last `LogSizeMax=`.
    private var logSizeMax: (report: Int, line: Int)?
    /// The handlers in routes.
    private var used: Set<String> = []
    /// The routes so far that decline nothing.
    private var covering = CoveringRoutes()
    /// The first route so far that matches everything.
    private var catchAll: Route?

    mutating func readMain(_ file: ConfigurationFile) {
        var report = FileReport(file: file.path)
        let lines = Schema.main.read(file.bytes, into: &settings, report: &report)
        if let line = lines?["SendFlushed"] { sendFlushed = (reports.count, line) }
        if let line = lines?["LogSizeMax"] { logSizeMax = (reports.count, line) }
        reports.append(report)
    }

    mutating func readProviders(_ files: [ConfigurationFile]) {
        var rules: [ProviderRule] = []
        for file in files {
            var report = FileReport(file: file.path)
            if let rule = provider(file, report: &report) {
                if providerFiles.insert(rule.name).inserted {
                    rules.append(rule)
                } else {
                    report.error("there is another provider named \(rule.name); names must differ")
                }
            }
            reports.append(report)
        }
        settings.routing.detection.providers = rules
        guard !files.contains(where: { $0.stem == ProviderRule.brazeName }) else { return }
        var report = FileReport(file: "providers.d")
        report.warning(
            "braze.provider is empty and masks Braze's rule: its pushes are routed like any other's, and no open of them is counted"
        )
        reports.append(report)
    }

    private func provider(_ file: ConfigurationFile, report: inout FileReport) -> ProviderRule? {
        do { _ = try Form.providerName.parse(file.stem) } catch {
            report.error("the file's name without its extension is no provider's: \(error.reason)")
            return nil
        }
        var draft = ProviderDraft()
        guard let lines = Schema.provider.read(file.bytes, into: &draft, report: &report) else { return nil }
        return draft.validated(name: file.stem, lines: lines, report: &report)
    }

    mutating func readHandler(_ file: ConfigurationFile) {
        var report = FileReport(file: file.path)
        defer { reports.append(report) }
        guard let name = name(of: file, report: &report) else { return }
        guard handlerFiles.updateValue(reports.count, forKey: name) == nil else {
            report.error("there is another handler named \(name); names must differ")
            return
        }
        var draft = HandlerDraft()
        draft.logsOutput = settings.journal.hasHandlerOutput
        guard let lines = Schema.handler.read(file.bytes, into: &draft, report: &report) else { return }
        if lines["MaxConcurrent"] != nil { limitedHandlers.insert(name) }
        handlers[name] = draft.validated(
            name: name, mode: settings.routing.mode, budget: settings.routing.budget,
            serviceSockets: settings.daemon.serviceSockets, lines: lines, report: &report)
    }

    /// Puts the handlers into the settings. Makes handlers without `MaxConcurrent=` leave places to others if there are
    /// several handlers: without this, hanging handlers would block the others.
    mutating func shareOutPlaces() {
        let running = handlers.values.filter { !$0.kind.isBuiltIn }
        for handler in running where running.count > 1 && !limitedHandlers.contains(handler.name) {
            handlers[handler.name]?.leavesPlaces = true
        }
        settings.routing.handlers = handlers
    }

    mutating func readRoute(_ file: ConfigurationFile) {
        var report = FileReport(file: file.path)
        defer { reports.append(report) }
        guard let name = name(of: file, report: &report) else { return }
        guard routeFiles.insert(name).inserted else {
            report.error("there is another route named \(name); names must differ")
            return
        }
        var draft = RouteDraft()
        guard let lines = Schema.route.read(file.bytes, into: &draft, report: &report),
            let route = draft.validated(
                name: name, budget: settings.routing.budget, lines: lines, report: &report)
        else { return }
        used.insert(route.handler)
        checkHandler(of: route, lines: lines, report: &report)
        // The intended match of a faulty route is unknown, so the checks of later routes do not use it.
        if report.hasErrors { return }
        checkProviders(of: route.match, line: lines["Provider"], report: &report)
        if let reason = route.reasonNeverCalled(providers: settings.routing.detection.providers) {
            report.warning(
                "Provider=\(route.match.providers.joined(separator: " ")): \(reason)", line: lines["Provider"])
        }
        if let reason = route.match.reasonNeverCalledBack {
            report.warning(reason, line: lines["Callback"])
        }
        checkReach(of: route, report: &report)
        settings.routing.routes.append(route)
    }

    mutating func readTrack(_ file: ConfigurationFile) {
        var report = FileReport(file: file.path)
        defer { reports.append(report) }
        guard let name = name(of: file, report: &report) else { return }
        guard trackFiles.insert(name).inserted else {
            report.error("there is another track named \(name); names must differ")
            return
        }
        var draft = TrackDraft()
        guard let lines = Schema.track.read(file.bytes, into: &draft, report: &report),
            let track = draft.validated(name: name, lines: lines, report: &report)
        else { return }
        checkProviders(of: track.match, line: lines["Provider"], report: &report)
        settings.routing.tracks.append(track)
    }

    mutating func readRegistration(_ file: ConfigurationFile) {
        var report = FileReport(file: file.path)
        defer { reports.append(report) }
        guard let name = name(of: file, report: &report) else { return }
        guard registrationFiles.insert(name).inserted else {
            report.error("there is another registration named \(name); names must differ")
            return
        }
        var draft = RegistrationDraft()
        guard let lines = Schema.registration.read(file.bytes, into: &draft, report: &report),
            let rule = draft.validated(name: name, lines: lines, report: &report)
        else { return }
        settings.routing.registrations.append(rule)
    }

    mutating func readProducer(_ file: ConfigurationFile) {
        var report = FileReport(file: file.path)
        defer { reports.append(report) }
        guard let name = name(of: file, report: &report) else { return }
        guard producerFiles.insert(name).inserted else {
            report.error("there is another producer named \(name); names must differ")
            return
        }
        var draft = ProducerRuleDraft()
        guard let lines = Schema.producer.read(file.bytes, into: &draft, report: &report),
            let rule = draft.validated(name: name, lines: lines, report: &report)
        else { return }
        // A line that is passed over would let more through than the file means.
        guard report.diagnostics.isEmpty else {
            report.error("a rule for producers is read whole, or not at all: correct what the warnings name")
            return
        }
        if let lastProducer {
            report.warning("never applies: \(lastProducer) comes first and decides about all senders")
        } else if rule.users.isEmpty, rule.groups.isEmpty {
            lastProducer = name
        }
        settings.producers.append(rule)
    }

    /// Checks conditions that need all files.
    mutating func checkUse() {
        // Built-in handlers cost nothing without a route, and are shipped for later routes.
        for (name, handler) in settings.routing.handlers where !handler.kind.isBuiltIn && !used.contains(name) {
            guard let place = handlerFiles[name] else { continue }
            reports[place].warning("no route has Handler=\(name), so it never runs")
        }
        if routeFiles.isEmpty {
            var report = FileReport(file: "routes.d")
            report.warning("no *.route files: every invocation that is not Braze's ends as unrouted")
            reports.append(report)
        }
        if settings.usersTrack.endpoint == nil { warnOfNoEndpoint() }
        warnOfSmallLog()
    }

    /// Warns if the log is smaller than four of the longest batches: it gets their size.
    private mutating func warnOfSmallLog() {
        let rows = BatchLimits.longestRows(requestLength: settings.daemon.requestLengthMax)
        guard settings.store.logSizeMax < BatchLimits.batchesInLog * rows, let (place, line) = logSizeMax else {
            return
        }
        reports[place].warning(
            "LogSizeMax=: the log holds at least \(BatchLimits.batchesInLog) batches, and with "
                + "RequestLengthMax=\(settings.daemon.requestLengthMax >> 20)M a batch may have \(rows >> 20) MiB: the log "
                + "may grow to \(settings.store.logLength >> 20) MiB",
            line: line)
    }

    private mutating func warnOfNoEndpoint() {
        let consequence =
            "[UsersTrack] has no Endpoint=, so nothing is sent until it has one: entries wait, up to "
            + "MaxPending=\(settings.routing.customData.pendingMax)"
        if settings.routing.customData.sendsFlushed, let (place, line) = sendFlushed {
            reports[place].warning("SendFlushed=yes: \(consequence)", line: line)
        }
        if !settings.routing.tracks.isEmpty {
            var report = FileReport(file: "tracks.d")
            report.warning(consequence)
            reports.append(report)
        }
    }

    private func name(of file: ConfigurationFile, report: inout FileReport) -> String? {
        do { return try Form.stem.parse(file.stem) } catch {
            report.error("the file's name without its extension \(error.reason)")
            return nil
        }
    }

    private func checkHandler(of route: Route, lines: [String: Int], report: inout FileReport) {
        guard handlerFiles[route.handler] != nil else {
            report.error(
                "Handler=\(route.handler): there is no handlers.d/\(route.handler).handler"
                    + suggestion(for: route.handler, among: handlerFiles.keys) { "Handler=\($0)" },
                line: lines["Handler"])
            return
        }
        guard let deadline = route.budget, let grace = settings.routing.handlers[route.handler]?.grace else { return }
        if deadline <= grace {
            report.error(
                "Deadline=\(spelledTimeSpan(deadline)): must be more than Grace=\(spelledTimeSpan(grace)) of the "
                    + "handler \(route.handler), or it gets SIGTERM before it starts",
                line: lines["Deadline"])
        }
    }

    private func checkProviders(of match: RouteMatch, line: Int?, report: inout FileReport) {
        let known = settings.routing.detection.providers
        for name in match.providers where name != RouteMatch.noProvider {
            guard !known.contains(where: { $0.name == name }) else { continue }
            report.warning(
                "Provider=\(name): there is no providers.d/\(name).provider, or it is empty"
                    + suggestion(for: name, among: known.map(\.name) + [RouteMatch.noProvider]) { "Provider=\($0)" },
                line: line)
        }
    }

    private mutating func checkReach(of route: Route, report: inout FileReport) {
        // A program may decline an invocation (exit status 80), which then goes to the next matching route.
        guard !route.observes else { return }
        let leavesNothing = settings.routing.handlers[route.handler]?.kind.isBuiltIn == true
        let earlier = covering.first(covering: route.match, adding: leavesNothing ? route : nil)
        if let earlier, !route.match.isOnlyBroadcast {
            report.warning(
                "never applies: \(earlier) comes first and matches everything that this route matches"
                    + (route.match.isNeverBroadcast ? "" : ", except for token and deleted-messages callbacks"))
        } else {
            warnOfCatchAll(before: route, report: &report)
        }
        if catchAll == nil, route.match == RouteMatch() { catchAll = route }
    }
}

extension Loader {
    /// Warns about a route after a catch-all. The catch-all's program may decline, but hardly by intention.
    private func warnOfCatchAll(before route: Route, report: inout FileReport) {
        guard let everything = catchAll, !route.match.isOnlyBroadcast else { return }
        report.warning(
            "applies only where the handler \(everything.handler) declines (exit status 80): \(everything.name) comes first "
                + "and matches everything")
    }
}
