import PushModel

extension InvocationResult {
    /// Returns the invocation's wait in its lane for people: `waited 7.5 s behind 60, longest #90 (hangs, 702 ms)`;
    /// `nil` if it did not wait. Leaves out unknown facts.
    /// - Parameter names: the texts to show for handlers; a handler without one shows its full name.
    func waitText(_ names: [String: String] = [:]) -> String? {
        aheadText(handler: { names[$0.showingControls()] ?? $0 }).map { text in
            "waited \(roundedSpan(queue))\(ahead == nil ? ", " : " ")\(text)"
        }
    }

    /// Returns the invocations ahead in its lane: `behind 60, longest #90 (hangs, 702 ms)`; `nil` if none was.
    /// - Parameters:
    ///   - handler: returns the text to show for a handler.
    ///   - invocation: returns the text to show for another invocation; `nil`: `#41`.
    func aheadText(
        handler: (String) -> String, invocation: ((InvocationID) -> String)? = nil
    ) -> String? {
        guard let waitedFor else { return nil }
        let behind = ahead.map { "behind \(grouped($0)), " } ?? ""
        let name = invocation?(waitedFor.id) ?? "#\(waitedFor.id.shortName)"
        let facts = [waitedFor.handler.map(handler) ?? "tracker", waitedFor.took.map(roundedSpan)].compactMap(\.self)
        return "\(behind)longest \(name) (\(facts.joined(separator: ", ")))"
    }
}

extension InvocationID {
    /// The id for people: `41`, or `41.1` if it is not the first of its request.
    var shortName: String { n == 0 ? "\(seq)" : "\(seq).\(n)" }
}
