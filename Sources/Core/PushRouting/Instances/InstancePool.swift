public import PushModel

/// The instances of one handler that answers by lines, and the invocations that it has: which instance gets which, when
/// one is opened, replaced or ended, and what becomes of the invocations of one that is lost.
///
/// A pure value, as the router is: events with a time go in, effects come out. The shell opens programs or connections and
/// carries lines.
public struct InstancePool: Sendable {
    /// What the pool wants done, in this order.
    public enum Effect: Sendable {
        /// Open an instance and report `opened` or `failedToOpen`; report `closed` when it ends by itself.
        case open(InstanceID)
        /// Give the instance the line of a run, with this id.
        indirect case send(HandlerRun, line: Int64, to: InstanceID)
        /// The instance has not read the line of this invocation, which another will get: what it writes is about others.
        case passOn(InvocationID, from: InstanceID)
        /// Tell the instance that nobody waits for the answer to this line any more.
        case takeBack(line: Int64, from: InstanceID)
        /// Tell the instance that no more lines will come; it may still answer.
        case finishInput(InstanceID)
        /// End the instance now, with all that it started; nothing that it says counts any more.
        case close(InstanceID)
        /// Tell the router.
        case report(RouterEvent)
        /// Take this line of an instance as a request of the daemon's own.
        case request([UInt8])
        /// Tell the journal: one sentence.
        case note(String)
    }

    /// The shortest wait after an instance failed; it doubles with each failure until one answers.
    static let shortestDelay = Duration.milliseconds(100)
    /// The longest.
    static let longestDelay = Duration.seconds(2)
    /// To how many instances an invocation is given that may be repeated.
    static let sendsMax = 3
    /// How many lines an instance may write one after the other that answer nothing.
    static let strayLinesMax = 1000
    /// How long an instance has to end by itself.
    static let endingTime = Duration.seconds(1)
    /// How long an instance has to answer what was taken back.
    static let takingBackTime = Duration.seconds(1)
    /// How many invocations are given to instances, or reported as failed, at once; the next ones in the loop's next turn.
    static let actsMax = 128

    /// Whose instances they are.
    public let handler: Handler
    let rules: InstanceRules
    var instances: [InstanceID: Instance] = [:]
    var runs: [InvocationID: PooledRun] = [:]
    /// Those that wait for an instance; who is no longer waiting is passed over.
    private var waiting = Queue<InvocationID>()
    /// Those of them that were taken from an instance that is lost: they go first.
    private var displaced = Queue<InvocationID>()
    /// Those that an instance had that is lost, and that have failed: to be reported, with the reason. They count as
    /// outstanding until then.
    private var lost = Queue<(line: Int64, invocation: InvocationID, reason: String)>()
    /// Those that wait for nothing: no instance is opened before their deadlines.
    private var hopeless = Queue<InvocationID>()
    /// Whether those that wait were looked through for such since nothing is opened.
    private var isLookedThrough = false
    /// How often they were.
    private(set) var looksThrough = 0
    private var outstandingCount = 0
    /// Since when there is more to do than was done at once; the clock goes on with it.
    private var behindSince: Instant?
    private var lastInstance: Int64 = 0
    private var lastLine: Int64 = 0
    /// How many instances failed one after the other.
    private var failures = 0
    /// Before this time none is opened.
    private var pausedUntil: Instant?
    private var lastFailure = ""
    /// Whether the configuration has the handler no more: instances end as soon as they have nothing to do.
    public private(set) var isRetired = false

    /// - Parameter handler: one whose kind has instances.
    public init(_ handler: Handler) {
        guard let rules = handler.kind.instanceRules else {
            preconditionFailure("a handler of the kind \(handler.kind.name) has no instances")
        }
        self.handler = handler
        self.rules = rules
    }

    /// Whether it has neither instances nor invocations.
    public var isEmpty: Bool { instances.isEmpty && runs.isEmpty }

    private var waitingCount: Int { runs.count - outstandingCount }

    /// How many instances there are that get lines, or will.
    private var liveCount: Int { instances.values.count(where: \.isLive) }

    /// How many are remembered as waiting, those included that wait no more.
    var queuedCount: Int { waiting.count + displaced.count }

    /// When the pool next needs the clock; `nil` when nothing is due.
    public var nextDue: Instant? {
        if let behindSince { return behindSince }
        var due = waitingCount > 0 && liveCount < rules.instances ? pausedUntil : nil
        for instance in instances.values {
            guard let time = endDue(of: instance) else { continue }
            due = min(due ?? time, time)
        }
        return due
    }

    /// When an instance is to end, or to be closed.
    private func endDue(of instance: Instance) -> Instant? {
        switch instance.phase {
        case .opening: nil
        case .ending(let time): time
        case .open:
            instance.takenBack.nextDue
                ?? instance.idleSince.flatMap { since in rules.idleTimeout.map { since + $0 } }
        }
    }

    // MARK: Invocations

    /// Takes an invocation; its time is not up.
    public mutating func start(_ run: HandlerRun, at now: Instant, _ effects: inout [Effect]) {
        let isBusy = instances.values.allSatisfy { !$0.outstanding.isEmpty || $0.phase != .open }
        runs[run.invocation.id] = PooledRun(run: run)
        waiting.append(run.invocation.id)
        if isLookedThrough { hopeless.append(run.invocation.id) }
        goOn(another: isBusy, at: now, &effects)
    }

    /// An invocation missed its deadline: nothing that is said of it counts any more. The instance that has it is replaced,
    /// since nobody knows what else it will not answer; unless it can be told, and says that it has heard.
    public mutating func stop(_ invocation: InvocationID, at now: Instant, _ effects: inout [Effect]) {
        guard let run = runs.removeValue(forKey: invocation) else { return }
        guard let (id, line) = run.place else {
            forgetEnded()
            // An instance that opened at the deadline has nothing to do, and waited for this one.
            return endIdle(at: now, &effects)
        }
        outstandingCount -= 1
        // Of one that is lost it may be left to report.
        guard instances[id]?.outstanding.removeValue(forKey: line) != nil else { return }
        guard !rules.takesBack else {
            instances[id]?.takenBack.insert(line, due: now + Self.takingBackTime)
            instances[id]?.lastLine = nil
            effects.append(.takeBack(line: line, from: id))
            return goOn(at: now, &effects)
        }
        close(id, at: now, because: "another invocation missed its deadline", &effects)
        if !rules.isSingleUse {
            effects.append(.note("\(described(id)) is replaced: it did not answer within the deadline"))
        }
        goOn(at: now, &effects)
    }

    // MARK: What instances do

    /// The instance takes lines from now on.
    public mutating func opened(_ id: InstanceID, at now: Instant, _ effects: inout [Effect]) {
        // Who was told meanwhile that nothing will come has heard of it now.
        if instances[id]?.isEnding == true { instances[id]?.phase = .ending(now + Self.endingTime) }
        guard instances[id]?.phase == .opening else { return }
        instances[id]?.phase = .open
        instances[id]?.idleSince = now
        goOn(at: now, &effects)
    }

    /// The instance could not be opened; the reason is for people.
    public mutating func failedToOpen(
        _ id: InstanceID, reason: String, at now: Instant, _ effects: inout [Effect]
    ) {
        guard instances.removeValue(forKey: id) != nil else { return }
        fail(reason, at: now, &effects)
        goOn(at: now, &effects)
    }

    /// The instance wrote a line. Which line of its own it answers is decided by the id alone.
    public mutating func wrote(_ line: [UInt8], by id: InstanceID, at now: Instant, _ effects: inout [Effect]) {
        guard let place = instances.index(forKey: id) else { return }
        breakSilence(at: place, &effects)
        let only = rules.isSingleUse ? instances.values[place].outstanding.keys.first : nil
        // How the run ended says who saw it end, behind what the run wrote itself; the deadline ends a flood.
        if only != nil, instances.values[place].written.take(line) { return }
        // A blank line is no fault; a thousand of them are.
        guard !line.isEmpty else { return strayed(id, nil, at: now, &effects) }
        let fault: String
        do throws(LineFault) {
            let answer = try LineAnswer(
                line, toOnly: only, after: instances.values[place].written, mayRequest: handler.kind.sendsRequests)
            if let invocation = instances.values[place].answered(answer.id, at: now) {
                runs[invocation] = nil
                outstandingCount -= 1
                failures = 0
                pausedUntil = nil
                // Another program than a bridge may call anything so.
                if let status = answer.httpStatus, handler.kind.isBridge {
                    effects.append(.report(.observed(invocation, RunFacts(status: status))))
                }
                effects.append(.report(.finished(invocation, answer.answer)))
                if instances.values[place].isSpent { close(id, at: now, because: "it has answered", &effects) }
                return goOn(at: now, &effects)
            }
            if instances.values[place].answeredTakenBack(answer.id, at: now) { return goOn(at: now, &effects) }
            fault = "an answer with an id that no callback waits for"
        } catch {
            guard error != .isRequest else { return effects.append(.request(line)) }
            fault = error.description
        }
        strayed(id, fault, at: now, &effects)
    }

    /// An instance that has written something has not forgotten to flush.
    private mutating func breakSilence(at place: Dictionary<InstanceID, Instance>.Index, _ effects: inout [Effect]) {
        guard !instances.values[place].hasWritten else { return }
        instances.values[place].hasWritten = true
        guard handler.kind.command != nil else { return }
        effects += instances.values[place].outstanding.values.sorted().map { .report(.observed($0, RunFacts())) }
    }

    /// Counts a line that answers nothing.
    ///
    /// - Parameter fault: what is wrong with it, for people; `nil`: it is blank.
    private mutating func strayed(_ id: InstanceID, _ fault: String?, at now: Instant, _ effects: inout [Effect]) {
        guard var instance = instances[id] else { return }
        instance.strayLines += 1
        if let fault {
            let seen = RunFacts(insteadOfAnswer: "the \(handler.kind.instanceName) wrote \(fault)")
            effects += instance.unansweredAtStray().map { .report(.observed($0, seen)) }
            let note = Effect.note("\(described(id)) wrote \(fault); such lines are ignored")
            if !instance.hasToldStray { effects.append(note) }
            instance.hasToldStray = true
        }
        instances[id] = instance
        guard instance.strayLines >= Self.strayLinesMax else { return }
        lose(id, "wrote \(Self.strayLinesMax) lines that answer nothing", at: now, &effects)
    }

    /// The instance says no more and takes no more; what it has is not lost before it is at its end.
    ///
    /// - Parameter leavesLast: whether it has not read to its end what was sent to it last.
    public mutating func takesNoMore(
        _ id: InstanceID, leavesLast: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        instances[id]?.takesNoMore = true
        // The end of one that has never answered is a failure, and others are opened after a wait: it is told soon.
        guard instances[id]?.hasAnswered == true else { return }
        if leavesLast { passOnLast(of: id, &effects) }
        goOn(at: now, &effects)
    }

    /// Has another instance get what this one was given last and has not read: it may be given again whatever it is.
    private mutating func passOnLast(of id: InstanceID, _ effects: inout [Effect]) {
        guard let place = instances.index(forKey: id), let line = instances.values[place].lastLine,
            let invocation = instances.values[place].outstanding.removeValue(forKey: line)
        else { return }
        outstandingCount -= 1
        runs[invocation]?.place = nil
        runs[invocation]?.sends -= 1
        displaced.append(invocation)
        isLookedThrough = false
        effects.append(.passOn(invocation, from: id))
    }

    /// The instance is at its end; the reason says how, for people.
    public mutating func closed(_ id: InstanceID, reason: String, at now: Instant, _ effects: inout [Effect]) {
        guard let instance = instances.removeValue(forKey: id) else { return }
        // A program may end after so many answers, a service after each.
        if !instance.isEnding, !instance.hasAnswered || !instance.outstanding.isEmpty {
            displace(instance, because: reason)
            // The end of one run says nothing of the next.
            if !instance.isSpent { fail(reason, at: now, &effects) }
        }
        goOn(at: now, &effects)
    }

    /// The instance did what no instance may do; the reason says what, for people. It is replaced.
    public mutating func lose(_ id: InstanceID, _ reason: String, at now: Instant, _ effects: inout [Effect]) {
        guard instances[id] != nil else { return }
        close(id, at: now, because: reason, &effects)
        fail(reason, at: now, &effects)
        goOn(at: now, &effects)
    }

    // MARK: Time, and the end

    /// Carries out what is due.
    public mutating func clock(at now: Instant, _ effects: inout [Effect]) {
        // What follows from all that is due is done once.
        behindSince = now
        for (id, instance) in instances.sorted(by: { $0.key < $1.key }) {
            guard let due = endDue(of: instance), due <= now else { continue }
            if instance.isEnding {
                instances[id] = nil
                effects.append(.close(id))
            } else if !instance.takenBack.isEmpty {
                lose(id, "did not answer what was taken back", at: now, &effects)
            } else {
                end(id, at: now, &effects)
            }
        }
        behindSince = nil
        goOn(at: now, &effects)
    }

    /// The configuration has the handler no more, or the daemon ends: what runs goes on, idle instances end.
    public mutating func retire(at now: Instant, _ effects: inout [Effect]) {
        isRetired = true
        endIdle(at: now, &effects)
    }

    /// Ends every instance now; nothing is reported.
    public mutating func closeAll(_ effects: inout [Effect]) {
        for id in instances.keys.sorted() { effects.append(.close(id)) }
        instances = [:]
        runs = [:]
        (waiting, displaced, lost, hopeless) = (Queue(), Queue(), Queue(), Queue())
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

    /// - Parameter another: whether one more instance is wanted although nothing waits: all have something to do.
    private mutating func goOn(another: Bool = false, at now: Instant, _ effects: inout [Effect]) {
        // Much happens in one turn of the loop, and the clock comes once in it.
        guard behindSince == nil else { return }
        var acts = Self.actsMax
        reportLost(atMost: &acts, &effects)
        assign(atMost: &acts, at: now, &effects)
        open(another: another, at: now, &effects)
        giveUp(atMost: &acts, at: now, &effects)
        endIdle(at: now, &effects)
        if acts == 0 { behindSince = now }
    }

    /// Gives what waits to the instances that have least to do.
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

    /// Where the next is that waits and has time left. Who has none is stopped by the router at this very instant.
    private mutating func nextWaiting(at now: Instant) -> Dictionary<InvocationID, PooledRun>.Index? {
        while let id = displaced.popFirst() ?? waiting.popFirst() {
            guard let index = runs.index(forKey: id) else { continue }
            if runs.values[index].place == nil, now < runs.values[index].run.deadline { return index }
        }
        return nil
    }

    /// Lets go of the ids of those that wait no more, when they are more than those that wait.
    private mutating func forgetEnded() {
        guard queuedCount > 2 * waitingCount + 64 else { return }
        // The same invocation may have waited before.
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

    /// Opens instances for what waits.
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

    /// Ends what waits for nothing: there is no instance, and none is opened before its deadline.
    private mutating func giveUp(atMost acts: inout Int, at now: Instant, _ effects: inout [Effect]) {
        guard let pausedUntil, now < pausedUntil, liveCount == 0 else {
            (hopeless, isLookedThrough) = (Queue(), false)
            return
        }
        if !isLookedThrough { lookThrough(until: pausedUntil) }
        guard !hopeless.isEmpty else { return }
        let times = failures == 1 ? "" : ", \(failures) times in a row"
        while acts > 0, let id = hopeless.popFirst() {
            guard let run = runs[id], run.place == nil, run.run.deadline <= pausedUntil else { continue }
            acts -= 1
            runs[id] = nil
            effects.append(.report(.failedToStart(id, reason: lastFailure + times)))
        }
        forgetEnded()
    }

    /// Finds those whose deadlines are not after a pause. Who comes later is looked at alone.
    private mutating func lookThrough(until end: Instant) {
        isLookedThrough = true
        looksThrough += 1
        hopeless = Queue()
        let found = runs.values.filter { $0.place == nil && $0.run.deadline <= end }
        for id in found.map(\.run.invocation.id).sorted() { hopeless.append(id) }
    }

    /// Counts a failure and says how long no instance is opened.
    private mutating func fail(_ reason: String, at now: Instant, _ effects: inout [Effect]) {
        failures += 1
        lastFailure = "the \(handler.kind.instanceName) \(reason)"
        let delay = min(Self.shortestDelay * (1 << min(failures - 1, 10)), Self.longestDelay)
        pausedUntil = now + delay
        isLookedThrough = false
        // Each failure doubles the wait, so that a dead handler has a few entries at first, and then one in two seconds.
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

    /// What the lost instance had goes to another if it may be repeated, else it has failed.
    private mutating func displace(_ instance: Instance, because reason: String) {
        let reason = reason + instance.written.objection
        for (line, id) in instance.outstanding.sorted(by: { $0.key < $1.key }) {
            guard let place = runs.index(forKey: id) else { continue }
            let run = runs.values[place]
            if run.run.handler.idempotent, run.sends < Self.sendsMax, !instance.isSpent {
                outstandingCount -= 1
                runs.values[place].place = nil
                displaced.append(id)
                isLookedThrough = false
            } else {
                lost.append((line, id, reason))
            }
        }
    }

    private mutating func reportLost(atMost acts: inout Int, _ effects: inout [Effect]) {
        while acts > 0, let (line, id, reason) = lost.popFirst() {
            // It may have missed its deadline meanwhile, and even have come again.
            guard let run = runs[id], run.place?.line == line else { continue }
            acts -= 1
            outstandingCount -= 1
            runs[id] = nil
            let times = run.sends > 1 ? "; \(run.sends) instances had it" : ""
            let text = "the \(handler.kind.instanceName) that had it did not answer: \(reason)\(times)"
            effects.append(.report(.finished(id, .lost(reason: text))))
        }
    }

    private func described(_ id: InstanceID) -> String {
        "the \(handler.kind.instanceName) of \(handler.name), number \(id),"
    }
}
