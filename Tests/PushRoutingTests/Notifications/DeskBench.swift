@testable import PushModel
@testable import PushRouter

/// A desk under test: acts in, effects as short texts out.
struct DeskBench {
    private var desk = NotificationDesk()
    var now = Instant(nanoseconds: 0)
    private let rules: NotificationRules

    init(_ rules: NotificationRules = NotificationRules()) { self.rules = rules }

    var shownCount: Int { desk.shownCount }
    var runCount: Int { desk.runCount }
    var nextDue: Instant? { desk.nextDue }

    /// The effects of an act, as text.
    mutating func act(_ body: (inout NotificationDesk, Instant, inout [NotificationDesk.Effect]) -> Void) -> [String] {
        var effects: [NotificationDesk.Effect] = []
        body(&desk, now, &effects)
        return effects.map(\.text)
    }

    /// An invocation whose payload has this data, a JSON object.
    mutating func start(
        _ seq: Int64, data: String = #"{"title":"Hello","body":"World"}"#, callback: Callback = .onMessageReceived
    ) -> [String] {
        let run = Self.run(seq, data: data, callback: callback)
        return act { [rules] in $0.start(run, rules, at: $1, &$2) }
    }

    mutating func stop(_ seq: Int64) -> [String] { act { $0.stop(InvocationID(seq), at: $1, &$2) } }

    mutating func opened(_ capabilities: Set<String> = ["actions", "body", "body-markup"]) -> [String] {
        act { $0.opened(capabilities: capabilities, at: $1, &$2) }
    }

    mutating func shown(_ token: Int64, as number: UInt32) -> [String] {
        act { $0.answered(token, .shown(number), at: $1, &$2) }
    }

    mutating func lost(_ reason: String = "gone") -> [String] { act { $0.lost(reason, at: $1, &$2) } }

    mutating func clicks(_ number: UInt32, _ action: String = "default") -> [String] {
        act { desk, _, effects in desk.acted(on: number, action, &effects) }
    }

    mutating func closes(_ number: UInt32, dismissed: Bool = true) -> [String] {
        act { desk, _, effects in desk.closed(number, wasDismissed: dismissed, &effects) }
    }

    static func run(_ seq: Int64, data: String, callback: Callback = .onMessageReceived) -> HandlerRun {
        let start = Moment(monotonic: Instant(nanoseconds: 0), wall: WallTime(milliseconds: 0))
        let line = Array(#"{"op":"deliver","payload":{"data":\#(data)}}"#.utf8)
        guard let request = try? Request(line: line) else { preconditionFailure("a request of a test is wrong") }
        let accepted = AcceptedRequest(
            seq: SequenceNumber(seq), operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: start, boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: "shop",
            device: "d", externalID: nil, messageID: nil, body: line)
        let handler = Handler(name: "desk", kind: .notify(NotificationRules()))
        let deadline = Instant(nanoseconds: 9_000_000_000)
        let record = InvocationRecord(
            id: InvocationID(seq), callback: callback, provider: nil, route: "all", handler: handler.name,
            budget: .seconds(9), deadline: deadline, started: true, result: nil)
        return HandlerRun(
            invocation: record, request: accepted, subject: InvocationSubject(request), handler: handler,
            deadline: deadline)
    }
}

extension NotificationDesk.Effect {
    fileprivate var text: String {
        switch self {
        case .open: "open"
        case .close: "close"
        case .show(let call, let token, let id):
            "show \(id.seq) as \(token)" + (call.replaces == 0 ? "" : " for \(call.replaces)")
        case .withdraw(let number): "withdraw \(number)"
        case .report(.started(let id, _)): "started \(id.seq)"
        case .report(.finished(let id, .handled)): "handled \(id.seq)"
        case .report(.finished(let id, .declined)): "declined \(id.seq)"
        case .report(.finished(let id, .rejected(let reason))): "rejected \(id.seq): \(reason)"
        case .report(.finished(let id, .unavailable(let reason, let after))):
            "unavailable \(id.seq) for \(after.milliseconds): \(reason)"
        case .report: "unexpected"
        case .act(let act): "\(act.kind.rawValue) \(act.invocation.seq)" + (act.action.map { " \($0)" } ?? "")
        case .note: "note"
        }
    }
}
