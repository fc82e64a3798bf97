public import PushModel

/// Answers requests: it reads from a source, asks the daemon, and writes pages and JSON. On one thread.
public struct WebDesk {
    /// The facts that stay the same as long as the program runs.
    public struct Facts: Sendable {
        /// The rules of access.
        public var access: WebAccess
        /// Whether push tokens are shown whole.
        public var fullTokens: Bool
        /// Under whom it acts, for people: `pushrouter-web (uid 995)`.
        public var actor: String

        /// Joins the parts.
        public init(access: WebAccess, fullTokens: Bool, actor: String) {
            (self.access, self.fullTokens, self.actor) = (access, fullTokens, actor)
        }
    }

    let facts: Facts
    let source: any PushSource
    let daemon: any WebDaemon
    let configurations: any WebConfigurations
    let now: () -> WallTime
    /// Takes what a person did, for the journal.
    let note: (String) -> Void
    let counts = SearchCounts()

    /// - Parameters:
    ///   - facts: the unchanging facts of the page.
    ///   - source: where pushes are read.
    ///   - daemon: the daemon.
    ///   - configurations: the configurations, for explanations.
    ///   - now: the time.
    ///   - note: takes what a person did, for the journal: one line.
    public init(
        _ facts: Facts, source: any PushSource, daemon: any WebDaemon, configurations: any WebConfigurations,
        now: @escaping () -> WallTime, note: @escaping (String) -> Void
    ) {
        (self.facts, self.source, self.daemon, self.configurations) = (facts, source, daemon, configurations)
        (self.now, self.note) = (now, note)
    }

    /// Answers a request that ``WebAccess/refusal(of:)`` lets go on.
    public func answer(_ request: WebRequest) -> WebAnswer {
        do throws(WebProblem) {
            return try route(request)
        } catch {
            if request.isOfAPI { return .response(.problem(error.message, status: error.status, field: error.field)) }
            return .response(page(request, error))
        }
    }

    /// Whether the answer to a request needs the daemon, which may be slow.
    public static func asksDaemon(_ request: WebRequest) -> Bool {
        WebRoute.all.contains { $0.method == request.usedMethod && $0.asksDaemon && $0.matches(request.path).isOwn }
    }

    /// The former addresses of parts of other pages.
    private static let moved = [["lanes"]: "/report#now", ["handlers"]: "/report#now"]

    private func route(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        var methods: Set<String> = []
        for route in WebRoute.all {
            let (isOwn, number) = route.matches(request.path)
            guard isOwn else { continue }
            methods.insert(route.method)
            guard route.method == request.usedMethod else { continue }
            try check(route.right)
            if route.kind == .api || route.kind == .stream { try checkParameters(of: request, route) }
            if request.isAct, let right = route.right {
                let person = facts.access.person(request).map { " for \($0)" } ?? ""
                note(
                    "\(request.peer.name)\(person) asks for \(route.pattern) (\(right)): \(request.path.joined(separator: "/"))"
                )
            }
            var request = request
            request.number = number
            return try route.answer(self)(request)
        }
        if let moved = Self.moved[request.path] { return .response(.seeOther(moved)) }
        if let asset = WebAsset.named(request.path) { return .response(asset.response) }
        guard methods.isEmpty else {
            throw WebProblem(
                405, "/\(request.path.joined(separator: "/")) takes \(methods.sorted().joined(separator: ", ")) alone")
        }
        throw WebProblem(404, "there is no page /\(request.path.joined(separator: "/").prefix(200))")
    }

    private func check(_ right: WebRoute.Right?) throws(WebProblem) {
        switch right {
        case .inject where !daemon.mayInject:
            throw WebProblem(403, "this page only reads: \(facts.actor) may not use inject.sock (act-inject.conf)")
        case .control where !daemon.mayControl:
            throw WebProblem(
                403, "this page may not do that: \(facts.actor) may not use control.sock (act-control.conf)")
        case .inject, .control, nil: break
        }
    }

    /// A misspelt parameter would be a condition less: a test that uses it could not fail.
    private func checkParameters(of request: WebRequest, _ route: WebRoute) throws(WebProblem) {
        let names = route.parameters.map(\.name)
        if request.isAct, let name = request.query.names.first {
            throw WebProblem(
                400,
                "\(request.method) \(route.pattern) takes no parameter in its address, and here is \(name)"
                    + (names.isEmpty ? "" : ": put it into the JSON object of the body"), field: name)
        }
        let given = request.isAct ? try fields(request).names : request.query.names
        for name in given where !names.contains(name) {
            let known =
                names.isEmpty ? "; \(route.pattern) takes none" : suggestion(for: name, among: names)
            throw WebProblem(
                400,
                "there is no parameter \(name.prefix(100))"
                    + (known.isEmpty ? "; there are \(names.joined(separator: ", "))" : known), field: name)
        }
    }

    func reading<Value>(_ read: () throws(SourceError) -> Value) throws(WebProblem) -> Value {
        do throws(SourceError) { return try read() } catch { throw WebProblem(error) }
    }

    /// The query that a request asks with.
    func query(_ request: WebRequest, beginning: String = "") throws(WebProblem) -> PushQuery {
        try query(beginning + (request.query["query"] ?? ""))
    }

    func query(_ text: String) throws(WebProblem) -> PushQuery {
        do throws(QueryError) { return try PushQuery(text, now: now()) } catch { throw WebProblem(error) }
    }

    func search(_ search: PushSearch) throws(WebProblem) -> PushPage {
        try reading { () throws(SourceError) in try source.search(search) }
    }

    func number(_ name: String, of request: WebRequest) throws(WebProblem) -> SequenceNumber? {
        guard let text = request.query[name] else { return nil }
        guard let value = Int64(text), value >= 0 else {
            throw WebProblem(400, "\(name) is the number of a request, not \(text)", field: name)
        }
        return SequenceNumber(value)
    }

    /// The story of the request that the address names, with its tokens.
    func story(_ request: WebRequest) throws(WebProblem) -> RequestStory {
        guard let number = request.number else { throw WebProblem(404, "there is no such request") }
        return try story(number)
    }

    func story(_ seq: SequenceNumber) throws(WebProblem) -> RequestStory {
        switch try reading({ () throws(SourceError) in try source.story(of: seq) }) {
        case .story(let story): return story
        case .gone:
            throw WebProblem(410, "request \(seq) is gone: it is older than Retention=, or its number was never given")
        case .toCome(let last): throw WebProblem(404, "there is no request \(seq); the last one is \(last)")
        }
    }

    /// The interactions of a device after a push, the newest first, as far back as a page looks: its `next` says that it ended
    /// before the push.
    func interactions(on device: String, after seq: SequenceNumber) -> PushPage {
        guard let query = try? PushQuery("op:interact device:\(device.asQueryValue)", now: now()) else {
            return PushPage()
        }
        let search = PushSearch(query, after: seq, limit: 200, patience: .milliseconds(20))
        return (try? source.search(search)) ?? PushPage()
    }

    /// With push tokens shortened, unless they are asked for.
    func shown(_ story: RequestStory) -> RequestStory { facts.fullTokens ? story : story.withShortTokens }

    /// The facts for a line of a list, which has no token but that of a refused send, in place of its device.
    func shown(_ facts: PushFacts) -> PushFacts {
        self.facts.fullTokens || !facts.story.hasTokenAsDevice ? facts : pushFacts(facts.story.withShortTokens)
    }

    func status() throws(WebProblem) -> JSONNode {
        guard let status = try daemon.ask(.status)["status"] else {
            throw WebProblem(503, "the daemon's answer has no status")
        }
        return status
    }

    /// The window that a request names.
    func window(_ request: WebRequest) throws(WebProblem) -> ReportWindow {
        func time(_ name: String) throws(WebProblem) -> WallTime? {
            guard let text = request.query[name] else { return nil }
            guard let time = WallTime(inWords: text, now: now()) else {
                throw WebProblem(
                    400, "\(name) is RFC 3339, a date, today, yesterday, or how long ago, as -1h; not \(text)",
                    field: name)
            }
            return time
        }
        let (since, until) = (try time("since"), try time("until"))
        if let since, let until, until < since { throw WebProblem(400, "until is before since", field: "until") }
        return ReportWindow(since: since, until: until)
    }
}
