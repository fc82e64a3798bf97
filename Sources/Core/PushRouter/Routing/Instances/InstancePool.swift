public import PushModel

/// The instances of one handler that answers by lines, and the handler's invocations. The pool assigns invocations to
/// instances; opens, replaces and ends instances; and decides about the invocations of a lost instance.
///
/// A pure value like the router: events with a time go in, effects come out. The daemon opens programs or connections
/// and transfers lines.
public struct InstancePool: Sendable {
    /// The delay after the first failure of an instance; it doubles with each failure until an instance answers.
    static let shortestDelay = Duration.milliseconds(100)
    /// The longest delay.
    static let longestDelay = Duration.seconds(2)
    /// The most instances that a repeatable invocation is sent to.
    static let sendsMax = 3
    /// The most consecutive stray lines of an instance.
    static let strayLinesMax = 1000
    /// The time in which an instance without input must end by itself.
    static let endingTime = Duration.seconds(1)
    /// The time in which an instance must answer a cancellation.
    static let cancellationTime = Duration.seconds(1)
    /// The most invocations that the pool sends, or reports as failed, in one turn of the loop.
    static let actsMax = 128

    /// The handler of the instances.
    public let handler: Handler
    let rules: InstanceRules
    var instances: [InstanceID: Instance] = [:]
    var runs: [InvocationID: PooledRun] = [:]
    /// The invocations that wait for an instance; it may hold ids that no longer wait.
    private var waiting = Queue<InvocationID>()
    /// The waiting invocations that were taken from a lost instance; they go first.
    private var displaced = Queue<InvocationID>()
    /// The failed invocations of a lost instance, with the reason, until they are reported. They count as outstanding
    /// until then.
    private var lost = Queue<(line: Int64, invocation: InvocationID, reason: String)>()
    /// The waiting invocations with a deadline before the next instance is opened.
    private var expiring = Queue<InvocationID>()
    /// Whether `expiring` is complete for the current pause.
    private var hasCollectedExpiring = false
    /// The number of scans for expiring invocations.
    private(set) var expiringScans = 0
    private var outstandingCount = 0
    /// The time since which work is left over from a turn; the next clock continues it.
    private var behindSince: Instant?
    private var lastInstance: Int64 = 0
    private var lastLine: Int64 = 0
    /// The number of consecutive failures of instances.
    private var failures = 0
    /// The time before which the pool opens no instance.
    private var pausedUntil: Instant?
    private var lastFailure = ""
    /// Whether the configuration no longer has the handler: instances end as soon as they are idle.
    public private(set) var isRetired = false

    /// - Parameter handler: a handler whose kind has instances.
    public init(_ handler: Handler) {
        guard let rules = handler.kind.instanceRules else {
            preconditionFailure("a handler of the kind \(handler.kind.name) has no instances")
        }
        self.handler = handler
        self.rules = rules
    }

    /// Whether the pool has neither instances nor invocations.
    public var isEmpty: Bool { instances.isEmpty && runs.isEmpty }

    private var waitingCount: Int { runs.count - outstandingCount }

    /// The number of instances that accept lines, or will.
    private var liveCount: Int { instances.values.count(where: \.isLive) }

    /// The number of queued ids, those that no longer wait included.
    var queuedCount: Int { waiting.count + displaced.count }

    /// The time at which the pool next needs ``clock(at:_:)``; `nil`: none.
    public var nextDue: Instant? {
        if let behindSince { return behindSince }
        var due = waitingCount > 0 && liveCount < rules.instances ? pausedUntil : nil
        for instance in instances.values {
            guard let time = endDue(of: instance) else { continue }
            due = min(due ?? time, time)
        }
        return due
    }

    /// Returns the time at which an instance is due to end or to be closed.
    private func endDue(of instance: Instance) -> Instant? {
        switch instance.phase {
        case .opening: nil
        case .ending(let time): time
        case .open:
            instance.cancelledLines.nextDue
                ?? instance.idleSince.flatMap { since in rules.idleTimeout.map { since + $0 } }
        }
    }

    // MARK: Invocations

    /// Takes an invocation whose deadline has not passed.
    public mutating func start(_ run: HandlerRun, at now: Instant, _ effects: inout [Effect]) {
        let isBusy = instances.values.allSatisfy { !$0.outstanding.isEmpty || $0.phase != .open }
        runs[run.invocation.id] = PooledRun(run: run)
        waiting.append(run.invocation.id)
        if hasCollectedExpiring { expiring.append(run.invocation.id) }
        advance(another: isBusy, at: now, &effects)
    }

    /// Removes an invocation that missed its deadline; a later answer is ignored. Cancels its line if the handler
    /// supports that; otherwise closes the instance, which may not answer other lines either.
    public mutating func stop(_ invocation: InvocationID, at now: Instant, _ effects: inout [Effect]) {
        guard let run = runs.removeValue(forKey: invocation) else { return }
        guard let (id, line) = run.place else {
            forgetEnded()
            // An instance may have opened at the deadline for this invocation alone; it is idle now.
            return endIdle(at: now, &effects)
        }
        outstandingCount -= 1
        // The invocation may be one of a lost instance that is not reported yet.
        guard instances[id]?.outstanding.removeValue(forKey: line) != nil else { return }
        guard !rules.supportsCancellation else {
            instances[id]?.cancelledLines.insert(line, due: now + Self.cancellationTime)
            instances[id]?.lastLine = nil
            effects.append(.cancel(line: line, from: id))
            return advance(at: now, &effects)
        }
        close(id, at: now, because: "another invocation missed its deadline", &effects)
        if !rules.isSingleUse {
            effects.append(.note("\(described(id)) is replaced: it did not answer within the deadline"))
        }
        advance(at: now, &effects)
    }

    // MARK: Events of instances

    /// Notes that the instance accepts lines.
    public mutating func opened(_ id: InstanceID, at now: Instant, _ effects: inout [Effect]) {
        // The instance's input ended while it was opening; the time for its end counts from now.
        if instances[id]?.isEnding == true { instances[id]?.phase = .ending(now + Self.endingTime) }
        guard instances[id]?.phase == .opening else { return }
        instances[id]?.phase = .open
        instances[id]?.idleSince = now
        advance(at: now, &effects)
    }

    /// Notes that the instance could not be opened; the reason is for people.
    public mutating func failedToOpen(
        _ id: InstanceID, reason: String, at now: Instant, _ effects: inout [Effect]
    ) {
        guard instances.removeValue(forKey: id) != nil else { return }
        fail(reason, at: now, &effects)
        advance(at: now, &effects)
    }

    /// Handles a line that the instance wrote. The id alone decides which line it answers.
    public mutating func wrote(_ line: [UInt8], by id: InstanceID, at now: Instant, _ effects: inout [Effect]) {
        guard let place = instances.index(forKey: id) else { return }
        breakSilence(at: place, &effects)
        let only = rules.isSingleUse ? instances.values[place].outstanding.keys.first : nil
        // A line without a status is one of the run's own. The process that saw the run end writes the answer after
        // them. The deadline ends a flood of lines.
        if only != nil, instances.values[place].written.take(line) { return }
        // A blank line counts as a stray line, but is not reported as one.
        guard !line.isEmpty else { return countStrayLine(id, nil, at: now, &effects) }
        let fault: String
        do throws(LineFault) {
            let answer = try LineAnswer(
                line, toOnly: only, after: instances.values[place].written, mayRequest: handler.kind.sendsRequests)
            if let invocation = instances.values[place].answered(answer.id, at: now) {
                runs[invocation] = nil
                outstandingCount -= 1
                failures = 0
                pausedUntil = nil
                // A program that is no bridge may use this member for anything.
                if let status = answer.httpStatus, handler.kind.isBridge {
                    effects.append(.report(.observed(invocation, RunFacts(status: status))))
                }
                effects.append(.report(.finished(invocation, answer.answer)))
                if instances.values[place].isSpent { close(id, at: now, because: "it has answered", &effects) }
                return advance(at: now, &effects)
            }
            if instances.values[place].answeredCancelled(answer.id, at: now) { return advance(at: now, &effects) }
            fault = "an answer whose id belongs to no waiting callback"
        } catch {
            guard error != .isRequest else { return effects.append(.request(line)) }
            fault = error.description
        }
        countStrayLine(id, fault, at: now, &effects)
    }

    /// Clears the remark that the instance has never written a line: it does flush its output.
    private mutating func breakSilence(at place: Dictionary<InstanceID, Instance>.Index, _ effects: inout [Effect]) {
        guard !instances.values[place].hasWritten else { return }
        instances.values[place].hasWritten = true
        guard handler.kind.command != nil else { return }
        effects += instances.values[place].outstanding.values.sorted().map { .report(.observed($0, RunFacts())) }
    }

    /// Counts a stray line.
    ///
    /// - Parameter fault: the fault of the line, for people; `nil`: it is blank.
    private mutating func countStrayLine(_ id: InstanceID, _ fault: String?, at now: Instant, _ effects: inout [Effect])
    {
        guard var instance = instances[id] else { return }
        instance.strayLines += 1
        if let fault {
            let seen = RunFacts(insteadOfAnswer: "the \(handler.kind.instanceName) wrote \(fault)")
            effects += instance.unansweredAtStray().map { .report(.observed($0, seen)) }
            let note = Effect.note("\(described(id)) wrote \(fault); such lines are ignored")
            if !instance.hasReportedStray { effects.append(note) }
            instance.hasReportedStray = true
        }
        instances[id] = instance
        guard instance.strayLines >= Self.strayLinesMax else { return }
        lose(id, "wrote \(Self.strayLinesMax) lines that answer no callback", at: now, &effects)
    }

    /// Notes that the instance writes and accepts no more lines. Its invocations stay with it until it is closed.
    ///
    /// - Parameter leavesLast: whether it has not read the last line completely.
    public mutating func acceptsNoLines(
        _ id: InstanceID, leavesLast: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        instances[id]?.acceptsNoLines = true
        // The end of an instance that has never answered counts as a failure with a delay; ``closed(_:reason:at:_:)``
        // follows soon.
        guard instances[id]?.hasAnswered == true else { return }
        if leavesLast { reassignLast(of: id, &effects) }
        advance(at: now, &effects)
    }

    /// Moves the last invocation, which the instance has not read, to another instance: even one that may not be
    /// repeated.
    private mutating func reassignLast(of id: InstanceID, _ effects: inout [Effect]) {
        guard let place = instances.index(forKey: id), let line = instances.values[place].lastLine,
            let invocation = instances.values[place].outstanding.removeValue(forKey: line)
        else { return }
        outstandingCount -= 1
        runs[invocation]?.place = nil
        runs[invocation]?.sends -= 1
        displaced.append(invocation)
        hasCollectedExpiring = false
        effects.append(.reassign(invocation, from: id))
    }

    /// Notes that the instance has ended; the reason is for people.
    public mutating func closed(_ id: InstanceID, reason: String, at now: Instant, _ effects: inout [Effect]) {
        guard let instance = instances.removeValue(forKey: id) else { return }
        // A program may end after a number of answers, and a service may close the connection after each.
        if !instance.isEnding, !instance.hasAnswered || !instance.outstanding.isEmpty {
            displace(instance, because: reason)
            // The end of a single-use instance says nothing about the next one.
            if !instance.isSpent { fail(reason, at: now, &effects) }
        }
        advance(at: now, &effects)
    }

    /// Replaces an instance that broke the protocol; the reason is for people.
    mutating func lose(_ id: InstanceID, _ reason: String, at now: Instant, _ effects: inout [Effect]) {
        guard instances[id] != nil else { return }
        close(id, at: now, because: reason, &effects)
        fail(reason, at: now, &effects)
        advance(at: now, &effects)
    }

    // MARK: Time, and the end

    /// Handles due times.
    public mutating func clock(at now: Instant, _ effects: inout [Effect]) {
        // Suppresses ``advance(another:at:_:)`` until all due times are handled.
        behindSince = now
        for (id, instance) in instances.sorted(by: { $0.key < $1.key }) {
            guard let due = endDue(of: instance), due <= now else { continue }
            if instance.isEnding {
                instances[id] = nil
                effects.append(.close(id))
            } else if !instance.cancelledLines.isEmpty {
                lose(id, "did not answer a cancelled callback", at: now, &effects)
            } else {
                end(id, at: now, &effects)
            }
        }
        behindSince = nil
        advance(at: now, &effects)
    }

    /// Notes that the configuration no longer has the handler, or the daemon ends: idle instances end, the others when
    /// they become idle.
    public mutating func retire(at now: Instant, _ effects: inout [Effect]) {
        isRetired = true
        endIdle(at: now, &effects)
    }

    /// Closes every instance now, and reports nothing.
    public mutating func closeAll(_ effects: inout [Effect]) {
        for id in instances.keys.sorted() { effects.append(.close(id)) }
        instances = [:]
        runs = [:]
        (waiting, displaced, lost, expiring) = (Queue(), Queue(), Queue(), Queue())
        outstandingCount = 0
        behindSince = nil
    }

    private mutating func endIdle(at now: Instant, _ effects: inout [Effect]) {
        guard isRetired, waitingCount == 0 else { return }
        for (id, instance) in instances.sorted(by: { $0.key < $1.key }) where instance.isIdle && !instance.isEnding {
            end(id, at: now, &effects)
        }
    }

    private mutating func end(_ id: InstanceID, at now: Instant, _ effects: inout [Effect]) {
        instances[id]?.phase = .ending(now + Self.endingTime)
        effects.append(.finishInput(id))
    }

    // MARK: Deciding

    /// - Parameter another: whether to open one more instance although no invocation waits, because all instances are
    ///   busy.
    private mutating func advance(another: Bool = false, at now: Instant, _ effects: inout [Effect]) {
        // Work of this turn is left over: the clock of the next turn continues it.
        guard behindSince == nil else { return }
        var acts = Self.actsMax
        reportLost(atMost: &acts, &effects)
        assign(atMost: &acts, at: now, &effects)
        open(another: another, at: now, &effects)
        giveUp(atMost: &acts, at: now, &effects)
        endIdle(at: now, &effects)
        if acts == 0 { behindSince = now }
    }

    /// Sends waiting invocations to the least busy instances.
    private mutating func assign(atMost acts: inout Int, at now: Instant, _ effects: inout [Effect]) {
        while acts > 0, waitingCount > 0, let id = leastBusy, let next = nextWaiting(at: now) {
            acts -= 1
            let invocation = runs.keys[next]
            lastLine += 1
            runs.values[next].place = (id, lastLine)
            runs.values[next].sends += 1
            outstandingCount += 1
            instances[id]?.outstanding[lastLine] = invocation
            instances[id]?.lastLine = lastLine
            instances[id]?.idleSince = nil
            effects.append(.send(runs.values[next].run, line: lastLine, to: id))
            if rules.isSingleUse {
                instances[id]?.isSpent = true
                effects.append(.finishInput(id))
            }
            effects.append(.report(.started(invocation)))
            if handler.kind.command != nil, instances[id]?.hasWritten == false {
                effects.append(.report(.observed(invocation, RunFacts(insteadOfAnswer: Instance.silence))))
            }
        }
    }

    private var leastBusy: InstanceID? {
        instances.lazy.filter { $0.value.hasRoom(rules) }
            .min { ($0.value.outstanding.count, $0.key) < ($1.value.outstanding.count, $1.key) }?.key
    }

    /// Returns the next waiting invocation with time left. The router stops an invocation without time left at this
    /// same instant.
    private mutating func nextWaiting(at now: Instant) -> Dictionary<InvocationID, PooledRun>.Index? {
        while let id = displaced.popFirst() ?? waiting.popFirst() {
            guard let index = runs.index(forKey: id) else { continue }
            if runs.values[index].place == nil, now < runs.values[index].run.deadline { return index }
        }
        return nil
    }

    /// Removes the ids that no longer wait, if they outnumber those that do.
    private mutating func forgetEnded() {
        guard queuedCount > 2 * waitingCount + 64 else { return }
        // An invocation may have been queued twice.
        var seen: Set<InvocationID> = []
        func stillWaiting(_ ids: Queue<InvocationID>) -> Queue<InvocationID> {
            var left = Queue<InvocationID>()
            for id in ids {
                guard let run = runs[id], run.place == nil, seen.insert(id).inserted else { continue }
                left.append(id)
            }
            return left
        }
        displaced = stillWaiting(displaced)
        waiting = stillWaiting(waiting)
    }

    /// Opens instances for waiting invocations.
    private mutating func open(another: Bool, at now: Instant, _ effects: inout [Effect]) {
        if let pausedUntil, now < pausedUntil { return }
        pausedUntil = nil
        var opening = instances.values.count { $0.phase == .opening }
        while liveCount < rules.instances,
            waitingCount > opening * rules.linesAtOnce || another && opening == 0 && !rules.isSingleUse
        {
            lastInstance += 1
            let id = InstanceID(lastInstance)
            instances[id] = Instance()
            opening += 1
            effects.append(.open(id))
        }
    }

    /// Reports waiting invocations as failed if there is no instance, and none is opened before their deadlines.
    private mutating func giveUp(atMost acts: inout Int, at now: Instant, _ effects: inout [Effect]) {
        guard let pausedUntil, now < pausedUntil, liveCount == 0 else {
            (expiring, hasCollectedExpiring) = (Queue(), false)
            return
        }
        if !hasCollectedExpiring { collectExpiring(until: pausedUntil) }
        guard !expiring.isEmpty else { return }
        let times = failures == 1 ? "" : ", \(failures) times in a row"
        while acts > 0, let id = expiring.popFirst() {
            guard let run = runs[id], run.place == nil, run.run.deadline <= pausedUntil else { continue }
            acts -= 1
            runs[id] = nil
            effects.append(.report(.failedToStart(id, reason: lastFailure + times)))
        }
        forgetEnded()
    }

    /// Finds the waiting invocations with deadlines within a pause. ``start(_:at:_:)`` adds later ones.
    private mutating func collectExpiring(until end: Instant) {
        hasCollectedExpiring = true
        expiringScans += 1
        expiring = Queue()
        let found = runs.values.filter { $0.place == nil && $0.run.deadline <= end }
        for id in found.map(\.run.invocation.id).sorted() { expiring.append(id) }
    }

    /// Counts a failure and sets the pause before the next instance.
    private mutating func fail(_ reason: String, at now: Instant, _ effects: inout [Effect]) {
        failures += 1
        lastFailure = "the \(handler.kind.instanceName) \(reason)"
        let delay = min(Self.shortestDelay * (1 << min(failures - 1, 10)), Self.longestDelay)
        pausedUntil = now + delay
        hasCollectedExpiring = false
        // Each failure doubles the delay, so a dead handler causes a few entries at first, and then one every two
        // seconds.
        effects.append(
            .note(
                "the \(handler.kind.instanceName) of \(handler.name) \(reason); tried again in \(delay.milliseconds) ms"
            ))
    }

    private mutating func close(
        _ id: InstanceID, at now: Instant, because reason: String, _ effects: inout [Effect]
    ) {
        guard let instance = instances.removeValue(forKey: id) else { return }
        effects.append(.close(id))
        displace(instance, because: reason)
    }

    /// Requeues the invocations of a lost instance that may be repeated; the others have failed.
    private mutating func displace(_ instance: Instance, because reason: String) {
        let reason = reason + instance.written.objection
        for (line, id) in instance.outstanding.sorted(by: { $0.key < $1.key }) {
            guard let place = runs.index(forKey: id) else { continue }
            let run = runs.values[place]
            if run.run.handler.idempotent, run.sends < Self.sendsMax, !instance.isSpent {
                outstandingCount -= 1
                runs.values[place].place = nil
                displaced.append(id)
                hasCollectedExpiring = false
            } else {
                lost.append((line, id, reason))
            }
        }
    }

    private mutating func reportLost(atMost acts: inout Int, _ effects: inout [Effect]) {
        while acts > 0, let (line, id, reason) = lost.popFirst() {
            // The invocation may have missed its deadline meanwhile, and may even have been started again.
            guard let run = runs[id], run.place?.line == line else { continue }
            acts -= 1
            outstandingCount -= 1
            runs[id] = nil
            let times = run.sends > 1 ? "; \(run.sends) instances received the callback" : ""
            let text = "the \(handler.kind.instanceName) did not answer: \(reason)\(times)"
            effects.append(.report(.finished(id, .lost(reason: text))))
        }
    }

    private func described(_ id: InstanceID) -> String {
        "the \(handler.kind.instanceName) of \(handler.name), number \(id),"
    }
}

extension InstancePool {
    /// An action for the daemon, carried out in order.
    public enum Effect: Sendable {
        /// Open an instance and report `opened` or `failedToOpen`; report `closed` when it ends by itself.
        case open(InstanceID)
        /// Send the line of a run to the instance, with this id.
        indirect case send(HandlerRun, line: Int64, to: InstanceID)
        /// The instance has not read the line of this invocation, which moves to another instance: later output of this
        /// instance concerns other invocations.
        case reassign(InvocationID, from: InstanceID)
        /// Send the cancellation of this line to the instance.
        case cancel(line: Int64, from: InstanceID)
        /// End the instance's input; it may still answer.
        case finishInput(InstanceID)
        /// Kill the instance with all its processes, or close the connection; the pool ignores any later line.
        case close(InstanceID)
        /// Report to the router.
        case report(RouterEvent)
        /// Handle this line of an instance as a request to the daemon.
        case request([UInt8])
        /// Write one sentence to the journal.
        case note(String)
    }
}
