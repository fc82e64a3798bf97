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
