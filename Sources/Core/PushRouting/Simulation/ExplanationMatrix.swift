public import PushDispatch
public import PushModel

/// One payload, explained for several platforms and states of the app.
public struct ExplanationMatrix: Sendable {
    /// A place, and what happens there.
    public struct Row: Sendable {
        /// The platform and the state of the app.
        public let place: PayloadMatrix.Place
        /// What happens; an error where the payload would be refused.
        public let result: Result<Explanation, PayloadError>
        /// The facts that the place above, on the same platform, has otherwise.
        public fileprivate(set) var differences: [Column] = []
    }

    /// A fact that is compared. The raw values are the members of `differs`.
    public enum Column: String, Sendable, CaseIterable {
        /// Whose payload it is.
        case owner
        /// The callbacks that run, each with who gets it.
        case callbacks
        /// How it ends.
        case outcome
        /// What a tap counts as.
        case tap
        /// Whether a session counts as its influenced open.
        case influence
    }

    /// The places: the states of one platform side by side.
    public let rows: [Row]

    /// Explains a delivery at each place.
    ///
    /// - Parameters:
    ///   - deliver: the delivery; its platform and state do not count.
    ///   - platforms: the platforms, in their order.
    ///   - state: the only state to ask for; `nil`: all that an app of the platform may be in.
    ///   - table: the configuration that it would meet.
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

    /// What a reviewer would say, each sentence once, with the places where it holds.
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

    /// The same for people.
    ///
    /// - Parameters:
    ///   - name: where the payload is from.
    ///   - payload: the payload as it came.
    public func table(name: String, payload: [UInt8]) -> PayloadMatrix {
        PayloadMatrix(
            name: name, payload: payload, columns: Column.allCases.map(\.title),
            rows: rows.map { row in
                let explanation = try? row.result.get()
                return PayloadMatrix.Row(
                    place: row.place,
                    cells: Column.allCases.map {
                        .init(text: $0.text(of: row.result), differs: row.differences.contains($0))
                    },
                    isLost: explanation?.losesOpen == true, reasons: explanation?.reasons ?? [])
            },
            warnings: warnings)
    }

    /// The object that `pushctl explain --json` prints of it, on one line without its line feed.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 8192)
        writer.object { writer in
            writer.member(
                "matrix",
                array: { list in
                    for row in rows {
                        list.object {
                            $0.member("platform", row.place.platform.rawValue)
                            $0.member("state", row.place.state.rawValue)
                            $0.member(
                                "differs", array: { names in row.differences.forEach { names.string($0.rawValue) } })
                            switch row.result {
                            case .success(let explanation):
                                $0.member("tap", object: { $0.members(of: explanation.tap) })
                                $0.member("explanation", raw: explanation.json)
                                $0.member("error", nil as String?)
                            case .failure(let error):
                                $0.member("tap", nil as String?)
                                $0.member("explanation", nil as String?)
                                $0.member(
                                    "error",
                                    object: {
                                        $0.member("field", error.field)
                                        $0.member("message", error.message)
                                    })
                            }
                        }
                    }
                })
            writer.member(
                "warnings",
                array: { list in
                    for warning in warnings {
                        list.object {
                            $0.member("message", warning.text)
                            $0.member(
                                "places",
                                array: { places in
                                    for place in warning.places {
                                        places.object {
                                            $0.member("platform", place.platform.rawValue)
                                            $0.member("state", place.state.rawValue)
                                        }
                                    }
                                })
                        }
                    }
                })
        }
        return writer.bytes
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

    /// The fact, for people. A refusal stands where the owner does.
    func text(of result: Result<Explanation, PayloadError>) -> String {
        switch result {
        case .success(let explanation): text(of: explanation)
        case .failure(let error): self == .owner ? "refused: \(error.message)" : "-"
        }
    }

    private func text(of explanation: Explanation) -> String {
        switch self {
        case .owner: explanation.decision.provider ?? "nobody known"
        case .callbacks:
            explanation.invocations.isEmpty
                ? "none" : explanation.invocations.map(\.receiver).joined(separator: ", ")
        case .outcome: explanation.decision.outcome?.rawValue ?? explanation.outcomes.joined(separator: ", ")
        case .tap: explanation.tap.text
        case .influence: explanation.countsForInfluencedOpen ? "influenced open" : "-"
        }
    }
}

extension Explanation {
    /// Whether a Braze push is on the screen that Braze's SDK never sees.
    var losesOpen: Bool { decision.reasons.contains { $0.code == .brazeLost } }

    /// How the owners' invocations end, each outcome once.
    fileprivate var outcomes: [String] {
        var texts: [String] = []
        for invocation in invocations where !invocation.isObserver {
            let text = invocation.outcome?.rawValue ?? "as \(invocation.handler ?? "its handler") answers"
            if !texts.contains(text) { texts.append(text) }
        }
        return texts
    }
}

extension Explanation.Invocation {
    /// The callback, with who gets it.
    fileprivate var receiver: String {
        let receiver = planned.owner == .tracker ? "tracker" : handler ?? "nobody"
        return "\(planned.callback.rawValue) -> \(receiver)" + (isObserver ? " (copy)" : "")
    }
}
