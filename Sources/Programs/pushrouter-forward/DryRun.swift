import JSONC
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// Prints the requests for the entries that are queued now. It claims nothing and needs no key.
func dryRun(_ settings: ForwardingSettings, controlSocket: String) throws(StartFailure) {
    let bodies = settings.requests(for: try queuedEntries(controlSocket)).map(\.body)
    if bodies.isEmpty { complain(["nothing is queued"], as: Program.service.name) }
    for body in bodies {
        let lines =
            ["POST \(settings.endpoint ?? "(Endpoint= in [UsersTrack] is not set)")"] + Configuration.headers
            + ["Authorization: Bearer ***", "Content-Length: \(body.count)"]
        print(lines.joined(separator: "\n") + "\n\n" + String(decoding: body, as: UTF8.self) + "\n")
    }
}

/// Asks the daemon for the queued entries, page by page.
private func queuedEntries(_ controlSocket: String) throws(StartFailure) -> [ClaimedEntry] {
    var entries: [ClaimedEntry] = []
    do throws(DaemonError) {
        let daemon = try DaemonConnection(controlSocket)
        while true {
            let last = entries.last?.number ?? EntryNumber(0)
            let operation = ControlRequest.Operation.peek(after: last, limit: Int(ClaimRequest.limits.upperBound))
            let reply = try daemon.ask(operation, timeoutMilliseconds: 30_000)
            let page = try daemon.read(reply.claimed).entries
            guard !page.isEmpty else { return entries }
            entries += page
        }
    } catch {
        throw StartFailure("\(error)", exitStatus: StartFailure.unavailable)
    }
}

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

extension EndpointReport {
    /// Parses the body of a response; `nil` if it is not a JSON object.
    init?(_ body: [UInt8]) {
        guard let root = try? JSONTree(scanning: body).root, root.isObject else { return nil }
        self.init(
            message: root["message"]?.string, attributesProcessed: root["attributes_processed"]?.int64,
            eventsProcessed: root["events_processed"]?.int64,
            errors: (root["errors"]?.elements ?? []).map { error in
                Problem(
                    array: error["input_array"]?.string, index: error["index"]?.int64,
                    text: error["type"]?.string ?? error.string ?? String(decoding: error.bytes, as: UTF8.self))
            })
    }
}
