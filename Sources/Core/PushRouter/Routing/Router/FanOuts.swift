public import PushModel

/// A publish that an earlier run of the daemon did not finish.
public struct UnfinishedFanOut: Sendable {
    /// The devices, and the progress.
    public var fanOut: FanOut
    /// The publish in the ledger.
    public var accepted: AcceptedRequest
    /// The publish as it came.
    public var request: Request
    /// The age of the publish, if another machine accepted it and its clock is known; `nil`: the clocks tell it.
    public var age: Duration?

    /// Joins the parts.
    public init(_ fanOut: FanOut, of accepted: AcceptedRequest, _ request: Request, age: Duration? = nil) {
        (self.fanOut, self.accepted, self.request, self.age) = (fanOut, accepted, request, age)
    }
}

/// A publish with deliveries that the router has not made yet.
struct OpenFanOut: Sendable {
    /// A device of a publish, in 8 bytes: the open publishes have up to ``FanOuts/membersMax`` of them.
    struct Member: Sendable {
        /// The index of the device among the known devices.
        let place: UInt32
        /// The low half of the device's number. A later device at the same index has a higher number, and the halves
        /// are equal only if the numbers differ by a multiple of 2^32.
        let mark: UInt32

        /// - Parameters:
        ///   - number: the number of the device.
        ///   - place: the index of the device; `nil`: it is not known any more.
        init(_ number: SequenceNumber, at place: UInt32?) {
            mark = UInt32(truncatingIfNeeded: number.value)
            self.place = place ?? .max
        }

        /// Returns the device; `nil`: it is not known any more.
        func device(_ devices: KnownDevices) -> KnownDevice? {
            guard let device = devices.device(at: place), mark == UInt32(truncatingIfNeeded: device.number.value) else {
                return nil
            }
            return device
        }
    }

    /// The number of the publish.
    let seq: SequenceNumber
    /// The publish as it came.
    let request: Request
    /// The sender.
    let peer: Peer
    /// The sender, for turns and shares.
    let sender: FanOutSender
    /// The time of the publish.
    var time: FanOutTime
    /// The progress.
    private(set) var progress: FanOut.Progress
    /// The number of devices that were left out in this run because the time was over.
    private(set) var overdue = 0
    /// The time before which the router makes no slice, because it was too busy; `nil`: it makes one at once.
    var pausedUntil: Instant?
    /// The devices whose deliveries were not made when the publish was opened.
    private let members: [Member]
    /// The number of `members` that are done.
    private var position = 0

    /// - Parameters:
    ///   - accepted: the publish in the ledger.
    ///   - request: the publish as it came.
    ///   - progress: the progress.
    ///   - members: the devices of the deliveries that are left, in their order.
    ///   - time: the time of the publish.
    init(
        _ accepted: AcceptedRequest, _ request: Request, progress: FanOut.Progress = FanOut.Progress(),
        to members: [Member], time: FanOutTime
    ) {
        (seq, peer) = (accepted.seq, accepted.peer)
        sender = FanOutSender(accepted.peer.account, of: request)
        (self.request, self.progress, self.members, self.time) = (request, progress, members, time)
    }

    /// The account of the sender.
    var account: Account { peer.account }
    /// The number of deliveries that are left to make.
    var left: Int { members.count - position }

    /// The device of the next delivery.
    var next: Member? { position < members.count ? members[position] : nil }

    /// The number of devices in memory.
    var memberCount: Int { members.count }

    /// Counts the delivery to the next device.
    mutating func made() {
        progress.made += 1
        position += 1
    }

    /// Counts the next devices as left out.
    mutating func leaveOut(_ count: Int = 1, isOverdue: Bool = false) {
        progress.leftOut += count
        position += count
        if isOverdue { overdue += count }
    }
}

/// The time of a publish: its age, and the ages at which it ends.
struct FanOutTime: Sendable {
    /// The acceptance by this machine's wall clock.
    let acceptedAt: WallTime
    /// The acceptance by the monotonic clock of this run; `nil`: an earlier run accepted the publish, and the wall
    /// clock was not believed since.
    var start: Instant?
    /// The age at which the publish ends for the devices of each platform.
    let ends: [Platform: Duration]
    /// The highest of them.
    let end: Duration
    /// Whether this run accepted the publish and has made no slice of it.
    var isFirstSlice: Bool

    /// The time of a publish that this run accepts.
    init(from now: Moment, ends: [Platform: Duration]) {
        self.init(acceptedAt: now.wall, start: now.monotonic, ends: ends, isFirstSlice: true)
    }

    /// The time of a publish that an earlier run accepted, at a time of the wall clock.
    ///
    /// - Parameter age: its age now; `nil`: the wall clock tells it.
    init(from acceptedAt: WallTime, age: Duration?, ends: [Platform: Duration], at now: Moment) {
        let wall = age.map { WallTime(milliseconds: now.wall.milliseconds - $0.milliseconds) } ?? acceptedAt
        self.init(
            acceptedAt: wall, start: age.map { now.monotonic + (.zero - $0) }, ends: ends, isFirstSlice: false)
    }

    private init(acceptedAt: WallTime, start: Instant?, ends: [Platform: Duration], isFirstSlice: Bool) {
        (self.acceptedAt, self.start, self.ends, self.isFirstSlice) = (acceptedAt, start, ends, isFirstSlice)
        end = ends.values.max() ?? .zero
    }

    /// Returns the age of the publish; `nil`: unknown until the wall clock is believed.
    ///
    /// A believed wall clock adds the time in which the machine slept or the daemon did not run. It takes nothing away:
    /// it may have been set back.
    mutating func age(at now: Moment, isBelieved: Bool) -> Duration? {
        guard isBelieved else { return start.map { now.monotonic - $0 } }
        let (span, isTooLong) = now.wall.milliseconds.subtractingReportingOverflow(acceptedAt.milliseconds)
        let byWall = isTooLong ? FanOutTime.longest : min(max(.zero, .milliseconds(span)), FanOutTime.longest)
        let start = start ?? now.monotonic + (.zero - byWall)
        self.start = start
        return max(byWall, now.monotonic - start)
    }

    /// Whether an age is at the end for the devices of a platform; `nil`: for all.
    ///
    /// A payload with a `ttl` of 0 has no time at all. The first slice of its publish is made nevertheless.
    func isOver(_ age: Duration, for platform: Platform? = nil) -> Bool {
        let end = platform.flatMap { ends[$0] } ?? self.end
        return age >= end && !(isFirstSlice && end == .zero)
    }

    /// Longer than any publish.
    private static let longest = Duration.seconds(1 << 31)
}

/// The sender of a publish: an account, or a project of the gateway's account, which sends for many.
struct FanOutSender: Hashable, Sendable {
    let account: Account
    /// The project of a publish that came through the gateway.
    let project: String?

    init(_ account: Account, of request: Request) {
        self.account = account
        // The gateway says who sent the publish to it.
        guard case .publish(let publish) = request.action, request.document.root["sender"] != nil else {
            project = nil
            return
        }
        project = publish.project
    }
}

/// The publishes with deliveries left to make. Their accounts take turns, within an account its senders, and within a
/// sender its publishes.
struct FanOuts: Sendable {
    /// The limit of open publishes; one account has at most half of each limit, and a project of the gateway a quarter.
    static let openMax = 64
    /// The limit of the devices of open publishes: 8 MB of memory, and a fraction of a second of a start.
    static let membersMax = 1_000_000
    /// The limit of the lines of open publishes in bytes; half of it has room for two of the longest lines.
    static let byteMax = 64 << 20
    /// The number of deliveries of one turn.
    static let slice = 32
    /// The bytes of rows after which a slice ends.
    static let sliceBytes = 256 << 10
    /// The wait before the wall clock is asked again whether it is believed.
    static let clockPause = Duration.seconds(10)

    /// The open publishes; those of an account in the order of their turns.
    private(set) var open: [OpenFanOut] = []
    /// The accounts of the open publishes in the order of their turns.
    private var accounts: [Account] = []
    /// The senders of the open publishes in the order of their turns.
    private var senders: [FanOutSender] = []

    /// Whether the router can make a slice of deliveries now.
    var hasWorkLeft: Bool { open.contains { $0.pausedUntil == nil } }

    /// The end of the first pause; `nil`: no publish has a pause.
    var nextDue: Instant? { open.lazy.compactMap(\.pausedUntil).min() }

    /// The number of deliveries that are left to make.
    var membersLeft: Int { open.reduce(0) { $0 + $1.left } }

    /// Adds a publish, or one that was taken, as the last one of its sender.
    mutating func append(_ fanOut: OpenFanOut) {
        if !accounts.contains(fanOut.account) { accounts.append(fanOut.account) }
        if !senders.contains(fanOut.sender) { senders.append(fanOut.sender) }
        open.append(fanOut)
    }

    /// Takes the next publish of the account and the sender whose turn it is; `nil`: all have a pause.
    mutating func popNext(at now: Instant) -> OpenFanOut? {
        for place in open.indices {
            if let due = open[place].pausedUntil, due <= now { open[place].pausedUntil = nil }
        }
        for account in accounts {
            for sender in senders where sender.account == account {
                guard let place = open.firstIndex(where: { $0.sender == sender && $0.pausedUntil == nil }) else {
                    continue
                }
                let fanOut = open.remove(at: place)
                accounts.removeAll { $0 == account }
                senders.removeAll { $0 == sender }
                if open.contains(where: { $0.account == account }) { accounts.append(account) }
                if open.contains(where: { $0.sender == sender }) { senders.append(sender) }
                return fanOut
            }
        }
        return nil
    }

    /// Returns the reason, for people, why another publish exceeds a limit; `nil`: it exceeds none.
    ///
    /// - Parameters:
    ///   - sender: its sender.
    ///   - members: the number of its devices.
    ///   - bytes: the length of its line.
    func refusal(of sender: FanOutSender, adding members: Int, bytes: Int) -> String? {
        var shares = [("publishes", 1, open)]
        let own = open.filter { $0.account == sender.account }
        shares.append(("publishes of \(sender.account)", 2, own))
        if let project = sender.project {
            shares.append(("publishes of project \(project)", 4, own.filter { $0.sender == sender }))
        }
        for (these, share, counted) in shares {
            let members = counted.reduce(members) { $0 + $1.memberCount }
            let bytes = counted.reduce(bytes) { $0 + $1.request.document.bytes.count }
            if counted.count >= Self.openMax / share {
                return "\(counted.count) \(these) are being delivered, the limit; send this one again later"
            } else if members > Self.membersMax / share {
                return "with this one the \(these) that are being delivered would have \(members) devices, more than "
                    + "the limit of \(Self.membersMax / share); send this one again later"
            } else if bytes > Self.byteMax / share {
                return "with this one the lines of the \(these) that are being delivered would have \(bytes) bytes, "
                    + "more than the limit of \(Self.byteMax / share); send this one again later"
            }
        }
        return nil
    }
}

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
        // The exception for a first slice (``FanOutTime/isOver(_:for:)``) ends with the budget.
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
