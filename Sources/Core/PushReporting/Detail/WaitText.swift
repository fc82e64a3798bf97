import PushModel

extension InvocationResult {
    /// What blocked it in its lane, for people: `waited 7.5 s behind 60, longest #90 (hangs, 702 ms)`; `nil` if it did not
    /// wait. What an earlier version did not store is left out.
    /// - Parameter names: what is shown of handlers; of others all is.
    func waitText(_ names: [String: String] = [:]) -> String? {
        guard let waitedFor else { return nil }
        let behind = ahead.map { " behind \(grouped($0))" } ?? ""
        return "waited \(roundedSpan(queue))\(behind), longest \(waitedFor.text(names))"
    }
}

extension Predecessor {
    /// `#41 (crm, 702 ms)`; with the place in the request where it is not the first.
    fileprivate func text(_ names: [String: String]) -> String {
        let name = handler.map { names[$0.showingControls()] ?? $0 } ?? "tracker"
        let time = took.map { ", \(roundedSpan($0))" } ?? ""
        return "#\(id.seq)" + (id.n == 0 ? "" : ".\(id.n)") + " (\(name)\(time))"
    }
}
