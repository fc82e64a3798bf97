import Testing

@testable import PushModel
@testable import PushViews

@Suite("Platform limits")
struct PlatformLimitTests {
    /// The limits that apply to the row, and whether it kept them.
    private func kept(_ row: ReportRow) -> [String: Bool] {
        report([row]).limits.reduce(into: [:]) { kept, tally in
            if tally.within + tally.over > 0 { kept[tally.limit.id] = tally.over == 1 }
        }
    }

    @Test("the limits are 9, 10, 20, twice 60 and twice 30 seconds")
    func theLimits() {
        #expect(
            PlatformLimit.all.map(\.limit) == [
                .seconds(9), .seconds(10), .seconds(20), .seconds(60), .seconds(60), .seconds(30), .seconds(30),
            ])
        #expect(Set(PlatformLimit.all.map(\.id)).count == 7)
    }

    @Test(
        "FCM's service has 20 s for a message of normal or unknown priority, and a wake lock of 60 s for a high one",
        arguments: [
            (nil, ["android_fcm": true]), (.normal, ["android_fcm": true]), (.high, ["android_fcm_high": false]),
        ] as [(MessagePriority?, [String: Bool])])
    func priorities(delivered: MessagePriority?, expected: [String: Bool]) {
        let waited = row(
            1, .handled, queue: .seconds(25), transport: .fcm, sent: .high, delivered: delivered)
        #expect(kept(waited).filter { $0.key.hasPrefix("android_fcm") } == expected)
        let longer = row(1, .handled, queue: .seconds(60), transport: .fcm, sent: .high, delivered: .high)
        #expect(kept(longer)["android_fcm_high"] == true)
    }

    @Test("for Amazon and Huawei only Braze's policy is a limit", arguments: [Transport.adm, .hms])
    func otherTransports(transport: Transport) {
        #expect(kept(row(1, .handled, queue: .seconds(25), transport: transport)) == ["android_policy": false])
    }

    @Test("a handler killed at 9 s exceeds the policy and keeps the platform's limits")
    func killedAtTheDeadline() {
        #expect(
            kept(row(1, .timedOut, exec: .seconds(9))) == [
                "android_policy": true, "android_fcm": false, "android_broadcast_background": false,
            ])
    }

    @Test("in a lane the wait counts from arrival for the platform, and not for the policy")
    func waitsInLane() {
        #expect(
            kept(row(1, .handled, queue: .seconds(18), exec: .seconds(2))) == [
                "android_policy": false, "android_fcm": true, "android_broadcast_background": false,
            ])
        #expect(
            kept(trackerRow(1, queue: .seconds(12))) == [
                "android_policy": false, "android_fcm": false, "android_broadcast_background": false,
            ])
    }

    @Test("a wait for a free handler that used up the budget exceeds the policy, though little or nothing ran")
    func expiredAtTheHeadOfTheLane() {
        #expect(kept(row(1, .expired, queue: .seconds(9)))["android_policy"] == true)
        #expect(kept(row(1, .timedOut, queue: .seconds(8), exec: .seconds(1)))["android_policy"] == true)
    }

    @Test("a miss of a route's shorter deadline keeps the policy")
    func shorterDeadline() {
        #expect(kept(row(1, .timedOut, exec: .seconds(4), budget: .seconds(4)))["android_policy"] == false)
    }

    @Test("in relay mode the policy counts from acceptance")
    func relay() {
        #expect(kept(row(1, .handled, queue: .seconds(8), exec: .seconds(1), mode: .relay))["android_policy"] == true)
    }

    @Test("the broadcast of a message of high priority has 10 s, that of any other 60 s")
    func broadcasts() {
        func broadcasts(_ queue: Duration, _ delivered: MessagePriority?) -> [String: Bool] {
            let row = row(1, .handled, queue: queue, transport: .fcm, sent: .high, delivered: delivered)
            return kept(row).filter { $0.key.hasPrefix("android_broadcast") }
        }
        #expect(broadcasts(.seconds(59), .high) == ["android_broadcast": true])
        for other in [.normal, nil] as [MessagePriority?] {
            #expect(broadcasts(.seconds(59), other) == ["android_broadcast_background": false])
            #expect(broadcasts(.seconds(60), other) == ["android_broadcast_background": true])
        }
    }

    @Test("the very instant of a limit exceeds it")
    func atTheInstant() {
        #expect(kept(row(1, .handled, exec: .seconds(9)))["android_policy"] == true)
        #expect(kept(row(1, .handled, exec: .microseconds(8_999_999)))["android_policy"] == false)
    }

    @Test("iOS has 30 s, by callback")
    func ios() {
        #expect(
            kept(row(1, .handled, callback: .didReceiveRemoteNotification, total: .seconds(31), platform: .ios))
                == ["ios_background": true])
        #expect(
            kept(row(1, .handled, callback: .serviceExtension, platform: .ios)) == ["ios_service_extension": false])
        #expect(kept(row(1, .handled, callback: .willPresent, platform: .ios)).isEmpty)
    }

    @Test(
        "a delivery without code of the app, or one in flight, has no limit",
        arguments: [.shownBySystem, .unrouted, nil] as [Outcome?])
    func doesNotApply(outcome: Outcome?) {
        #expect(kept(row(1, outcome, exec: .seconds(60))).isEmpty)
    }

    @Test("figures count the times over every limit")
    func thresholds() {
        for limit in PlatformLimit.all {
            #expect(FigureThresholds.all.contains(limit.limit.microseconds), "\(limit.id)")
        }
    }
}
