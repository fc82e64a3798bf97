import PushModel

extension InvocationResult {
    /// What blocked it in its lane, for people: `waited 7.5 s behind 60, longest #90 (hangs, 702 ms)`; `nil` if it did not
    /// wait. What is not known is left out.
    /// - Parameter names: what is shown of handlers; of others all is.
    func waitText(_ names: [String: String] = [:]) -> String? {
        aheadText(handler: { names[$0.showingControls()] ?? $0 }).map { text in
            "waited \(roundedSpan(queue))\(ahead == nil ? ", " : " ")\(text)"
        }
    }

    /// Who was ahead of it in its lane: `behind 60, longest #90 (hangs, 702 ms)`; `nil` if nobody was.
    /// - Parameters:
    ///   - handler: how the name of a handler is shown.
    ///   - invocation: how another invocation is named; `nil`: `#41`.
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
    /// `41`; with the place in the request where it is not the first, `41.1`.
    var shortName: String { n == 0 ? "\(seq)" : "\(seq).\(n)" }
}
