import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

/// A forwarder under virtual time, connected to a daemon without a reply so far.
struct Bench {
    private(set) var forwarder: Forwarder
    private(set) var now = Moment(
        monotonic: Instant(nanoseconds: 0), wall: WallTime(milliseconds: 1_795_251_600_000))
    private var random = SeededGenerator(seed: 1)

    init(_ settings: ForwardingSettings = ForwardingSettings()) {
        forwarder = Forwarder(settings: settings, now: now)
    }

    /// Whether the daemon confirms departures at once; the effects then leave them out.
    var confirmsDepartures = true

    mutating func handle(_ event: ForwarderEvent) -> [ForwarderEffect] {
        let effects = forwarder.handle(event, now: now, using: &random)
        guard confirmsDepartures else { return effects }
        return effects.flatMap { effect in
            if case .depart(let numbers) = effect { handle(.departed(numbers)) } else { [effect] }
        }
    }

    /// Advances the time, with a clock event.
    mutating func pass(_ span: Duration) -> [ForwarderEffect] {
        now.monotonic = now.monotonic + span
        now.wall.milliseconds += span.milliseconds
        return handle(.clock)
    }

    /// Advances the time to the forwarder's next due time, and returns the span.
    mutating func passUntilDue() throws -> (Duration, [ForwarderEffect]) {
        let span = try #require(forwarder.nextDue) - now.monotonic
        return (span, pass(span))
    }

    /// Connects, and hands over entries with the first claim.
    mutating func start(_ entries: [ClaimedEntry], past: SendingState? = nil) -> [ForwarderEffect] {
        _ = handle(.connected)
        return handle(.claimed(entries, past))
    }

    /// Hands over entries after others were released: the claim before that ends empty.
    mutating func startAgain(_ entries: [ClaimedEntry]) -> [ForwarderEffect] {
        _ = handle(.claimed([], nil))
        return handle(.claimed(entries, nil))
    }

    /// Answers a request.
    mutating func answer(
        _ request: Int, _ status: Int, _ body: String = "{}", reset: String? = nil
    ) -> [ForwarderEffect] {
        let response = EndpointResponse(status: status, rateLimitReset: reset, body: Array(body.utf8))
        return handle(.answered(request: request, .response(response)))
    }

    static let success = #"{"message":"success"}"#
}

/// An event of a user, or attributes.
func entry(
    _ number: Int64, user: String = "u", kind: EntryKind = .customEvent, data: String = "{}"
) -> ClaimedEntry {
    ClaimedEntry(
        number: EntryNumber(number), kind: kind, identifier: .externalID(user), app: nil,
        name: kind == .customEvent ? "n\(number)" : nil,
        data: Array(data.utf8), time: WallTime(milliseconds: 1_795_251_600_123))
}

/// Events, each of another user.
func events(_ numbers: ClosedRange<Int64>) -> [ClaimedEntry] { numbers.map { entry($0, user: "u\($0)") } }

extension [ForwarderEffect] {
    /// The requests, each with its body.
    var sent: [(request: Int, body: String)] {
        compactMap { effect in
            if case .send(let request, let content, _) = effect {
                (request, String(decoding: content.body, as: UTF8.self))
            } else {
                nil
            }
        }
    }

    /// The settlements as text: `7 sent`, `8 rejected: why`.
    var settled: [String] {
        flatMap { effect -> [String] in
            guard case .settle(let settlements) = effect else { return [] }
            return settlements.map { "\($0.number) \($0.state.rawValue)" + ($0.reason.map { ": \($0)" } ?? "") }
        }
    }

    /// The reported states.
    var reported: [SendingState] {
        compactMap { if case .report(let state) = $0 { state } else { nil } }
    }

    /// The entries of each announced departure.
    var departures: [[Int64]] {
        compactMap { if case .depart(let numbers) = $0 { numbers.map(\.value) } else { nil } }
    }

    /// The claims.
    var claims: [(limit: Int, holding: [EntryNumber]?)] {
        compactMap { if case .claim(let limit, let holding) = $0 { (limit, holding) } else { nil } }
    }
}

/// The names of the events in a body, in order.
func names(in body: String) throws -> [String] {
    let root = try JSONDocument(scanning: Array(body.utf8)).root
    return (root["events"]?.elements ?? []).compactMap { $0["name"]?.string }
}

extension EndpointResponse {
    /// A response with a body, as the program reads it.
    init(status: Int, rateLimitReset: String? = nil, body: [UInt8], damage: String? = nil) {
        self.init(status: status, rateLimitReset: rateLimitReset, report: EndpointReport(body), damage: damage)
    }
}

extension ForwardingSettings {
    /// The bodies of the requests for the entries, as the program writes them.
    func requestBodies(for entries: [ClaimedEntry]) -> [[UInt8]] { requests(for: entries).map(\.body) }
}
