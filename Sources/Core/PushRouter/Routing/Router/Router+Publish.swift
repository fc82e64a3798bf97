public import PushModel

extension Router {
    /// Accepts a payload for all subscribed devices and lists them. Later turns make the deliveries.
    ///
    /// - Returns: the number of devices.
    mutating func publish(
        _ publish: PublishRequest, _ request: Request, from peer: Peer, at now: Moment, _ effects: inout Effects
    ) throws(Refusal) -> Int {
        let bytes = request.document.bytes.count
        // A refused publish should cost little: the devices are listed only if there is room for one.
        let sender = FanOutSender(peer.account, of: request)
        try checkRoom(for: sender, members: 0, bytes: bytes)
        let members = try members(of: publish)
        try checkRoom(for: sender, members: members.count, bytes: bytes)
        let ends = try ends(of: publish, on: Set(members.map(\.platform)), from: now.wall)
        let accepted = accept(
            request, from: peer, at: now, platform: publish.deliver.target.platform ?? .android,
            target: publish.deliver.target, messageID: publish.deliver.messageID)
        effects.record(accepted)
        let fanOut = FanOut(seq: accepted.seq, members: members.count, devices: members.map(\.number))
        effects.record(.fanOut(fanOut))
        guard !members.isEmpty else { return 0 }
        memory.fanOuts.append(
            OpenFanOut(
                accepted, request, to: members.map { OpenFanOut.Member($0.number, at: $0.place) },
                time: FanOutTime(from: now, ends: ends)))
        return members.count
    }

    private func checkRoom(for sender: FanOutSender, members: Int, bytes: Int) throws(Refusal) {
        guard let message = memory.fanOuts.refusal(of: sender, adding: members, bytes: bytes) else { return }
        throw .overloaded(message: message, retryAfter: .seconds(1))
    }

    /// Returns the age at which a publish ends for the devices of each platform: the payload's time to live, at most
    /// `PublishTimeMax=`.
    ///
    /// - Throws: `Refusal` for a payload that is invalid on each of the platforms.
    private func ends(
        of publish: PublishRequest, on platforms: Set<Platform>, from acceptance: WallTime
    ) throws(Refusal) -> [Platform: Duration] {
        let platforms = platforms.isEmpty ? [.android] : platforms.sorted { $0.rawValue < $1.rawValue }
        var ends: [Platform: Duration] = [:]
        var fault: Refusal?
        for platform in platforms {
            do {
                let decision = try decide(Delivery(publish.deliver, platform: platform), settings: table.detection)
                ends[platform] = (decision.timeToLive ?? .seconds(.max))
                    .span(from: acceptance, atMost: table.publishTimeMax)
            } catch {
                fault = fault ?? .invalidPayload(field: error.field, message: error.message)
            }
        }
        if ends.isEmpty, let fault { throw fault }
        return ends
    }

    /// Makes a slice of the publish whose turn it is. The same transaction stores the progress, so a crash repeats no
    /// delivery.
    mutating func continueFanOuts(at now: Moment, _ effects: inout Effects) {
        guard var open = memory.fanOuts.popNext(at: now.monotonic) else { return }
        let before = open.progress
        makeSlice(of: &open, at: now, &effects)
        if open.progress != before { effects.record(.fanOutProgress(open.seq, open.progress)) }
        guard open.left == 0 else { return memory.fanOuts.append(open) }
        guard open.overdue > 0 else { return }
        effects.append(.publishEnded(PublishEnd(seq: open.seq, overdue: open.overdue, progress: open.progress)))
    }

    private mutating func makeSlice(of open: inout OpenFanOut, at now: Moment, _ effects: inout Effects) {
        guard case .publish(let publish) = open.request.action else { preconditionFailure("only a publish fans out") }
        guard let age = open.time.age(at: now, isBelieved: memory.forgetsByAge) else {
            open.pausedUntil = now.monotonic + FanOuts.clockPause
            return
        }
        // A first slice that waited for so long is not made at once.
        if age >= table.budget { open.time.isFirstSlice = false }
        if open.time.isOver(age) { return open.leaveOut(open.left, isOverdue: true) }
        let start = effects.end
        var (deliveries, bytes, longest) = (0, 0, 0)
        // Most deliveries of a publish have rows of about the same length: the next one would exceed the limit, too.
        while deliveries < FanOuts.slice, bytes + longest <= FanOuts.sliceBytes, let member = open.next {
            deliveries += 1
            guard let device = member.device(memory.devices.known) else {
                open.leaveOut()
                continue
            }
            guard !open.time.isOver(age, for: device.platform) else {
                open.leaveOut(isOverdue: true)
                continue
            }
            switch deliver(publish, to: device, open, at: now, &effects) {
            case .made: open.made()
            case .leftOut: open.leaveOut()
            case .later(let due):
                deliveries = FanOuts.slice
                open.pausedUntil = min(due, max(now.monotonic, now.monotonic + (open.time.end - age)))
            }
            let length = effects.rowBytes(since: start)
            (longest, bytes) = (max(longest, length - bytes), length)
        }
        open.time.isFirstSlice = false
    }

    private enum MemberOutcome {
        case made, leftOut
        case later(Instant)
    }

    private mutating func deliver(
        _ publish: PublishRequest, to device: KnownDevice, _ open: OpenFanOut, at now: Moment,
        _ effects: inout Effects
    ) -> MemberOutcome {
        guard
            let request = try? Request(
                acceptedLine: publish.line(to: device, in: table.state(of: device), of: open.request)),
            case .deliver(let deliver) = request.action
        else { return .leftOut }
        do throws(Refusal) {
            try checkLimits(of: open.account, adding: request.document.bytes.count, at: now)
            _ = try self.deliver(deliver, request, from: open.peer, at: now, &effects)
            lastNumber = lastNumber.next
            return .made
        } catch {
            if case .overloaded(_, let after) = error { return .later(now.monotonic + after) }
            return .leftOut
        }
    }

    /// Continues the publishes that an earlier run did not finish, in order of their numbers.
    public mutating func adopt(_ unfinished: [UnfinishedFanOut], at now: Moment) {
        guard !unfinished.isEmpty else { return }
        let known = memory.devices.known
        let places = known.placesByNumber
        for left in unfinished {
            var platforms: Set<Platform> = []
            let members = left.fanOut.devices.dropFirst(left.fanOut.progress.done).map { number in
                let place = places[number]
                if let platform = place.flatMap(known.device)?.platform { platforms.insert(platform) }
                return OpenFanOut.Member(number, at: place)
            }
            let accepted = left.accepted
            guard !members.isEmpty, case .publish(let publish) = left.request.action else { continue }
            let ends = try? ends(of: publish, on: platforms, from: accepted.acceptedAt.wall)
            memory.fanOuts.append(
                OpenFanOut(
                    accepted, left.request, progress: left.fanOut.progress, to: members,
                    time: FanOutTime(from: accepted.acceptedAt.wall, age: left.age, ends: ends ?? [:], at: now)))
        }
    }

    /// The number of deliveries of publishes that are left to make.
    var membersLeft: Int { memory.fanOuts.membersLeft }
}
