public import PushModel
public import PushRouter

/// The explanations of one payload for several platforms and states of the app.
public struct ExplanationMatrix: Sendable {
    /// A place and its explanation.
    public struct Row: Sendable {
        /// The platform and the state of the app.
        public let place: PayloadMatrix.Place
        /// The explanation; an error if the payload would be refused.
        public let result: Result<Explanation, PayloadError>
        /// The facts that differ from the previous row of the same platform.
        fileprivate(set) var differences: [Column] = []

        fileprivate mutating func compare(with above: Row?) {
            guard let above else { return }
            differences = Column.allCases.filter { $0.text(of: self) != $0.text(of: above) }
        }
    }

    private typealias DeviceState = PayloadMatrix.DeviceState

    /// A compared fact. The raw values are the words in `differs`.
    enum Column: String, Sendable, CaseIterable {
        /// The owner of the payload.
        case owner
        /// The callbacks, each with its receiver.
        case callbacks
        /// The outcome of the payload.
        case outcome
        /// The verdict on a tap.
        case tap
        /// Whether a later session counts as its influenced open.
        case influence
    }

    /// The rows, with the states of one platform next to each other.
    public let rows: [Row]
    /// The platforms without a row.
    private let leftOut: [PayloadPlatforms.LeftOut]

    /// Explains a delivery at each place.
    ///
    /// - Parameters:
    ///   - deliver: the delivery; its platform and state are ignored.
    ///   - platforms: the platforms, in order.
    ///   - leftOut: the platforms that the payload cannot be for.
    ///   - state: the only state; `nil`: all states of an app on the platform.
    ///   - table: the configuration.
    public init(
        _ deliver: DeliverRequest, platforms: [Platform], leftOut: [PayloadPlatforms.LeftOut] = [], state: AppState?,
        table: RoutingTable
    ) {
        var rows: [Row] = []
        let isComplete = state == nil
        for platform in platforms {
            var target = deliver.target
            target.platform = platform
            var above: Row?
            for state in state.map({ [$0] }) ?? platform.appStates {
                let moved = deliver.redirected(to: target, state: state)
                let result = Result { () throws(PayloadError) in
                    try Explanation(moved, platform: platform, table: table)
                }
                var row = Row(place: .init(platform: platform, state: state), result: result)
                row.compare(with: above)
                rows.append(row)
                above = row
                guard isComplete, state == .background, let device = DeviceState(try? result.get()) else { continue }
                row = Row(place: .init(platform: platform, state: state, device: device), result: result)
                row.compare(with: above)
                rows.append(row)
            }
        }
        self.rows = rows
        self.leftOut = leftOut
    }

    /// The platforms that are left out, then the warnings, each once, with the places to which it applies.
    public var warnings: [PayloadMatrix.Warning] {
        var warnings = leftOut.map { PayloadMatrix.Warning(text: $0.text, places: []) }
        for row in rows where row.place.device == nil {
            for text in (try? row.result.get())?.warnings ?? [] {
                if let known = warnings.firstIndex(where: { $0.text == text }) {
                    warnings[known].places.append(row.place)
                } else {
                    warnings.append(.init(text: text, places: [row.place]))
                }
            }
        }
        return warnings
    }

    /// Returns the table for people.
    ///
    /// - Parameters:
    ///   - name: the file of the payload, perhaps with a line number.
    ///   - payload: the received payload.
    public func table(name: String, payload: [UInt8]) -> PayloadMatrix {
        PayloadMatrix(
            name: name, payload: payload, columns: Column.allCases.map(\.title),
            rows: rows.map { row in
                let explanation = try? row.result.get()
                return PayloadMatrix.Row(
                    place: row.place,
                    cells: Column.allCases.map {
                        .init(
                            text: $0.text(of: row), differs: row.differences.contains($0),
                            isLoss: explanation.map($0.isLoss) ?? false)
                    },
                    isLost: row.place.device == nil && explanation?.decision.losesOpen == true,
                    reasons: explanation?.reasons ?? [])
            },
            warnings: warnings)
    }

    /// The object that `pushctl explain --json` prints, on one line without a line feed.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 8192)
        writer.object { writer in
            writer.member("matrix", array: { list in rows.forEach { $0.write(to: &list) } })
            writer.member("warnings", array: { list in warnings.forEach { $0.write(to: &list) } })
        }
        return writer.bytes
    }
}

extension ExplanationMatrix.Row {
    fileprivate func write(to writer: inout JSONWriter) {
        let explanation = try? result.get()
        writer.object { writer in
            writer.members(of: place)
            writer.member("differs", array: { names in differences.forEach { names.string($0.rawValue) } })
            writer.key("tap")
            if let explanation { writer.object { $0.members(of: explanation.tap) } } else { writer.null() }
            writer.key("explanation")
            if let explanation { writer.raw(explanation.json) } else { writer.null() }
            writer.key("error")
            if case .failure(let error) = result { error.write(to: &writer) } else { writer.null() }
        }
    }
}

extension PayloadError {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object {
            $0.member("field", field)
            $0.member("message", message)
        }
    }
}

extension PayloadMatrix.Warning {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("message", text)
            writer.member("places", array: { list in for place in places { list.object { $0.members(of: place) } } })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of place: PayloadMatrix.Place) {
        member("platform", place.platform.rawValue)
        member("state", place.state.rawValue)
        if let device = place.device { member("device_state", device.rawValue) }
    }
}

extension ExplanationMatrix.Column {
    /// The heading of the column.
    var title: String {
        switch self {
        case .owner: "Owner"
        case .callbacks: "Callbacks"
        case .outcome: "Outcome"
        case .tap: "A tap"
        case .influence: "A session"
        }
    }

    /// Returns the fact for people. For a refused payload the owner's column has the error.
    func text(of row: ExplanationMatrix.Row) -> String {
        switch row.result {
        case .success(let explanation):
            self == .outcome
                ? row.place.device?.outcome(of: explanation) ?? text(of: explanation) : text(of: explanation)
        case .failure(let error): self == .owner ? "refused: \(error.message)" : "-"
        }
    }

    /// Whether the fact is that a push or an open is lost.
    func isLoss(in explanation: Explanation) -> Bool {
        switch self {
        case .outcome: explanation.losesPush
        case .tap: explanation.tap.isLoss
        case .owner, .callbacks, .influence: false
        }
    }

    private func text(of explanation: Explanation) -> String {
        switch self {
        case .owner: explanation.decision.provider ?? "nobody known"
        case .callbacks:
            explanation.invocations.isEmpty
                ? "none"
                : explanation.invocations.map(\.receiver).joined(separator: ", ")
                    + (explanation.mayRunNoWorker ? " (none where the browser shows it)" : "")
        case .outcome: explanation.outcomeWord
        case .tap: explanation.tap.text
        case .influence: explanation.countsForInfluencedOpen ? "influenced open" : "-"
        }
    }
}

extension PayloadMatrix.DeviceState {
    /// The state of a device that makes a difference to a push; `nil` if none does.
    fileprivate init?(_ explanation: Explanation?) {
        let remarks = explanation?.decision.remarks ?? []
        if remarks.contains(.normalPriority) {
            self = .doze
        } else if remarks.contains(.silentOnApple) {
            self = .lowPower
        } else {
            return nil
        }
    }

    /// The outcome, for people.
    fileprivate func outcome(of explanation: Explanation) -> String {
        switch self {
        case .doze: "held until a maintenance window"
        case .lowPower: explanation.shown.by == .system ? "shown, may not wake the app" : "may wait or be dropped"
        }
    }
}

extension Explanation.Invocation {
    /// The callback, with its receiver.
    fileprivate var receiver: String {
        let receiver = planned.owner == .tracker ? "tracker" : handler ?? "nobody"
        return "\(planned.callback.rawValue) -> \(receiver)" + (isObserver ? " (copy)" : "")
    }
}

/// The platforms that a payload can be for, and why it is for no other.
public struct PayloadPlatforms: Sendable {
    /// A platform that it cannot be for.
    public struct LeftOut: Hashable, Sendable {
        /// The platform.
        public let platform: Platform
        /// The reason, for people.
        let reason: String

        /// The sentence.
        var text: String { "\(platform.shownName) is left out: \(reason)" }
    }

    /// The platforms that it can be for, at least one.
    public let possible: [Platform]
    /// The others.
    public let leftOut: [LeftOut]
    /// Whether nothing in it names a platform, and more than one may get it.
    let isGuess: Bool

    /// - Parameter isChosen: whether a person chose the platform that the request names.
    public init(_ deliver: DeliverRequest, isChosen: Bool = false) {
        let named = deliver.target.platform ?? deliver.transport?.platform
        let leftOut = Platform.allCases.compactMap { platform -> LeftOut? in
            var reason = isChosen ? nil : Self.obstacle(to: deliver.payload, on: platform)
            if let named, named != platform {
                reason =
                    reason ?? (isChosen ? "\(named.shownName) was chosen" : "the request is for \(named.shownName)")
            } else if named != nil {
                reason = nil
            }
            return reason.map { LeftOut(platform: platform, reason: $0) }
        }
        // A payload with keys of several platforms may be for any of them.
        self.leftOut = leftOut.count < Platform.allCases.count ? leftOut : []
        let others = self.leftOut.map(\.platform)
        possible = Platform.allCases.filter { !others.contains($0) }
        isGuess = named == nil && possible.count > 1 && !V1Body.isBody(deliver.payload, on: .android)
    }

    /// Why a payload that names no platform is not for one; `nil` if it may be.
    private static func obstacle(to payload: JSONNode, on platform: Platform) -> String? {
        guard !V1Body.isBody(payload, on: platform) else { return nil }
        let isApples = payload.isApplePayload
        let ofBrowsers = [
            ("web_push", "which only browsers read"), ("fcmMessageId", "which FCM's worker in a browser gets"),
        ]
        let ofAndroid = [
            ("_ab", "Braze's mark on Android"), ("google.message_id", "which FCM's intent on Android has"),
            ("gcm.n.e", "which FCM's intent on Android has"), ("extras", "as an intent of Android has them"),
            ("sentTime", "which FCM's SDK for Android and iOS gives"),
        ]
        let foreign: [(key: String, reason: String)]
        switch platform {
        case .ios: return isApples ? nil : "it has no object aps, which every push over APNs has"
        case .android: foreign = ofBrowsers
        case .web: foreign = ofAndroid
        }
        if isApples { return "it has an object aps, which only APNs carries, to Apple's devices" }
        return foreign.first { payload[$0.key] != nil }.map { "it has \($0.key), \($0.reason)" }
    }
}
