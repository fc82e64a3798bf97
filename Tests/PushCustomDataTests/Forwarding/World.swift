import TestSupport

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

/// A daemon, an endpoint and the connections between them, for a forwarder under virtual time. Every possible fault
/// happens at random: connections break with replies in flight, either program is killed, answers are lost.
struct World {
    struct Entry {
        var entry: ClaimedEntry
        var state = EntryState.queued
        var claimant = 0
        /// The run that reserved it and has not announced its departure; the entry is queued on disk.
        var reserver: Int?
        var reason: String?
    }

    private enum Reply {
        case claimed([ClaimedEntry], SendingState?)
        case departed([EntryNumber])
        case settled, reported
    }

    private var forwarder: Forwarder
    private var random: SeededGenerator
    private var now = Moment(monotonic: Instant(nanoseconds: 0), wall: WallTime(milliseconds: 1_795_251_600_000))
    private let settings: ForwardingSettings
    /// The probability of a fault, in percent.
    private var trouble = 30

    // The daemon.
    private(set) var entries: [EntryNumber: Entry] = [:]
    private var sending: SendingState?
    private var waitingClaim: Int?

    // The connections.
    private var instance = 1
    private var isConnected = false
    private var toDaemon: [ForwarderEffect] = []
    private var toForwarder: [Reply] = []
    private var underway: [Int: [[ClaimedEntry]]] = [:]

    // The endpoint.
    private(set) var taken: [EntryNumber: Int] = [:]
    private(set) var refused: [EntryNumber: String] = [:]
    private var lastTaken: [UserIdentifier: EntryNumber] = [:]
    private var departures: [Instant] = []
    private(set) var requests = 0
    private(set) var violations: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var settings = ForwardingSettings()
        settings.batchSize = .random(in: 1...5, using: &random)
        settings.combinedLimit = [nil, 1, 3, 7].randomElement(using: &random) ?? nil
        settings.connections = .random(in: 1...3, using: &random)
        settings.rateLimit = .random(in: 1...4, using: &random)
        self.settings = settings
        forwarder = Forwarder(settings: settings, now: now)
    }

    /// Runs so many steps with faults while entries come, and then without faults until no work is left.
    mutating func live(steps: Int) {
        for _ in 0..<steps { step() }
        trouble = 0
        var quiet = 0
        while quiet < 20 {
            step()
            let isDone = entries.values.allSatisfy { [.sent, .rejected, .unknown].contains($0.state) }
            quiet = isDone && isConnected ? quiet + 1 : 0
        }
    }

    private mutating func chance(_ hundredths: Int) -> Bool { Int.random(in: 0..<100, using: &random) < hundredths }

    private mutating func step() {
        if trouble > 0, chance(30) { save() }
        if chance(trouble / 10) { killForwarder() }
        if chance(trouble / 6) { breakConnection() }
        if !isConnected, chance(50) {
            isConnected = true
            handle(.connected)
        }
        if !toDaemon.isEmpty, chance(70) { serve(toDaemon.removeFirst()) }
        if !toForwarder.isEmpty, chance(70) { deliver(toForwarder.removeFirst()) }
        if let request = underway.keys.sorted().randomElement(using: &random), chance(50) { answer(request) }
        if forwarder.state.phase == .stopped, trouble == 0 || chance(20) { handle(.reconfigured(settings)) }
        // Mostly advances to the next due time; otherwise waits of hours would take up all steps.
        let due = forwarder.nextDue ?? now.monotonic + .seconds(1)
        let span = chance(50) ? due - now.monotonic : .milliseconds(Int64.random(in: 0...500, using: &random))
        now.monotonic = now.monotonic + span
        now.wall.milliseconds += span.milliseconds
        handle(.clock)
    }

    private mutating func handle(_ event: ForwarderEvent) {
        for effect in forwarder.handle(event, now: now, using: &random) {
            switch effect {
            case .send(let request, let content, _): receive(request, content.body)
            case .finish: violations.append("it ends though nobody told it to")
            default:
                if isConnected { toDaemon.append(effect) } else { violations.append("it speaks to nobody") }
            }
        }
        if underway.count > settings.connections { violations.append("too many requests are under way") }
    }

    // MARK: The daemon

    private mutating func save() {
        let number = EntryNumber(Int64(entries.count + 1))
        let kinds: [EntryKind] = [.customEvent, .customEvent, .customAttributes, .userAttributes]
        let kind = kinds.randomElement(using: &random) ?? .customEvent
        let user = "u\(Int.random(in: 1...4, using: &random))"
        entries[number] = Entry(
            entry: PushCustomDataTests.entry(number.value, user: user, kind: kind, data: "{\"n\":\(number)}"))
        serveWaitingClaim()
    }

    private mutating func serve(_ request: ForwarderEffect) {
        // Replies come in order, so a waiting claim ends with the next request.
        if waitingClaim != nil {
            waitingClaim = nil
            toForwarder.append(.claimed([], sending))
        }
        switch request {
        case .settle(let settlements):
            for settlement in settlements where entries[settlement.number]?.reserver == instance {
                if settlement.state != .queued { violations.append("it settles what it never announced") }
                entries[settlement.number]?.reserver = nil
            }
            for settlement in settlements where entries[settlement.number]?.state == .claimed {
                guard entries[settlement.number]?.claimant == instance else { continue }
                entries[settlement.number]?.state = settlement.state
                entries[settlement.number]?.reason = settlement.reason
            }
            toForwarder.append(.settled)
        case .report(let state):
            sending = state
            toForwarder.append(.reported)
        case .claim(let limit, let holding):
            release(allBut: holding)
            waitingClaim = limit
        case .depart(let numbers):
            var granted: [EntryNumber] = []
            for number in numbers {
                if entries[number]?.reserver == instance {
                    entries[number]?.reserver = nil
                    entries[number]?.state = .claimed
                    entries[number]?.claimant = instance
                    granted.append(number)
                } else if let entry = entries[number], entry.state == .claimed, entry.claimant == instance {
                    granted.append(number)
                }
            }
            toForwarder.append(.departed(granted))
        case .send, .finish: violations.append("that is nothing for the daemon")
        }
        serveWaitingClaim()
    }

    private mutating func release(allBut holding: [EntryNumber]?) {
        for (number, entry) in entries {
            guard let reserver = entry.reserver else { continue }
            if reserver != instance || holding?.contains(number) == false { entries[number]?.reserver = nil }
        }
        for (number, entry) in entries where entry.state == .claimed {
            if entry.claimant != instance {
                entries[number]?.state = .unknown
                entries[number]?.reason = "its forwarder is gone"
            } else if let holding, !holding.contains(number) {
                entries[number]?.state = .queued
            }
        }
    }

    private mutating func serveWaitingClaim() {
        let queued = entries.values.filter { $0.state == .queued && $0.reserver == nil }.map(\.entry).sorted {
            $0.number < $1.number
        }
        guard let limit = waitingClaim, !queued.isEmpty else { return }
        waitingClaim = nil
        let claimed = Array(queued.prefix(limit))
        for entry in claimed {
            entries[entry.number]?.reserver = instance
        }
        toForwarder.append(.claimed(claimed, sending))
    }

    // MARK: The connections

    private mutating func deliver(_ reply: Reply) {
        switch reply {
        case .claimed(let entries, let sending): handle(.claimed(entries, sending))
        case .departed(let numbers): handle(.departed(numbers))
        case .settled: handle(.settled)
        case .reported: break
        }
    }

    /// Kills the daemon, or ends the connection: unread lines of both sides are lost.
    private mutating func breakConnection() {
        guard isConnected else { return }
        isConnected = false
        toDaemon = []
        toForwarder = []
        waitingClaim = nil
        // A killed daemon knows the announced entries, and not those only handed over.
        if chance(50) { for number in entries.keys { entries[number]?.reserver = nil } }
        handle(.disconnected)
    }

    private mutating func killForwarder() {
        isConnected = false
        toDaemon = []
        toForwarder = []
        waitingClaim = nil
        for request in underway.keys.sorted() where chance(50) { take(request) }
        underway = [:]
        instance += 1
        // The new run does not know the last departure of the old one.
        departures = []
        forwarder = Forwarder(settings: settings, now: now)
    }

    // MARK: The endpoint

    private mutating func receive(_ request: Int, _ body: [UInt8]) {
        requests += 1
        guard let root = try? JSONDocument(scanning: body).root else {
            violations.append("a body is not JSON")
            return
        }
        departures.append(now.monotonic)
        let recent = departures.suffix(settings.rateLimit + 1)
        if recent.count > settings.rateLimit, let first = recent.first, now.monotonic - first < settings.rateInterval {
            violations.append("more requests than the rate allows")
        }
        let arrays = ["attributes", "events"].map { name in (root[name]?.elements ?? []).compactMap(entry) }
        for array in arrays where array.count > settings.batchSize { violations.append("\(array.count) of a kind") }
        let all = arrays.flatMap(\.self)
        if all.count > settings.combinedLimit ?? .max || all.isEmpty { violations.append("\(all.count) in all") }
        let users = Set(all.map(\.identifier))
        for other in underway.values where !users.isDisjoint(with: other.flatMap(\.self).map(\.identifier)) {
            violations.append("two requests at once have the same user")
        }
        underway[request] = arrays
    }

    private func entry(_ element: JSONNode) -> ClaimedEntry? {
        let number = element["n"]?.int64 ?? element["properties"]?["n"]?.int64
        return number.flatMap { entries[EntryNumber($0)]?.entry }
    }

    /// Takes the entries of a request, except those refused.
    private mutating func take(_ request: Int, but refusals: [EntryNumber: String] = [:]) {
        for entry in (underway[request] ?? []).flatMap(\.self) {
            if let reason = refusals[entry.number] {
                refused[entry.number] = reason
                continue
            }
            taken[entry.number, default: 0] += 1
            if let last = lastTaken[entry.identifier], last >= entry.number {
                violations.append("entry \(entry.number) comes after \(last) of the same user")
            }
            lastTaken[entry.identifier] = entry.number
        }
    }

    private mutating func answer(_ request: Int) {
        let answer = trouble == 0 ? 0 : Int.random(in: 0...12, using: &random)
        switch answer {
        case 0...3:
            take(request)
            respond(request, 201, #"{"message":"success"}"#)
        case 4: refuseSome(request)
        case 5:
            // Takes nothing, and may blame an event that does not exist.
            if let event = underway[request]?.last?.first { refused[event.number] = "odd" }
            respond(request, 400, #"{"message":"bad","errors":[{"type":"odd","input_array":"events","index":0}]}"#)
        case 6: respond(request, 429, "{}", reset: now.wall.seconds + Int64.random(in: -2...20, using: &random))
        case 7: respond(request, 503, "busy")
        case 8: respond(request, 401, #"{"message":"Invalid API Key"}"#)
        case 9: fail(request, wasSent: false)
        default:
            if chance(50) { take(request) }
            if chance(50) { respond(request, 200, "<html>") } else { fail(request, wasSent: true) }
        }
    }

    private mutating func refuseSome(_ request: Int) {
        var refusals: [EntryNumber: String] = [:]
        var errors: [String] = []
        for (array, name) in zip(underway[request] ?? [], ["attributes", "events"]) {
            for (index, entry) in array.enumerated() where chance(30) {
                refusals[entry.number] = "wrong \(entry.number)"
                errors.append(#"{"type":"wrong \#(entry.number)","input_array":"\#(name)","index":\#(index)}"#)
            }
        }
        take(request, but: refusals)
        respond(request, 201, #"{"message":"success","errors":[\#(errors.joined(separator: ","))]}"#)
    }

    private mutating func respond(_ request: Int, _ status: Int, _ body: String, reset: Int64? = nil) {
        underway[request] = nil
        let response = EndpointResponse(
            status: status, rateLimitReset: reset.map(String.init), body: Array(body.utf8))
        handle(.answered(request: request, .response(response)))
    }

    private mutating func fail(_ request: Int, wasSent: Bool) {
        underway[request] = nil
        handle(.answered(request: request, .failure(wasSent: wasSent, reason: "lost")))
    }
}
