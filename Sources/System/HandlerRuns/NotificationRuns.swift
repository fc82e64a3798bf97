import DBus
import LinuxSystem
import PushModel
import PushRouter

/// Runs `notify` handlers: carries out the decisions of each bus's desk. Handlers on the same bus share its connection,
/// so a reload does not affect notifications on the screen.
final class NotificationRuns {
    /// One bus: its desk, and the connection while there is one.
    private final class Entry {
        let bus: NotificationRules.Bus
        var desk = NotificationDesk()
        var service: NotificationService?
        var source: IOSource?
        var serviceTimer: TimerSource?
        var deskTimer: TimerSource?

        init(_ bus: NotificationRules.Bus) { self.bus = bus }

        /// Closes the connection.
        func close() {
            source = nil
            serviceTimer?.disarm()
            service = nil
        }
    }

    private typealias Act = (inout NotificationDesk, Instant, inout [NotificationDesk.Effect]) -> Void

    private let system: InstanceSystem
    private var report: (RouterEvent) -> Void = { _ in preconditionFailure("a handler runs before anybody listens") }
    /// Takes a person's action on a notification.
    private var act: (NotificationAct) -> Void = { _ in }
    private var entries: [NotificationRules.Bus: Entry] = [:]
    private var buses: [InvocationID: NotificationRules.Bus] = [:]
    private var queue = Queue<(Entry, Act)>()
    private var isWorking = false

    /// The number of invocations under way.
    var count: Int { buses.count }

    /// - Parameter system: the services for runs.
    init(_ system: InstanceSystem) { self.system = system }

    /// - Parameters:
    ///   - report: takes the events of runs.
    ///   - act: takes a person's action on a notification.
    func begin(reportingTo report: @escaping (RouterEvent) -> Void, acting act: @escaping (NotificationAct) -> Void) {
        self.report = report
        self.act = act
    }

    /// Starts a run, which shows a notification.
    func start(_ run: HandlerRun, _ rules: NotificationRules) {
        let entry = entries[rules.bus] ?? Entry(rules.bus)
        entries[rules.bus] = entry
        buses[run.invocation.id] = rules.bus
        perform(entry) { $0.start(run, rules, at: $1, &$2) }
    }

    /// Ends a run that missed its deadline.
    func stop(_ invocation: InvocationID) {
        guard let bus = buses.removeValue(forKey: invocation), let entry = entries[bus] else { return }
        perform(entry) { $0.stop(invocation, at: $1, &$2) }
    }

    /// Ends all runs and connections at once.
    func stopAll() {
        buses = [:]
        for entry in entries.values { perform(entry) { desk, _, effects in desk.closeAll(&effects) } }
        entries = [:]
    }

    /// Closes the buses that no handler uses and no invocation waits for.
    func reconfigured(_ handlers: some Collection<Handler>) {
        let current = Set(handlers.compactMap { $0.kind.notificationRules?.bus })
        for (bus, entry) in entries where !current.contains(bus) && entry.desk.runCount == 0 {
            perform(entry) { desk, _, effects in desk.closeAll(&effects) }
            entries[bus] = nil
        }
    }

    // MARK: Carrying out

    /// Runs an act on a desk and carries out its effects. Acts that arrive meanwhile are queued.
    private func perform(_ entry: Entry, _ act: @escaping Act) {
        queue.append((entry, act))
        guard !isWorking else { return }
        isWorking = true
        while let (entry, act) = queue.popFirst() {
            var effects: [NotificationDesk.Effect] = []
            act(&entry.desk, Instant(nanoseconds: EventLoop.nowNanoseconds), &effects)
            for effect in effects { carryOut(effect, entry) }
            watch(entry)
        }
        isWorking = false
    }

    private func carryOut(_ effect: NotificationDesk.Effect, _ entry: Entry) {
        switch effect {
        case .open: open(entry)
        case .close: entry.close()
        case .show(let notification, let token, _):
            system.observe?(.given(notification.json))
            entry.service?.show(notification, token: token)
        case .withdraw(let number): entry.service?.withdraw(number)
        case .report(let event):
            if case .finished(let id, _) = event { buses[id] = nil }
            report(event)
        case .act(let done): act(done)
        case .note(let text): system.log(JournalEntry(.warning, text))
        }
    }

    private func open(_ entry: Entry) {
        let address: String
        switch entry.bus {
        case .address(let given): address = given
        case .session:
            guard let session = NotificationService.sessionAddress else {
                let reason = "there is no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
                return lost(reason, entry)
            }
            address = session
        }
        do throws(SystemError) {
            let service = try NotificationService(address: address)
            entry.service = service
            entry.source = try IOSource(loop: system.loop, descriptor: service.descriptor, interest: .read) {
                [unowned self, unowned entry] _ in take(from: entry)
            }
            if entry.serviceTimer == nil {
                entry.serviceTimer = try TimerSource(loop: system.loop) { [unowned self, unowned entry] in
                    take(from: entry)
                }
            }
            if entry.deskTimer == nil {
                entry.deskTimer = try TimerSource(loop: system.loop) { [unowned self, unowned entry] in
                    perform(entry) { $0.clock(at: $1, &$2) }
                }
            }
        } catch {
            entry.close()
            lost(error.description, entry)
        }
    }

    private func lost(_ reason: String, _ entry: Entry) {
        perform(entry) { $0.lost(reason, at: $1, &$2) }
    }

    /// Reads the events of a bus.
    private func take(from entry: Entry) {
        guard let service = entry.service else { return }
        for event in service.process() {
            // An event may close the connection, which drops the rest.
            guard entry.service === service else { break }
            switch event {
            case .ready(let capabilities): perform(entry) { $0.opened(capabilities: capabilities, at: $1, &$2) }
            case .answered(let token, let answer): perform(entry) { $0.answered(token, answer, at: $1, &$2) }
            case .acted(let number, let action):
                perform(entry) { desk, _, effects in
                    desk.acted(on: number, action, &effects)
                }
            case .closed(let number, let wasDismissed):
                perform(entry) { desk, _, effects in
                    desk.closed(number, wasDismissed: wasDismissed, &effects)
                }
            case .lost(let reason): lost(reason, entry)
            }
        }
        watch(entry)
    }

    /// Sets the sources for the next events of a bus and its desk.
    private func watch(_ entry: Entry) {
        if let due = entry.desk.nextDue { entry.deskTimer?.arm(at: due.nanoseconds) } else { entry.deskTimer?.disarm() }
        guard let service = entry.service else { return }
        // The bits of poll and of epoll are the same for reading and writing (poll(2), epoll_ctl(2)).
        entry.source?.interest = IOEvents(rawValue: service.events).intersection([.read, .write])
        if let due = service.dueNanoseconds { entry.serviceTimer?.arm(at: due) } else { entry.serviceTimer?.disarm() }
    }
}
