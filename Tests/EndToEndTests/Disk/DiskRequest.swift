import TestSupport

/// A request of the load, with a unique id.
struct DiskRequest {
    /// The kind of request.
    enum Kind: CaseIterable {
        case braze, journal, discarded
        /// A delivery with two callbacks.
        case double
        /// A delivery to a program.
        case program
        /// A tap on an earlier delivery, by its message id.
        case tap
        case session, token, log
    }

    var id: String
    var kind: Kind
    var line: String

    /// The number of its invocations; `nil` if other rules decide.
    var invocations: Int? {
        switch kind {
        case .braze, .journal, .discarded, .program: 1
        case .double: 2
        case .tap, .session, .token, .log: nil
        }
    }

    /// A different request with the same id: refused if the daemon knows the first, accepted if the first is lost.
    var contradiction: String {
        #"{"op":"session","kind":"end","id":"\#(id)","device":"nobody's","external_id":"not \#(id)"}"#
    }
}

/// Makes requests of all kinds, each with unique contents.
struct DiskRequests {
    private let name: String
    private var generator: SeededGenerator
    private var count = 0
    private var messages: [(id: String, device: String)] = []

    /// - Parameters:
    ///   - name: the prefix of every id; unique in a state directory.
    ///   - seed: the seed of the requests.
    init(_ name: String, seed: UInt64) {
        self.name = name
        generator = SeededGenerator(seed: seed)
    }

    /// Adds the routes for the requests.
    static func addRoutes(to installation: Installation) {
        installation.addHandler("program", "Exec=/bin/true\nIdempotent=yes")
        installation.addRoute("50-program", to: "program", match: "Data=job program")
        installation.write("handlers.d/discard.handler", "[Handler]\nType=discard\n")
        installation.addRoute("50-discard", to: "discard", match: "Data=job discard")
    }

    /// Returns the next request.
    ///
    /// - Parameter size: the approximate size of its payload in bytes; `nil`: random.
    mutating func next(size: Int? = nil) -> DiskRequest {
        count += 1
        let id = "\(name)-\(count)"
        // A program takes a hundred times as long as the other kinds.
        let chance = Int.random(in: 0..<100, using: &generator)
        let kinds = DiskRequest.Kind.allCases.filter { $0 != .program && ($0 != .tap || !messages.isEmpty) }
        let kind = chance < 4 ? .program : kinds.randomElement(using: &generator) ?? .journal
        return DiskRequest(id: id, kind: kind, line: line(kind, id, padding(size)))
    }

    /// Returns padding that fills sectors and pages partly, and occasionally many of them.
    private mutating func padding(_ size: Int?) -> String {
        let isLarge = Int.random(in: 0..<50, using: &generator) == 0
        let length = size ?? Int.random(in: 0...(isLarge ? 40_000 : 1500), using: &generator)
        return String(repeating: "x", count: length)
    }

    private mutating func line(_ kind: DiskRequest.Kind, _ id: String, _ padding: String) -> String {
        let device = "d\(Int.random(in: 0..<8, using: &generator))"
        let place = #""id":"\#(id)","app":"shop","device":"\#(device)","external_id":"u\#(device)""#
        let data = #""n":"\#(id)","p":"\#(padding)""#
        func deliver(_ payload: String) -> String { #"{"op":"deliver",\#(place),\#(payload)}"# }
        switch kind {
        case .braze:
            messages.append((id, device))
            let braze = #""_ab":"true","cid":"campaign-1","t":"Title","a":"Text""#
            return deliver(#""platform":"android","payload":{"messageId":"\#(id)","data":{\#(braze),\#(data)}}"#)
        case .journal: return deliver(#""platform":"android","payload":{"data":{"job":"none",\#(data)}}"#)
        case .discarded: return deliver(#""platform":"android","payload":{"data":{"job":"discard",\#(data)}}"#)
        case .program: return deliver(#""platform":"android","payload":{"data":{"job":"program",\#(data)}}"#)
        case .double:
            let alert = #""aps":{"alert":"A","content-available":1}"#
            return deliver(#""platform":"ios","state":"foreground","payload":{\#(alert),\#(data)}"#)
        case .tap: return tap(id)
        case .session:
            return #"{"op":"session","kind":"\#(Bool.random(using: &generator) ? "start" : "end")",\#(place)}"#
        case .token: return #"{"op":"token","kind":"new","token":"t-\#(id)",\#(place)}"#
        case .log:
            return #"{"op":"log","kind":"custom_event","name":"bought","properties":{\#(data)},\#(place)}"#
        }
    }

    private mutating func tap(_ id: String) -> String {
        guard let message = messages.randomElement(using: &generator) else { preconditionFailure("nothing to tap on") }
        let kind = Int.random(in: 0..<4, using: &generator) == 0 ? "dismissed" : "opened"
        let about = #""message":"\#(message.id)","app":"shop","device":"\#(message.device)""#
        return #"{"op":"interact","kind":"\#(kind)","id":"\#(id)",\#(about)}"#
    }
}
