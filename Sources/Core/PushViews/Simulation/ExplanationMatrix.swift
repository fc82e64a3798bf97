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
    }

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

    /// Explains a delivery at each place.
    ///
    /// - Parameters:
    ///   - deliver: the delivery; its platform and state are ignored.
    ///   - platforms: the platforms, in order.
    ///   - state: the only state; `nil`: all states of an app on the platform.
    ///   - table: the configuration.
    public init(_ deliver: DeliverRequest, platforms: [Platform], state: AppState?, table: RoutingTable) {
        var rows: [Row] = []
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
                if let above {
                    row.differences = Column.allCases.filter { $0.text(of: row.result) != $0.text(of: above.result) }
                }
                rows.append(row)
                above = row
            }
        }
        self.rows = rows
    }

    /// The warnings, each once, with the places to which it applies.
    public var warnings: [PayloadMatrix.Warning] {
        var warnings: [PayloadMatrix.Warning] = []
        for row in rows {
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
                            text: $0.text(of: row.result), differs: row.differences.contains($0),
                            isLoss: explanation.map($0.isLoss) ?? false)
                    },
                    isLost: explanation?.decision.losesOpen == true, reasons: explanation?.reasons ?? [])
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
    func text(of result: Result<Explanation, PayloadError>) -> String {
        switch result {
        case .success(let explanation): text(of: explanation)
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
                ? "none" : explanation.invocations.map(\.receiver).joined(separator: ", ")
        case .outcome: explanation.outcomeWord
        case .tap: explanation.tap.text
        case .influence: explanation.countsForInfluencedOpen ? "influenced open" : "-"
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
