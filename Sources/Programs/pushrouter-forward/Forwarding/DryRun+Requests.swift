import PushModel
import PushRouter
import PushSettings

extension ForwardingSettings {
    /// Returns the requests in which entries would leave if each request were answered before the next.
    ///
    /// - Parameter entries: in the order of their numbers.
    func requests(for entries: [ClaimedEntry]) -> [RequestContent] {
        var rest = entries[...]
        var waiting: [WaitingEntry] = []
        var requests: [RequestContent] = []
        while !waiting.isEmpty || !rest.isEmpty {
            let more = rest.prefix(heldMax - waiting.count)
            rest = rest.dropFirst(more.count)
            waiting += more.map { WaitingEntry($0, since: Instant(nanoseconds: 0)) }
            let batch = Batch(from: waiting, busy: [], settings: self)
            let leaving = Set(batch.entries.map(\.entry.number))
            waiting.removeAll { leaving.contains($0.entry.number) }
            requests.append(batch.content)
        }
        return requests
    }
}
