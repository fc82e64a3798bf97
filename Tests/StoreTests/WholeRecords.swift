@testable import PushModel

/// Two records of each kind with a value in every field: no two fields of a record are equal, and no field is equal in
/// both. ``WholeRecordTests`` checks this, so that a new field cannot be forgotten here.
enum Whole {
    static func number(_ value: Int64) -> SequenceNumber { SequenceNumber(value) }
    static func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    static let requests = [
        AcceptedRequest(
            seq: number(101), operation: .interact, id: "id-a", peer: Peer(uid: 1001, gid: 1002, pid: 1003),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: 1004), wall: time(1005)),
            boot: UUID128(high: 1006, low: 1007), mode: .relay, platform: .web, app: "app-a", device: "device-a",
            externalID: "user-a", messageID: "message-a", state: .forceQuit, duplicateID: "duplicate-a",
            isTracked: true, transport: .adm, originalPriority: .high, deliveredPriority: .normal,
            replayOf: number(1008), body: Array("body-a".utf8)),
        AcceptedRequest(
            seq: number(102), operation: .token, id: "id-b", peer: Peer(uid: 2001, gid: 2002, pid: 2003),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: 2004), wall: time(2005)),
            boot: UUID128(high: 2006, low: 2007), mode: .device, platform: .ios, app: "app-b", device: "device-b",
            externalID: "user-b", messageID: "message-b", state: .terminated, duplicateID: "duplicate-b",
            isTracked: false, transport: .webPush, originalPriority: .normal, deliveredPriority: .high,
            replayOf: number(2008), body: Array("body-b".utf8)),
    ]

    static let invocations = [
        InvocationRecord(
            id: InvocationID(seq: number(101), n: 11), callback: .willPresent, isObserver: true,
            provider: "provider-a", route: "route-a", handler: "handler-a", budget: .microseconds(1101),
            deadline: Instant(nanoseconds: 1102), started: true,
            result: InvocationResult(
                outcome: .timedOut, reason: "reason-a", reasonCode: .daemonDown, queue: .microseconds(1103),
                exec: .microseconds(1104),
                total: .microseconds(1105),
                completion: Completion(by: .handler, times: 12, result: .newData, options: ["banner", "list"]),
                waitedFor: Predecessor(
                    id: InvocationID(seq: number(91), n: 13), handler: "before-a", took: .microseconds(1107)),
                ahead: 1108, decidedAt: time(1106))),
        InvocationRecord(
            id: InvocationID(seq: number(101), n: 21), callback: .didRegister, isObserver: false,
            provider: "provider-b", route: "route-b", handler: "handler-b", budget: .microseconds(2101),
            deadline: Instant(nanoseconds: 2102), started: false,
            result: InvocationResult(
                outcome: .failed, reason: "reason-b", reasonCode: .daemonCrashed, queue: .microseconds(2103),
                exec: .microseconds(2104),
                total: .microseconds(2105),
                completion: Completion(by: .default, times: 22, result: .noData, options: ["sound"]),
                waitedFor: Predecessor(
                    id: InvocationID(seq: number(92), n: 23), handler: "before-b", took: .microseconds(2107)),
                ahead: 2108, decidedAt: time(2106))),
    ]

    static let attempts = [
        AttemptRecord(
            id: InvocationID(seq: number(101), n: 11), route: "try-route-a", handler: "try-handler-a",
            asked: .microseconds(1151), started: .microseconds(1152), ended: .microseconds(1153), answer: .timedOut,
            status: 1154, signal: 1155, retryAfter: .microseconds(1156), reason: "try-reason-a",
            output: ErrorOutput(Array("errors-a".utf8), cut: 1157), number: 3, numberOfHandler: 2),
        AttemptRecord(
            id: InvocationID(seq: number(101), n: 21), route: "try-route-b", handler: "try-handler-b",
            asked: .microseconds(2151), started: .microseconds(2152), ended: .microseconds(2153), answer: .notStarted,
            status: 2154, signal: 2155, retryAfter: .microseconds(2156), reason: "try-reason-b",
            output: ErrorOutput(Array("errors-b".utf8), cut: 2157), number: 4, numberOfHandler: 5),
    ]

    static let deadLetters = [
        DeadLetter(id: InvocationID(seq: number(101), n: 11), at: time(1161), byteCount: 1162),
        DeadLetter(id: InvocationID(seq: number(101), n: 21), at: time(2161), byteCount: 2162),
    ]

    static let gaps = [
        DaemonGap(.suspended, begin: time(1171), end: time(1172)),
        DaemonGap(.diskStalled, begin: time(2171), end: time(2172)),
    ]

    static let lifeSigns = [
        LifeSign(at: time(1181), last: number(1182), believed: time(1183)),
        LifeSign(at: time(2181), last: number(2182), believed: time(2183)),
    ]

    static let producers = [
        Producer(number: 1191, name: "producer-a"), Producer(number: 2191, name: "producer-b"),
    ]

    static let events = [
        AnalyticsEvent(
            id: UUID128(high: 1201, low: 1202), time: 1203, seq: number(103), delivery: number(51),
            externalUserID: "eu-a", deviceID: "ed-a", appID: "ea-a", platform: .ios,
            content: .open(
                .init(campaignID: "campaign-a", messageID: "em-a"), button: .init(id: "button-a", action: .deepLink))),
        AnalyticsEvent(
            id: UUID128(high: 2201, low: 2202), time: 2203, seq: number(104), delivery: number(52),
            externalUserID: "eu-b", deviceID: "ed-b", appID: "ea-b", platform: .web,
            content: .open(
                .init(campaignID: "campaign-b", messageID: "em-b"), button: .init(id: "button-b", action: .uri))),
    ]

    static let devices = [
        KnownDevice(
            number: number(31), key: DeviceKey(app: "app-a", device: "device-a"), platform: .web, externalID: "user-a",
            token: "token-a", owner: Account(uid: 1322),
            detail: detail("a", since: 1321, .terminated, locked: true, .denied, .missing)),
        KnownDevice(
            number: number(32), key: DeviceKey(app: "app-b", device: "device-b"), platform: .ios, externalID: "user-b",
            token: "token-b", owner: Account(uid: 2322),
            detail: detail("b", since: 2321, .foreground, locked: false, .allowed, .delayed)),
    ]

    /// The subscriptions of ``devices``, whose own rows lack them.
    static let subscriptions = devices.flatMap { device in
        device.detail.topics.map { SubscriptionRow(device: device.number, $0) }
    }

    /// The changes that subscribe ``devices`` to their topics.
    static let subscriptionChanges = subscriptions.map {
        SubscriptionChange(
            topic: $0.subscription.topic, since: $0.subscription.since, devices: [$0.device])
    }

    private static func detail(
        _ name: String, since: Int64, _ app: AppState, locked: Bool, _ notifications: NotificationPermission,
        _ sdk: SDKState
    ) -> DeviceDetail {
        var state = DeviceState()
        (state.state, state.locked, state.osVersion) = (app, locked, "version-\(name)")
        (state.notifications, state.sdk) = (notifications, sdk)
        let topic = TopicName(project: "project-\(name)", topic: "topic-\(name)")
        return DeviceDetail(
            topics: topic.map { [Subscription(topic: $0, since: since)] } ?? [], state: state,
            formerTokens: [FormerToken(token: "former-\(name)", ended: WallTime(milliseconds: since + 5))])
    }

    static let fanOuts = [
        FanOut(
            seq: number(107), members: 1341, progress: FanOut.Progress(made: 1342, leftOut: 1343),
            devices: [number(1344), number(1345)]),
        FanOut(
            seq: number(108), members: 2341, progress: FanOut.Progress(made: 2342, leftOut: 2343),
            devices: [number(2344), number(2345)]),
    ]

    static let configurations = [
        ConfigurationPeriod(first: number(1351), id: ConfigurationID(digestOf: [1]), since: time(1352)),
        ConfigurationPeriod(first: number(2351), id: ConfigurationID(digestOf: [2]), since: time(2352)),
    ]

    static let acts = [
        AuditRecord(
            at: time(1361), AuditRecord.Subject(.flush, "act-a", externalID: "act-user-a", device: "act-device-a"),
            .control, .done, uid: 1362, pid: 1363, node: "act-node-a", count: 1364, times: 1365, reason: "act-reason-a"),
        AuditRecord(
            at: time(2361), AuditRecord.Subject(.logLevel, "act-b", externalID: "act-user-b", device: "act-device-b"),
            .bus, .refused, uid: 2362, pid: 2363, node: "act-node-b", count: 2364, times: 2365, reason: "act-reason-b"),
    ]

    /// Deliveries that the tracker remembers; their receipts are ``Fixture/event(_:_:delivery:)``.
    static let tracked = [
        TrackedRow(
            seq: number(105), receivedAt: time(1301), since: time(1302), isDisplayed: true, hasOwnID: false,
            uniqueID: "unique-a", digest: 1303, buttons: Array("buttons-a".utf8),
            opened: .init(at: time(1304), by: number(1305)), isInfluenced: false),
        TrackedRow(
            seq: number(106), receivedAt: time(2301), since: time(2302), isDisplayed: false, hasOwnID: true,
            uniqueID: "unique-b", digest: 2303, buttons: Array("buttons-b".utf8),
            opened: .init(at: time(2304), by: number(2305)), isInfluenced: true),
    ]

    static let interactions = [
        InteractionRow(
            cause: number(101), delivery: number(51), verdict: .unknownAction, button: "button-a",
            buttonAction: .deepLink, at: time(1401)),
        InteractionRow(
            cause: number(102), delivery: number(52), verdict: .elsewhere, button: "button-b", buttonAction: .uri,
            at: time(2401)),
    ]

    static let sessions = [
        SessionRow(
            number: number(33), key: DeviceKey(app: "app-a", device: "device-a"), platform: .web, externalID: "user-a",
            startedAt: time(1501), end: .init(at: time(1502), by: number(1503), due: time(1504)), since: time(1505)),
        SessionRow(
            number: number(34), key: DeviceKey(app: "app-b", device: "device-b"), platform: .ios, externalID: "user-b",
            startedAt: time(2501), end: .init(at: time(2502), by: number(2503), due: time(2504)), since: time(2505)),
    ]

    static let starts = [
        StartsRow(
            number: number(35), key: .init(owner: "user-a", isAnonymous: true, app: "app-a"),
            starts: [time(1601), time(1602)], since: time(1603)),
        StartsRow(
            number: number(36), key: .init(owner: "user-b", isAnonymous: false, app: "app-b"), starts: [time(2601)],
            since: time(2602)),
    ]

    static let pendingStarts = [
        PendingStart(
            cause: number(37), key: DeviceKey(app: "app-a", device: "device-a"), externalID: "user-a", at: time(1701),
            window: 1702, due: time(1703)),
        PendingStart(
            cause: number(38), key: DeviceKey(app: "app-b", device: "device-b"), externalID: "user-b", at: time(2701),
            window: 2702, due: time(2703)),
    ]

    static let held = [
        HeldInteraction(
            Interaction(
                cause: number(41), subject: .delivery(number(51)), act: .opened, platform: .web, app: "app-a",
                device: "device-a", externalID: "user-a", at: time(1801)), due: time(1802)),
        HeldInteraction(
            Interaction(
                cause: number(42), subject: .message("message-b"), act: .button("button-b"), platform: .ios,
                app: "app-b", device: "device-b", externalID: "user-b", at: time(2801)), due: time(2802)),
        HeldInteraction(
            Interaction(
                cause: number(43), subject: .payload(3801), act: .dismissed, platform: .android, app: "app-c",
                device: "device-c", externalID: "user-c", at: time(3802)), due: time(3803)),
    ]
}

extension KnownDevice {
    /// The device as its own row has it.
    var withoutTopics: KnownDevice {
        var device = self
        device.detail.topics = []
        return device
    }
}
