import PushDispatch
public import PushModel

/// What goes over one bus to its notification service and comes back: which invocation has which answer, when the bus is
/// connected to again, and what a click is about.
///
/// A pure value, as the router is: events with a time go in, effects come out. The shell speaks D-Bus.
public struct NotificationDesk: Sendable {
    /// What the desk wants done, in this order.
    public enum Effect: Sendable {
        /// Connect, ask for the capabilities, and report `opened` or `lost`.
        case open
        /// Let go of the connection; nothing that comes of it counts any more.
        case close
        /// Have the service show this, and report `answered` with the token.
        indirect case show(DesktopNotification, token: Int64, InvocationID)
        /// Have the service take back the notification with this number.
        case withdraw(UInt32)
        /// Tell the router.
        case report(RouterEvent)
        /// A person did this.
        case act(NotificationAct)
        /// Tell the journal: one sentence.
        case note(String)
    }

    /// What became of a call.
    public enum Answer: Sendable {
        /// It is shown under this number.
        case shown(UInt32)
        /// The service cannot be reached, or cannot do it now; the reason is for people.
        case unavailable(String)
        /// The service refuses it; the reason is for people.
        case refused(String)
    }

    private enum Phase: Sendable {
        case closed
        case opening(until: Instant)
        case open(capabilities: Set<String>)
    }

    /// One invocation that waits for the service.
    private struct Pending: Sendable {
        var run: HandlerRun
        var content: NotificationContent
        var rules: NotificationRules
        /// The call that was made for it.
        var token: Int64?
    }

    /// How long the service has to say what it can do.
    static let openingTime = Duration.seconds(3)
    /// The shortest wait after the service could not be reached; it doubles with each failure.
    static let shortestDelay = Duration.milliseconds(100)
    /// The longest.
    static let longestDelay = Duration.seconds(2)
    /// How many calls may be unanswered beyond their deadline before the connection is given up.
    static let overdueMax = 64

    private var phase = Phase.closed
    private var pending: [InvocationID: Pending] = [:]
    /// The calls without an answer; `nil`: nobody waits for it any more.
    private var calls: [Int64: InvocationID?] = [:]
    private var shown = ShownNotifications()
    private var lastToken: Int64 = 0
    private var failures = 0
    private var pausedUntil: Instant?
    private var lastFailure = ""

    /// A desk without a connection.
    public init() {}

    /// How many invocations wait for the service.
    public var runCount: Int { pending.count }

    /// How many notifications are known that a person may act on.
    public var shownCount: Int { shown.count }

    /// When the desk next needs the clock; `nil` when nothing is due.
    public var nextDue: Instant? {
        if case .opening(let until) = phase { until } else { nil }
    }

    // MARK: Invocations

    /// Takes an invocation; its time is not up. What shows nothing is declined: a tap, a token, a payload without a text.
    public mutating func start(
        _ run: HandlerRun, _ rules: NotificationRules, at now: Instant, _ effects: inout [Effect]
    ) {
        let id = run.invocation.id
        effects.append(.report(.started(id)))
        guard let content = Self.content(of: run) else { return effects.append(.report(.finished(id, .declined))) }
        if let pausedUntil, now < pausedUntil {
            return effects.append(
                .report(.finished(id, .unavailable(reason: lastFailure, after: pausedUntil - now))))
        }
        pending[id] = Pending(run: run, content: content, rules: rules)
        switch phase {
        case .open(let capabilities): show(id, capabilities, &effects)
        case .opening: break
        case .closed:
            phase = .opening(until: now + Self.openingTime)
            effects.append(.open)
        }
    }

    /// An invocation missed its deadline: nothing that is said of it counts any more, and what is shown late is taken back.
    public mutating func stop(_ invocation: InvocationID, at now: Instant, _ effects: inout [Effect]) {
        guard let run = pending.removeValue(forKey: invocation), let token = run.token else { return }
        calls[token] = .some(nil)
        let overdue = calls.values.count { $0 == nil }
        if overdue > Self.overdueMax {
            lost("it has not answered \(overdue) calls", at: now, &effects)
        }
    }

    /// Ends everything; nothing is reported.
    public mutating func closeAll(_ effects: inout [Effect]) {
        (pending, calls, shown) = ([:], [:], ShownNotifications())
        letGo(&effects)
    }

    private static func content(of run: HandlerRun) -> NotificationContent? {
        guard case .deliver(let deliver)? = run.subject.action, let payload = run.subject.payload else { return nil }
        switch run.invocation.callback {
        case .onMessageReceived, .didReceiveRemoteNotification, .willPresent, .push: break
        case .onDeletedMessages, .onMessageSent, .onSendError, .onNewToken, .onRegistered, .onUnregistered,
            .didReceiveResponse, .serviceExtension, .didRegister, .notificationclick, .notificationclose, .none:
            return nil
        }
        return NotificationContent(payload, platform: run.request.platform, transport: deliver.transport)
    }

    private mutating func show(_ id: InvocationID, _ capabilities: Set<String>, _ effects: inout [Effect]) {
        guard let run = pending[id] else { return }
        lastToken += 1
        pending[id]?.token = lastToken
        calls[lastToken] = id
        let notification = DesktopNotification(
            run.content, run.rules, replacing: shown.number(tag: run.content.tag, of: run.run),
            capabilities: capabilities)
        effects.append(.show(notification, token: lastToken, id))
    }

    // MARK: What the service does

    /// The service can do this; it takes calls from now on.
    public mutating func opened(capabilities: Set<String>, at now: Instant, _ effects: inout [Effect]) {
        guard case .opening = phase else { return }
        phase = .open(capabilities: capabilities)
        for id in pending.keys.sorted() { show(id, capabilities, &effects) }
    }

    /// A call has its answer.
    public mutating func answered(_ token: Int64, _ answer: Answer, at now: Instant, _ effects: inout [Effect]) {
        guard let call = calls.removeValue(forKey: token) else { return }
        guard let id = call, let run = pending.removeValue(forKey: id) else {
            // Its outcome is known: a person is not to see what counts as missed.
            if case .shown(let number) = answer { effects.append(.withdraw(number)) }
            return
        }
        switch answer {
        case .shown(let number):
            (failures, pausedUntil) = (0, nil)
            shown.add(.init(run.run, tag: run.content.tag), number: number)
            effects.append(.report(.finished(id, .handled(HandlerAnswer.Content()))))
        case .unavailable(let reason):
            effects.append(
                .report(.finished(id, .unavailable(reason: Self.sentence(reason), after: Self.shortestDelay))))
        case .refused(let reason):
            effects.append(
                .report(.finished(id, .rejected(reason: "the notification service refused it: \(reason)"))))
        }
    }

    /// A person invoked an action of a notification.
    public mutating func acted(on number: UInt32, _ action: String, _ effects: inout [Effect]) {
        guard let entry = shown.remove(number) else { return }
        let isBody = action == DesktopNotification.defaultAction
        effects.append(
            .act(
                NotificationAct(
                    kind: isBody ? .opened : .action, action: isBody ? nil : action, invocation: entry.invocation,
                    target: entry.target)))
    }

    /// A notification is gone.
    ///
    /// - Parameter wasDismissed: whether a person swept it away.
    public mutating func closed(_ number: UInt32, wasDismissed: Bool, _ effects: inout [Effect]) {
        guard let entry = shown.remove(number), wasDismissed else { return }
        effects.append(
            .act(NotificationAct(kind: .dismissed, invocation: entry.invocation, target: entry.target)))
    }

    /// The bus or the service is gone, or was never there. What it showed went with it; the numbers of another one may be
    /// the same.
    public mutating func lost(_ reason: String, at now: Instant, _ effects: inout [Effect]) {
        if case .closed = phase { return }
        letGo(&effects)
        let delay = min(Self.longestDelay, Self.shortestDelay * (1 << min(failures, 10)))
        if failures == 0 { effects.append(.note(Self.sentence(reason))) }
        failures += 1
        pausedUntil = now + delay
        lastFailure = Self.sentence(reason)
        let waiting = pending.keys.sorted()
        (pending, calls, shown) = ([:], [:], ShownNotifications())
        for id in waiting {
            effects.append(.report(.finished(id, .unavailable(reason: lastFailure, after: delay))))
        }
    }

    /// Carries out what is due.
    public mutating func clock(at now: Instant, _ effects: inout [Effect]) {
        guard case .opening(let until) = phase, until <= now else { return }
        lost("it did not answer within \(Self.openingTime.milliseconds) ms", at: now, &effects)
    }

    private mutating func letGo(_ effects: inout [Effect]) {
        if case .closed = phase { return }
        phase = .closed
        effects.append(.close)
    }

    private static func sentence(_ reason: String) -> String { "the notification service cannot be reached: \(reason)" }
}
