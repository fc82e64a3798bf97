public import PushModel

/// The exchange with the notification service of one bus: matches answers to invocations and clicks to deliveries, and
/// decides when to reconnect.
///
/// A pure value like the router: events with a time go in, effects come out. The daemon speaks D-Bus.
public struct NotificationDesk: Sendable {
    /// An action for the daemon, carried out in order.
    public enum Effect: Sendable {
        /// Connect to the bus, ask for the capabilities, and report `opened` or `lost`.
        case open
        /// Close the connection; the desk ignores later signals of it.
        case close
        /// Call `Notify`, and report `answered` with the token.
        indirect case show(DesktopNotification, token: Int64, InvocationID)
        /// Call `CloseNotification` with this number.
        case withdraw(UInt32)
        /// Report to the router.
        case report(RouterEvent)
        /// Submit a person's act as a request.
        case act(NotificationAct)
        /// Write one sentence to the journal.
        case note(String)
    }

    /// The result of a call.
    public enum Answer: Sendable {
        /// The service shows the notification under this number.
        case shown(UInt32)
        /// The service is unreachable or temporarily unable; the reason is for people.
        case unavailable(String)
        /// The service refused the call; the reason is for people.
        case refused(String)
    }

    private enum Phase: Sendable {
        case closed
        case opening(until: Instant)
        case open(capabilities: Set<String>)
    }

    /// An invocation that waits for the service.
    private struct Pending: Sendable {
        var run: HandlerRun
        var content: NotificationContent
        var rules: NotificationRules
        /// The token of its call; `nil` before the call.
        var token: Int64?
    }

    /// The time in which the service must return its capabilities.
    static let openingTime = Duration.seconds(3)
    /// The delay after the first failure to reach the service; it doubles with each failure.
    static let shortestDelay = Duration.milliseconds(100)
    /// The longest delay.
    static let longestDelay = Duration.seconds(2)
    /// The most unanswered calls past their deadlines before the desk closes the connection.
    static let overdueMax = 64

    private var phase = Phase.closed
    private var pending: [InvocationID: Pending] = [:]
    /// The unanswered calls by token; `nil`: the invocation has ended.
    private var calls: [Int64: InvocationID?] = [:]
    private var shown = ShownNotifications()
    private var lastToken: Int64 = 0
    private var failures = 0
    private var pausedUntil: Instant?
    private var lastFailure = ""

    /// Creates a desk without a connection.
    public init() {}

    /// The number of invocations that wait for the service.
    public var runCount: Int { pending.count }

    /// The number of shown notifications that a person may act on.
    var shownCount: Int { shown.count }

    /// The time at which the desk next needs ``clock(at:_:)``; `nil`: none.
    public var nextDue: Instant? {
        if case .opening(let until) = phase { until } else { nil }
    }

    // MARK: Invocations

    /// Takes an invocation whose deadline has not passed. Declines one that shows nothing: a tap, a token, or a payload
    /// without a text.
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

    /// Removes an invocation that missed its deadline. A later answer does not count, and the late notification is
    /// withdrawn.
    public mutating func stop(_ invocation: InvocationID, at now: Instant, _ effects: inout [Effect]) {
        guard let run = pending.removeValue(forKey: invocation), let token = run.token else { return }
        calls[token] = .some(nil)
        let overdue = calls.values.count { $0 == nil }
        if overdue > Self.overdueMax {
            lost("it has not answered \(overdue) calls", at: now, &effects)
        }
    }

    /// Ends everything, and reports nothing.
    public mutating func closeAll(_ effects: inout [Effect]) {
        (pending, calls, shown) = ([:], [:], ShownNotifications())
        close(&effects)
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

    // MARK: Events of the service

    /// Notes that the service accepts calls and has these capabilities.
    public mutating func opened(capabilities: Set<String>, at now: Instant, _ effects: inout [Effect]) {
        guard case .opening = phase else { return }
        phase = .open(capabilities: capabilities)
        for id in pending.keys.sorted() { show(id, capabilities, &effects) }
    }

    /// Handles the answer to a call.
    public mutating func answered(_ token: Int64, _ answer: Answer, at now: Instant, _ effects: inout [Effect]) {
        guard let call = calls.removeValue(forKey: token) else { return }
        guard let id = call, let run = pending.removeValue(forKey: id) else {
            // The invocation already has an outcome: no person should see a notification that counts as missed.
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

    /// Handles a person's action on a notification.
    public mutating func acted(on number: UInt32, _ action: String, _ effects: inout [Effect]) {
        guard let entry = shown.remove(number) else { return }
        let isBody = action == DesktopNotification.defaultAction
        effects.append(
            .act(
                NotificationAct(
                    kind: isBody ? .opened : .action, action: isBody ? nil : action, invocation: entry.invocation,
                    target: entry.target)))
    }

    /// Notes that the service closed a notification.
    ///
    /// - Parameter wasDismissed: whether a person dismissed it.
    public mutating func closed(_ number: UInt32, wasDismissed: Bool, _ effects: inout [Effect]) {
        guard let entry = shown.remove(number), wasDismissed else { return }
        effects.append(
            .act(NotificationAct(kind: .dismissed, invocation: entry.invocation, target: entry.target)))
    }

    /// Notes that the bus or the service is gone or unreachable. Its notifications are gone too; another service may
    /// use the same numbers again.
    public mutating func lost(_ reason: String, at now: Instant, _ effects: inout [Effect]) {
        if case .closed = phase { return }
        close(&effects)
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

    /// Handles due times.
    public mutating func clock(at now: Instant, _ effects: inout [Effect]) {
        guard case .opening(let until) = phase, until <= now else { return }
        lost("it did not answer within \(Self.openingTime.milliseconds) ms", at: now, &effects)
    }

    private mutating func close(_ effects: inout [Effect]) {
        if case .closed = phase { return }
        phase = .closed
        effects.append(.close)
    }

    private static func sentence(_ reason: String) -> String { "the notification service cannot be reached: \(reason)" }
}

/// A person's act on a shown notification. It comes back as the request that `pushctl open`, `act` or `dismiss` sends.
public struct NotificationAct: Hashable, Sendable {
    /// The kind of the act.
    public var kind: InteractRequest.Kind
    /// The id of the pressed button; `nil` for other acts.
    public var action: String?
    /// The invocation that showed the notification.
    public var invocation: InvocationID
    /// The target of the accepted delivery.
    public var target: Target

    /// The request line, without its line feed. The invocation is its id, so a repeated signal of the service is
    /// accepted once.
    public var line: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.object {
            $0.member("op", Operation.interact.rawValue)
            $0.member("id", "notification:\(invocation.seq):\(invocation.n)")
            $0.member("kind", kind.rawValue)
            $0.member("message", invocation.seq.value)
            // The protocol accepts no null, so this omits keys without a value.
            let optional = [
                ("action", action), ("platform", target.platform?.rawValue), ("app", target.app),
                ("device", target.device), ("external_id", target.externalID),
            ]
            for case (let key, let value?) in optional { $0.member(key, value) }
        }
        return writer.bytes
    }
}

/// The settings of a `notify` handler: its bus, and the look of its notifications.
public struct NotificationRules: Hashable, Sendable {
    /// The bus of the notification service.
    public enum Bus: Hashable, Sendable {
        /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, or `$XDG_RUNTIME_DIR/bus` if that is not set.
        case session
        /// A bus at a Unix socket address (D-Bus specification, Server Addresses).
        case address(String)
    }

    /// The bus.
    public var bus: Bus
    /// The app name of the notifications, for people.
    public var appName: String
    /// The icon if the payload names none: a name of the icon theme, or an absolute path.
    public var icon: String?
    /// The name of the app's desktop file, without its suffix; services group notifications by it.
    public var desktopEntry: String?
    /// How long a notification stays; `nil`: the service decides; zero: until the person acts.
    public var expires: Duration?
    /// Whether a payload may name an image by a local path.
    public var takesLocalImages: Bool

    /// Joins the parts; the defaults are the shipped ones.
    public init(
        bus: Bus = .session, appName: String = "pushrouterd", icon: String? = nil, desktopEntry: String? = nil,
        expires: Duration? = nil, takesLocalImages: Bool = false
    ) {
        self.bus = bus
        self.appName = appName
        self.icon = icon
        self.desktopEntry = desktopEntry
        self.expires = expires
        self.takesLocalImages = takesLocalImages
    }

    /// Whether a text is a bus address of Unix sockets. It may have several parts; a client uses the first that works.
    public static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        return text.utf8.count <= 1024 && parts.allSatisfy { $0.hasPrefix("unix:") && $0.contains("=") }
    }

    /// The default limit of invocations that wait for the service at once.
    public static let concurrentMax = 16
}
