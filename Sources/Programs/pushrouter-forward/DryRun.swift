import Glibc
import PushCustomData
import PushModel
import UnixSockets

/// Prints the requests that would send what is queued now. Nothing is claimed, and no key is needed.
func dryRun(_ settings: ForwardingSettings, controlSocket: String) throws(Failure) {
    let bodies = settings.requestBodies(for: try queuedEntries(controlSocket))
    if bodies.isEmpty { complain(["nothing is queued"]) }
    for body in bodies {
        let lines =
            ["POST \(settings.endpoint ?? "(Endpoint= in [UsersTrack] is not set)")"] + Configuration.headers
            + ["Authorization: Bearer ***", "Content-Length: \(body.count)"]
        print(lines.joined(separator: "\n") + "\n\n" + String(decoding: body, as: UTF8.self) + "\n")
    }
}

/// Asks the daemon, page by page.
private func queuedEntries(_ controlSocket: String) throws(Failure) -> [OutgoingEntry] {
    var entries: [OutgoingEntry] = []
    do {
        let client = try Client(path: controlSocket)
        while true {
            let last = entries.last?.number ?? EntryNumber(0)
            let request = ControlRequest(.peek(after: last, limit: Int(ClaimRequest.limits.upperBound)))
            try client.send(request.line)
            guard let line = try client.receiveLine(timeoutMilliseconds: 30_000) else {
                throw Failure("the daemon has closed the connection", exitStatus: Failure.unavailable)
            }
            let page = try ControlReply(line: line).claimed().entries
            guard !page.isEmpty else { return entries }
            entries += page.map(OutgoingEntry.init)
        }
    } catch let failure as Failure {
        throw failure
    } catch ControlReplyError.refused(let refusal) {
        throw Failure("the daemon refuses: \(refusal.message)", exitStatus: Failure.unavailable)
    } catch {
        throw Failure("\(error)", exitStatus: Failure.unavailable)
    }
}
