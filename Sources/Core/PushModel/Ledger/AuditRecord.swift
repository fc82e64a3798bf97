/// One administrative act: who did what, on how many, and with which result.
///
/// An id of a person is in ``externalID`` and ``device`` alone, which an erasure of the person empties. The erasure's
/// own record has neither.
public struct AuditRecord: Hashable, Sendable {
    /// An act. The raw values are in the ledger, in the journal and in exports.
    public enum Act: String, Sendable, CaseIterable {
        case replay, purge, flush, reset, resolve, erase, reload
        case logLevel = "log_level"
        case restore, move, drain
        case gatewayRotate = "gateway_rotate"
        case device, token, topic
    }

    /// The way by which an act came. The raw values are in the ledger, in the journal and in exports.
    public enum Entrance: String, Sendable, CaseIterable {
        /// `control.sock`: `pushctl`, and the page as the user of its service.
        case control
        /// `inject.sock`: `pushctl`, the gateway and other producers.
        case inject
        /// `read.sock`, which refuses each act.
        case read
        /// A signal, whose sender the daemon does not know.
        case signal
        /// D-Bus, whose policy lets only root in.
        case bus
        /// A program that acts without the daemon.
        case program
        /// A start of the daemon, which continued what an earlier run began.
        case start
    }

    /// How an act ended. The raw values are in the ledger, in the journal and in exports.
    public enum Result: String, Sendable, CaseIterable {
        case done, refused
    }

    /// The act itself, and its object.
    public struct Subject: Hashable, Sendable {
        /// The act.
        public var act: Act
        /// The object in words, without a person.
        public var what: String?
        /// The user that the act names.
        public var externalID: String?
        /// The device that the act names.
        public var device: String?

        /// The end of the gateway's authority, as ordered.
        public static func gatewayRotate(until end: WallTime) -> Subject {
            Subject(.gatewayRotate, "the old authority ends on \(end.rfc3339)")
        }

        /// Joins the parts; cuts long words.
        public init(_ act: Act, _ what: String? = nil, externalID: String? = nil, device: String? = nil) {
            self.act = act
            self.what = what?.prefix(bytes: AuditRecord.longestText)
            (self.externalID, self.device) = (externalID, device)
        }
    }

    /// When it ended.
    public var at: WallTime
    /// The act and its object.
    public var subject: Subject
    /// The way by which it came.
    public var entrance: Entrance
    /// How it ended.
    public var result: Result
    /// The user id of the one who acted, on the machine that writes the record; `nil`: unknown.
    public var uid: UInt32?
    /// The process at the time of connecting; for people.
    public var pid: Int32?
    /// The machine of a pair.
    public var node: String?
    /// How many requests, entries or rows it changed; `nil`: none are counted.
    public var count: Int?
    /// How many such acts the record stands for: more than one if a client acted too often for a record of each.
    public var times: Int
    /// Why it was refused, or not done wholly.
    public var reason: String?

    /// The longest words of a record, in bytes.
    public static let longestText = 300

    /// Joins the parts; cuts a long reason.
    public init(
        at: WallTime, _ subject: Subject, _ entrance: Entrance, _ result: Result, uid: UInt32?, pid: Int32? = nil,
        node: String? = nil, count: Int? = nil, times: Int = 1, reason: String? = nil
    ) {
        (self.at, self.subject, self.entrance, self.result) = (at, subject, entrance, result)
        (self.uid, self.pid, self.node, self.count, self.times) = (uid, pid, node, count, times)
        self.reason = reason?.prefix(bytes: Self.longestText)
    }

    /// The record in one sentence, without an id of a person: the journal keeps what an erasure removes.
    public var sentence: String {
        let who = uid.map { "uid \($0)" } ?? "nobody known"
        let process = pid.map { ", process \($0)" } ?? ""
        let what = subject.what.map { " (\($0))" } ?? ""
        let often = times == 1 ? "" : " \(times) times"
        let many = count.map { ", \($0)" } ?? ""
        let why = reason.map { ": \($0)" } ?? ""
        return
            "\(subject.act.rawValue)\(what)\(often) by \(who)\(process), \(entrance.words): \(result.rawValue)\(many)"
            + why
    }
}

extension AuditRecord.Entrance {
    /// The way in words.
    fileprivate var words: String {
        switch self {
        case .control: "on control.sock"
        case .inject: "on inject.sock"
        case .read: "on read.sock"
        case .signal: "with a signal"
        case .bus: "over D-Bus"
        case .program: "without the daemon"
        case .start: "continued by a start"
        }
    }
}

extension ControlRequest.Operation {
    /// The administrative act that the request asks for; `nil`: it changes nothing, or is the forwarder's work.
    public var administrative: AuditRecord.Subject? {
        switch self {
        case .status, .metrics, .sync, .configuration, .logLevel(nil): nil
        case .claim, .peek, .depart, .settle, .sending: nil
        case .replay(let requests): AuditRecord.Subject(.replay, Self.list(requests.map(\.value), of: "requests"))
        case .purge(let requests): AuditRecord.Subject(.purge, Self.list(requests.map(\.value), of: "requests"))
        case .flush(let flush):
            AuditRecord.Subject(
                .flush, Self.words(app: flush.target.app, suite: flush.suite), externalID: flush.target.externalID,
                device: flush.target.device)
        case .reset(let suite, let app): AuditRecord.Subject(.reset, Self.words(app: app, suite: suite))
        case .resolve(let resolve):
            AuditRecord.Subject(
                .resolve,
                (resolve.entries.map { Self.list($0.map(\.value), of: "entries") } ?? "all unknown entries")
                    + " as \(resolve.state.rawValue)")
        case .erase: AuditRecord.Subject(.erase)
        case .reload: AuditRecord.Subject(.reload)
        case .gatewayRotate(let end): .gatewayRotate(until: end)
        case .logLevel(let level?): AuditRecord.Subject(.logLevel, level)
        }
    }

    private static func list(_ numbers: [Int64], of what: String) -> String {
        let shown = numbers.prefix(8).map(String.init).joined(separator: ", ")
        return "\(what) \(shown)" + (numbers.count > 8 ? " and \(numbers.count - 8) more" : "")
    }

    private static func words(app: String?, suite: String?) -> String? {
        let words = [app.map { "app \($0)" }, suite.map { "suite \($0)" }].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

extension Request {
    /// The administrative act that the request asks for: a change of a device, its token or its topics. `nil`: the request
    /// is a push, or something that a person did.
    public var administrative: AuditRecord.Subject? {
        // Each delivery comes here: it must cost nothing.
        switch action {
        case .deliver, .interact, .session, .log, .publish: nil
        case .device(let device): subject(.device, of: device.target)
        case .token(let token): subject(.token, token.kind.rawValue, of: token.target)
        case .topic(let topic):
            AuditRecord.Subject(
                .topic, "\(topic.kind.rawValue) \(topic.topic.topic) of project \(topic.topic.project)")
        }
    }

    private func subject(
        _ act: AuditRecord.Act, _ word: String? = nil, of target: Target
    ) -> AuditRecord.Subject {
        let words = [word, target.app.map { "app \($0)" }].compactMap(\.self).joined(separator: ", ")
        return AuditRecord.Subject(
            act, words.isEmpty ? nil : words, externalID: target.externalID, device: target.device)
    }
}

extension AuditRecord.Act: StoredName {}
extension AuditRecord.Entrance: StoredName {}
extension AuditRecord.Result: StoredName {}

extension AuditRecord: StoredRecord {
    /// How many records a ledger keeps; the oldest are deleted.
    public static let most: Int64 = 100_000

    // The administrative acts. external_id and device: the person that an act names; an erasure empties both. uid, pid
    // and node: who acted, on which machine of a pair. times: the acts that one row stands for. At most 100,000 rows,
    // the newest.
    public static let table = LedgerTable(
        "audit", key: .given("number"),
        [
            .integer("at"), .name("act", Act.self), .name("entrance", Entrance.self), .name("result", Result.self),
            .integer("uid").orNull, .integer("pid").orNull, .text("node").orNull, .text("what").orNull,
            .text("external_id").orNull, .text("device").orNull, .integer("count").orNull, .integer("times"),
            .text("reason").orNull,
        ])

    public func write(to row: inout RowWriter) {
        row.add(at, subject.act, entrance, result)
        row.add(uid, pid, node, subject.what)
        row.add(subject.externalID, subject.device, count, times)
        row.add(reason)
    }

    public init<Row: RowSource>(reading row: inout Row) throws(Row.Failure) {
        let act: Act
        (at, act, entrance, result) = try row.next()
        let what: String?
        (uid, pid, node, what) = try row.next()
        let (externalID, device): (String?, String?)
        (externalID, device, count, times) = try row.next()
        subject = Subject(act, what, externalID: externalID, device: device)
        reason = try row.next()
    }
}
