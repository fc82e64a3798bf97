public import PushModel

extension Router {
    /// Accepts a request: numbers it, decides its invocations, and gives the outcomes that are known already.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - peer: the sender.
    ///   - past: the delivery that an interaction names by number or message id, if the ledger has it.
    ///   - now: the time at which the request was read.
    ///   - effects: receives the effects.
    /// - Returns: the acceptance; valid once the records among the effects are on disk.
    /// - Throws: `Refusal`; the router is then unchanged.
    public mutating func submit(
        _ request: Request, from peer: Peer, past: PastDelivery? = nil, at now: Moment, effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        guard !isDraining else { throw .draining }
        try checkLimits(of: peer.account, adding: request.document.bytes.count, at: now)
        try checkRows(of: request, past, from: peer, at: now, effects)
        return try act(request, past, from: peer, at: now, &effects)
    }

    /// Accepts a request that is within all limits.
    mutating func act(
        _ request: Request, _ past: PastDelivery?, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        var acceptance = Acceptance(seq: lastNumber.next, invocations: 0, rejections: [])
        let flushedUnsent = self.flushedUnsent
        switch request.action {
        case .deliver(let deliver):
            acceptance.invocations = try self.deliver(deliver, request, from: peer, at: now, &effects)
        case .interact(let interact):
            acceptance.invocations = try self.interact(interact, request, past, from: peer, at: now, &effects)
        case .session(let session): self.session(session, request, from: peer, at: now, &effects)
        case .token(let token): acceptance.invocations = try self.token(token, request, from: peer, at: now, &effects)
        case .log(let log): try self.log(log, request, from: peer, at: now, &effects)
        case .topic(let topic):
            acceptance.topicResults = self.topic(topic, request, from: peer, at: now, &effects)
        case .publish(let publish):
            acceptance.members = try self.publish(publish, request, from: peer, at: now, &effects)
        case .device(let device): self.device(device, request, from: peer, at: now, &effects)
        }
        acceptance.rejections = effects.takeRejections()
        acceptance.flushedUnsent = self.flushedUnsent - flushedUnsent
        // Devices that a topic request registers have numbers of their own.
        lastNumber = max(lastNumber, acceptance.seq)
        endTurn(at: now, &effects)
        return acceptance
    }

    func checkLimits(of account: Account, adding bytes: Int, at now: Moment) throws(Refusal) {
        guard let message = usage.refusal(of: account, adding: bytes, table.limits) else { return }
        throw .overloaded(message: message, retryAfter: retryDelay(at: now))
    }

    /// Returns the request as a ledger row.
    ///
    /// - Parameter target: the target, with missing fields filled in.
    func accept(
        _ request: Request, from peer: Peer, at now: Moment, platform: Platform, target: Target,
        messageID: String? = nil, delivery: (state: AppState, decision: Decision)? = nil, body: [UInt8]? = nil
    ) -> AcceptedRequest {
        AcceptedRequest(
            seq: lastNumber.next, operation: request.operation, id: request.id, peer: peer, acceptedAt: now,
            boot: boot, mode: table.mode, platform: platform, app: target.app, device: target.device,
            externalID: target.externalID, messageID: messageID, state: delivery?.state,
            duplicateID: delivery?.decision.duplicateID, isTracked: delivery?.decision.received == true,
            transport: delivery?.decision.transport, originalPriority: delivery?.decision.originalPriority,
            deliveredPriority: delivery?.decision.deliveredPriority, body: body ?? request.document.bytes)
    }
}

// The rows of one request are in one batch of the log, and a batch has a longest length. A request whose rows might be
// longer is refused before the router changes.
extension Router {
    /// The rows beside the texts of a request, in bytes: names of at most 255 bytes, and numbers.
    private static let fixedRows = 256 << 10
    /// How often a text of a payload is in rows, at most: in the line, as the id of the message, in FCM's list of
    /// recent ids, and in an event.
    private static let textCopies = 4

    /// Throws for a request with too long rows.
    func checkRows(
        of request: Request, _ past: PastDelivery?, from peer: Peer, at now: Moment, _ effects: Effects
    ) throws(Refusal) {
        let limit = table.limits.batchLength
        if case .topic(let topic) = request.action {
            let bytes = rowsBound(of: topic, effects)
            guard bytes > limit else { return }
            throw .tooLong(
                message: "the rows of this request would have up to \(bytes) bytes, more than RequestLengthMax= and "
                    + "1 MiB (\(limit)); send fewer tokens at a time")
        }
        guard Self.textCopies * request.document.bytes.count + Self.fixedRows > limit else { return }
        // Few requests are so long. Their rows are made once for their length, by a copy of the router.
        var (copy, trial) = (self, Effects(rows: RowBuffer()))
        trial.rows?.readers = effects.rows?.readers ?? RowKind.newestVersion
        _ = try copy.act(request, past, from: peer, at: now, &trial)
        guard let bytes = trial.rows?.byteCount, bytes > limit else { return }
        throw .tooLong(
            message: "the rows of this request would have \(bytes) bytes, more than RequestLengthMax= and 1 MiB "
                + "(\(limit)); send less at a time")
    }

    // MARK: Invocations

    /// So many invocations have rows of less than half a MiB, however long their names are.
    private static let fewRoutes = 256

    /// Throws if so many routes want a request that the rows of its invocations would be longer than half of what rows
    /// may have beside the line.
    ///
    /// - Parameters:
    ///   - callbacks: the callbacks of the request.
    ///   - facts: returns the facts that routes match on, for a callback.
    func checkInvocations(of callbacks: [Callback], _ facts: (Callback) -> RouteFacts) throws(Refusal) {
        // Few tables have so many observers, and few callbacks are for more than one owner.
        var wanted: [Int] = []
        for callback in callbacks {
            if observerCount > Self.fewRoutes { wanted += table.positions(for: facts(callback), observing: true) }
            guard callback.isBroadcast, table.routes.count > Self.fewRoutes else { continue }
            wanted += table.positions(for: facts(callback), observing: false)
        }
        // A row when it is accepted, and one when its handler starts.
        let bytes = wanted.reduce(0) { sum, position in
            sum + 2 * (256 + table.routes[position].name.utf8.count + table.routes[position].handler.utf8.count)
        }
        guard bytes > BatchLimits.besideRequest / 2 else { return }
        throw .tooLong(
            message: "\(counted(wanted.count, "invocation")) of routes would have rows of up to \(bytes) bytes, more "
                + "than \(BatchLimits.besideRequest / 2); let fewer routes match, or observe")
    }

    // MARK: Topics

    /// The bytes of the rows of `op: topic`, at most.
    private func rowsBound(of topic: TopicRequest, _ effects: Effects) -> Int {
        let name = topic.topic.project.utf8.count + topic.topic.topic.utf8.count
        // The request and its line without tokens, and the change of the subscriptions.
        var bytes = 1024 + 3 * name + 3 * (topic.target.app?.utf8.count ?? 0)
        // The number of each token's device, and a forgotten device.
        bytes += 24 * topic.tokens.count + 16 * DeviceMemory.forgottenAtOnce
        for token in topic.tokens {
            if let device = memory.devices.known.device(ofToken: token) {
                // Former readers take all topics of a device.
                guard !effects.takesSubscriptions else { continue }
                bytes += 512 + device.textLength + 2 * name + memory.devices.known.topicByteCount(device.key)
            } else if topic.kind == .subscribe {
                bytes += rowsBound(ofNew: token, topic, former: !effects.takesSubscriptions)
            }
        }
        return bytes
    }

    /// The bytes of the rows of a device that a topic request registers, at most: its request and its facts.
    private func rowsBound(ofNew token: String, _ topic: TopicRequest, former: Bool) -> Int {
        let rule = table.registration(of: token)
        guard topic.unknown == .register || rule != nil else { return 0 }
        let target = presumedTarget(ofToken: token, topic, rule)
        let names = [target.app, target.device, target.externalID].compactMap(\.self)
        let texts = names.reduce(0) { $0 + $1.utf8.count }
        let line = names.reduce(0) { $0 + $1.escapedLength }
        let name = topic.topic.project.utf8.count + topic.topic.topic.utf8.count
        // Numbers, words and keys have at most 272 bytes.
        return 272 + 2 * texts + token.utf8.count + line + (former ? 64 + texts + token.utf8.count + name : 0)
    }
}

extension KnownDevice {
    /// The bytes of its texts, without topics.
    fileprivate var textLength: Int {
        (key.app?.utf8.count ?? 0) + key.device.utf8.count + (externalID?.utf8.count ?? 0) + (token?.utf8.count ?? 0)
            + detail.formerTokens.reduce(0) { $0 + 32 + 6 * $1.token.utf8.count }
    }
}

extension String {
    /// The bytes of the text in a JSON string, at most.
    fileprivate var escapedLength: Int {
        utf8.reduce(0) { $0 + ($1 < 0x20 || $1 == 0x22 || $1 == 0x5C || $1 == 0x7F ? 6 : 1) }
    }
}
