import PushModel

extension Router {
    /// Stores an entry that an app logs. It leads to no invocation.
    mutating func log(
        _ log: LogRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) {
        try checkRoom(for: log.object.rawBytes.count)
        let known = memory.devices.known(log.target.device, app: log.target.app)
        let platform = log.target.platform ?? known?.platform ?? .android
        // The entry belongs to the user of the app at the flush unless it names a user; the last known user does not
        // replace it.
        let accepted = accept(request, from: peer, at: now, platform: platform, target: log.target)
        effects.record(accepted)
        var device = accepted
        device.externalID = accepted.externalID ?? known?.externalID
        memory.devices.remember(device, &effects)
        let source = EntrySource(log, accepted, at: min(request.at ?? now.wall, now.wall))
        let rejections = memory.keep(&effects) { $0.log(log.kind, log.object, source, now: now.wall, into: &$1) }
        effects.append(rejections)
    }

    private func checkRoom(for bytes: Int) throws(Refusal) {
        guard !memory.customData.hasRoom(for: bytes) else { return }
        let (waiting, rules) = (memory.customData.summary, memory.customData.rules)
        let count = waiting.pending + waiting.queued + waiting.claimed + waiting.unknown
        let message =
            count >= rules.pendingMax
            ? "\(counted(count, "entry of custom data waits", "entries of custom data wait")) to be flushed or sent, "
                + "the limit (MaxPending=)"
            : "the entries of custom data that wait to be flushed or sent have \(waiting.bytes) bytes; with this one they "
                + "would have more than the limit (MaxPendingSize=)"
        throw .overloaded(message: message, retryAfter: .seconds(1))
    }

    /// Stores the entries of a handler's answer in the transaction of the outcome.
    ///
    /// - Returns: a remark for people on rejected entries; `nil` if all were stored.
    mutating func keep(
        _ logged: [LoggedByHandler], of accepted: AcceptedRequest, at now: Moment, _ effects: inout Effects
    ) -> String? {
        var rejected: [EntryNumber] = []
        for entry in logged.map(\.request) {
            let source = EntrySource(entry, accepted, at: now.wall)
            let rejections = memory.keep(&effects) {
                $0.log(entry.kind, entry.object, source, now: now.wall, into: &$1)
            }
            rejected += rejections.map(\.number)
            effects.append(rejections)
        }
        guard !rejected.isEmpty else { return nil }
        let shown = rejected.prefix(5).map(\.description).joined(separator: ", ")
        let more = rejected.count > 5 ? " and \(rejected.count - 5) more" : ""
        let entries = rejected.count == 1 ? "entry \(shown) was" : "entries \(shown)\(more) were"
        return "log: \(entries) rejected; pushctl pending --rejected shows why"
    }

    /// Queues the entries that the tracks make of a push or an interaction, in the transaction that accepts the
    /// request.
    mutating func queueTracks(
        _ facts: TrackFacts, of accepted: AcceptedRequest, at time: WallTime, now: Moment, _ effects: inout Effects
    ) {
        for data in table.tracked(facts) {
            // The user decides where the entry is sent, so the last known user never replaces it; an entry with a fault
            // may have no user.
            let source = EntrySource(
                cause: accepted.seq, destination: data.identifier.map(EntryDestination.sent) ?? .unidentified,
                platform: accepted.platform,
                app: accepted.app, device: accepted.device, externalID: nil, at: min(time, now.wall))
            let rejections = memory.keep(&effects) { custom, output in
                guard let fault = data.fault else {
                    return custom.log(data.kind, data.object, source, now: now.wall, into: &output)
                }
                var problem = fault
                problem.message += " (track \(data.rule))"
                return [custom.setAside(data.kind, data.object, source, problem, now: now.wall, into: &output)]
            }
            effects.append(rejections)
        }
    }
}

extension EntrySource {
    /// The user, place and time of a log entry; the request's app and device replace missing ones. An entry without a
    /// device gets the request's user: without either it could not be erased with the person it comes from.
    fileprivate init(_ log: LogRequest, _ accepted: AcceptedRequest, at time: WallTime) {
        let destination: EntryDestination =
            if log.suite == nil, let profile = log.brazeID {
                .sent(.brazeID(profile))
            } else {
                .stored(suite: log.suite ?? EntryDestination.standardSuite, brazeID: log.brazeID)
            }
        let device = log.target.device ?? accepted.device
        self.init(
            cause: accepted.seq, destination: destination, platform: accepted.platform,
            app: log.target.app ?? accepted.app,
            device: device, externalID: log.target.externalID ?? (device == nil ? accepted.externalID : nil), at: time)
    }
}
