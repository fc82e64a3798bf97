import Testing

@testable import PushModel
@testable import PushViews

/// A small ledger in each format, compared in full; and an almost empty one in each format.
@Suite("Report formats")
struct ReportFormatTests {
    private let objective = Percent("99.9")

    private static let missed = row(
        3, .timedOut, queue: .microseconds(600), exec: .microseconds(9_000_100), total: .microseconds(9_000_700))

    @Test("the compliance report as text, in full")
    func goldenText() {
        let rows = [
            trackerRow(1),
            row(2, .handled, queue: .microseconds(400), exec: .milliseconds(12)),
            Self.missed,
            row(
                4, .handled, callback: .didReceiveRemoteNotification, provider: nil, route: "99-default",
                handler: "journal", exec: .microseconds(50), budget: .seconds(4), platform: .ios),
            row(4, n: 1, .unrouted, callback: .willPresent, provider: nil, route: nil, handler: nil, platform: .ios),
            row(6, .shownBySystem, callback: .none, provider: nil, route: nil, handler: nil),
            row(7, nil),
        ]
        let report = report(rows, window: ReportWindow(since: WallTime(milliseconds: 1_795_230_000_000)))
        #expect(
            shown(report, of: rows, objective: objective) == """
                1 of 3 was late, all at crm (1 gave no reason), since 2026-11-21 03:08:00 +00:00. The objective of 99.9 % is not met.

                Window               since 2026-11-21 03:00:00 +00:00; the last accepted at 2026-11-21 03:08:00 +00:00
                Mode                 device: the deadline counts from the invocation
                Deadline             9 s; the shortest that a route gives (Deadline=) is 4 s
                Deadline compliance  66.6 %  (due 3, missed 1)
                Objective            99.9 %: not met
                Invocations          7 accepted = 6 decided + 1 in flight, of 6 requests
                Handled              66.6 %  (due 3, failed 0, missed 1)
                From acceptance      66.6 %  (due 3, late 1)
                From invocation      66.6 %  (due 3, late 1)

                Error budget left    none: 333.3 times the budget is used

                Outcome            Count
                handed_to_tracker      1
                handled                2
                timed_out              1
                unrouted               1
                shown_by_system        1

                Missed because     Reason code  Count
                it gave no reason  none             1

                Handler (ms)  Count  Handled  Failed  Missed  Exec p50  Exec p99  Exec max  \
                Queue p50  Queue p99  Total p50  Total p99
                crm               3        1       0       1      12.0   9,000.1   9,000.1  \
                      0.4        0.6       12.4    9,000.7
                journal           1        1       0       0       0.1       0.1       0.1  \
                      0.0        0.0        0.1        0.1

                Time from acceptance to the end
                  < 1 ms  1  ████████████████████████████████████████████████████████████
                  < 3 ms  0
                 < 10 ms  0
                 < 30 ms  1  ████████████████████████████████████████████████████████████
                < 100 ms  0
                < 300 ms  0
                   < 1 s  0
                   < 3 s  0
                   < 9 s  1  ████████████████████████████████████████████████████████████

                Time (ms)   p50      p90      p99    p99.9      max
                Queue       0.4      0.6      0.6      0.6      0.6
                Exec       12.0  9,000.1  9,000.1  9,000.1  9,000.1
                Total      12.4  9,000.7  9,000.7  9,000.7  9,000.7

                Limit  Of                    Callback                      Counts from  Within  Over
                  9 s  Braze's policy        onMessageReceived             invocation        2     1
                 20 s  FCM service           onMessageReceived             acceptance        3     0
                 60 s  background broadcast  onMessageReceived             acceptance        3     0
                 30 s  background fetch      didReceiveRemoteNotification  invocation        1     0

                Past 9 s (Braze's policy): Android may flag or end the app: Braze's guide warns of it. \
                Source: Braze developer guide, logging push data: finish within 9 seconds of invocation.

                Slowest misses
                Seq  n  Callback           Provider   Handler  Outcome    Exec ms  Total ms
                  3  0  onMessageReceived  onesignal  crm      timed_out  9,000.1   9,000.7

                Slowest
                Seq  n  Callback                      Provider   Handler  Outcome            Exec ms  Total ms
                  3  0  onMessageReceived             onesignal  crm      timed_out          9,000.1   9,000.7
                  2  0  onMessageReceived             onesignal  crm      handled               12.0      12.4
                  4  0  didReceiveRemoteNotification  -          journal  handled                0.1       0.1
                  1  0  onMessageReceived             braze      -        handed_to_tracker      0.0       0.0

                Gap: 1 of 7 invocations not decided yet: they have no outcome and no times

                """)
    }

    @Test("the compliance report as JSON, in full")
    func goldenJSON() {
        let report = report(
            [trackerRow(1), Self.missed, row(7, nil)],
            window: ReportWindow(until: WallTime(milliseconds: 1_795_230_000_500)))
        #expect(
            String(decoding: report.json(objective: objective), as: UTF8.self) == #"""
                {"mode":"device","window":{"since":null,"until":"2026-11-21T03:00:00.500Z",\#
                "first_at":"2026-11-21T03:08:00.001Z","last_at":"2026-11-21T03:08:00.007Z"},\#
                "source":{"kind":"ledger"},"deadline_ms":9000,\#
                "accepted":3,"decided":2,"in_flight":1,"requests":3,"outcomes":{"handed_to_tracker":1,"handled":0,"failed":0,\#
                "timed_out":1,"expired":0,"unrouted":0,"duplicate":0,"shown_by_system":0,"not_woken":0,\#
                "swallowed":0,"own_receiver":0,"sdk_not_ready":0},"due":1,"missed":1,"compliance":0.0,"slo":{\#
                "objective_percent":99.9,"met":false},"limits":[{"id":"android_policy","limit_ms":9000,\#
                "applies_to":{"platform":"android","callback":"onMessageReceived"},"counts_from":"invocation",\#
                "within":1,"over":1,\#
                "source":"Braze developer guide, logging push data: finish within 9 seconds of invocation",\#
                "consequence":"Android may flag or end the app: Braze's guide warns of it"},{\#
                "id":"android_broadcast","limit_ms":10000,"applies_to":{"platform":"android",\#
                "callback":"onMessageReceived","transport":"fcm","priority":"high"},"counts_from":"acceptance",\#
                "within":0,"over":0,"source":"AOSP ActivityManagerService, BROADCAST_FG_TIMEOUT: ANR after 10 seconds",\#
                "consequence":"Android reports that the app does not respond (ANR), if the broadcast is still open"},{\#
                "id":"android_fcm","limit_ms":20000,"applies_to":{"platform":"android",\#
                "callback":"onMessageReceived","transport":"fcm","priority":"normal"},\#
                "counts_from":"acceptance","within":2,"over":0,\#
                "source":"firebase-android-sdk, EnhancedIntentService.MESSAGE_TIMEOUT_S: no longer protected after 20 seconds",\#
                "consequence":"the work is no longer protected: Android may end the process at any time"},{\#
                "id":"android_broadcast_background","limit_ms":60000,"applies_to":{"platform":"android",\#
                "callback":"onMessageReceived","transport":"fcm","priority":"normal"},"counts_from":"acceptance",\#
                "within":2,"over":0,"source":"AOSP ActivityManagerService, BROADCAST_BG_TIMEOUT: ANR after 60 seconds",\#
                "consequence":"Android reports that the app does not respond (ANR), if the broadcast is still open"},{\#
                "id":"android_fcm_high","limit_ms":60000,"applies_to":{"platform":"android",\#
                "callback":"onMessageReceived","transport":"fcm","priority":"high"},\#
                "counts_from":"acceptance","within":0,"over":0,\#
                "source":"firebase-android-sdk, WakeLockHolder.WAKE_LOCK_ACQUIRE_TIMEOUT_MILLIS: the lock goes after 60 seconds",\#
                "consequence":"the wake lock is released, and the device may sleep before the work is done"},{\#
                "id":"ios_background","limit_ms":30000,"applies_to":{"platform":"ios",\#
                "callback":"didReceiveRemoteNotification"},"counts_from":"invocation","within":0,"over":0,\#
                "source":"Apple, application(_:didReceiveRemoteNotification:fetchCompletionHandler:): 30 seconds of wall clock",\#
                "consequence":"iOS may end the app, and wakes it less often"},{\#
                "id":"ios_service_extension","limit_ms":30000,"applies_to":{"platform":"ios",\#
                "callback":"serviceExtension"},"counts_from":"invocation","within":0,"over":0,\#
                "source":"Apple developer forums: about 30 seconds observed, not documented",\#
                "consequence":"iOS shows the notification with its original content"}],"by_handler":{\#
                "crm":{"count":2,"due":1,"missed":1,"handled":0,"failed":0,\#
                "misses_by_reason":{"none":1},\#
                "queue":{"p50_ms":0.6,"p90_ms":0.6,"p99_ms":0.6,"p999_ms":0.6,\#
                "max_ms":0.6},"exec":{"p50_ms":9000.1,"p90_ms":9000.1,"p99_ms":9000.1,"p999_ms":9000.1,\#
                "max_ms":9000.1},"total":{"p50_ms":9000.7,"p90_ms":9000.7,"p99_ms":9000.7,"p999_ms":9000.7,\#
                "max_ms":9000.7}}},"by_route":{"20-onesignal":{"count":2,"due":1,"missed":1,"handled":0,"failed":0,\#
                "misses_by_reason":{"none":1},\#
                "queue":{"p50_ms":0.6,\#
                "p90_ms":0.6,"p99_ms":0.6,"p999_ms":0.6,"max_ms":0.6},"exec":{"p50_ms":9000.1,"p90_ms":9000.1,\#
                "p99_ms":9000.1,"p999_ms":9000.1,"max_ms":9000.1},"total":{"p50_ms":9000.7,"p90_ms":9000.7,\#
                "p99_ms":9000.7,"p999_ms":9000.7,"max_ms":9000.7}}},"by_provider":{"braze":{"count":1,"due":0,\#
                "missed":0,"handled":0,"failed":0,\#
                "queue":{"p50_ms":null,"p90_ms":null,"p99_ms":null,"p999_ms":null,"max_ms":null},"exec":{"p50_ms":null,\#
                "p90_ms":null,"p99_ms":null,"p999_ms":null,"max_ms":null},"total":{"p50_ms":null,"p90_ms":null,\#
                "p99_ms":null,"p999_ms":null,"max_ms":null}},"onesignal":{"count":2,"due":1,"missed":1,"handled":0,"failed":0,\#
                "misses_by_reason":{"none":1},\#
                "queue":{"p50_ms":0.6,\#
                "p90_ms":0.6,"p99_ms":0.6,"p999_ms":0.6,"max_ms":0.6},"exec":{"p50_ms":9000.1,"p90_ms":9000.1,\#
                "p99_ms":9000.1,"p999_ms":9000.1,"max_ms":9000.1},"total":{"p50_ms":9000.7,"p90_ms":9000.7,\#
                "p99_ms":9000.7,"p999_ms":9000.7,"max_ms":9000.7}}},"by_platform":{"android":{"count":3,"due":1,\#
                "missed":1,"handled":0,"failed":0,"misses_by_reason":{"none":1},\#
                "queue":{"p50_ms":0.6,"p90_ms":0.6,"p99_ms":0.6,"p999_ms":0.6,"max_ms":0.6},"exec":{\#
                "p50_ms":9000.1,"p90_ms":9000.1,"p99_ms":9000.1,"p999_ms":9000.1,"max_ms":9000.1},"total":{"p50_ms":9000.7,\#
                "p90_ms":9000.7,"p99_ms":9000.7,"p999_ms":9000.7,"max_ms":9000.7}}},"by_callback":{\#
                "onMessageReceived":{"count":3,"due":1,"missed":1,"handled":0,"failed":0,\#
                "misses_by_reason":{"none":1},\#
                "queue":{"p50_ms":0.6,"p90_ms":0.6,"p99_ms":0.6,\#
                "p999_ms":0.6,"max_ms":0.6},"exec":{"p50_ms":9000.1,"p90_ms":9000.1,"p99_ms":9000.1,"p999_ms":9000.1,\#
                "max_ms":9000.1},"total":{"p50_ms":9000.7,"p90_ms":9000.7,"p99_ms":9000.7,"p999_ms":9000.7,\#
                "max_ms":9000.7}}},"by_priority":{},"lowered_priority":0,"slowest":[{\#
                "seq":3,"n":0,"callback":"onMessageReceived",\#
                "provider":"onesignal","handler":"crm","outcome":"timed_out","exec_ms":9000.1,"total_ms":9000.7},{\#
                "seq":1,"n":0,"callback":"onMessageReceived","provider":"braze","handler":null,\#
                "outcome":"handed_to_tracker","exec_ms":0,"total_ms":0}],\#
                "observers":{"accepted":0,"in_flight":0,"outcomes":{"handed_to_tracker":0,"handled":0,"failed":0,\#
                "timed_out":0,"expired":0,"unrouted":0,"duplicate":0,"shown_by_system":0,"not_woken":0,\#
                "swallowed":0,"own_receiver":0,"sdk_not_ready":0},"due":0,"missed":0,"compliance":null,\#
                "by_route":{}},"gaps":[{"kind":"in_flight","count":1,\#
                "message":"not decided yet: they have no outcome and no times"}]}

                """#)
    }

    @Test("in text, a delivery that waited in its lane names its predecessor, and observers have their own section")
    func waitsAndObservers() {
        var braze = trackerRow(42, queue: .milliseconds(8_249))
        braze.invocation.result?.waitedFor = Predecessor(
            id: InvocationID(seq: SequenceNumber(41), n: 0), handler: "crm", took: .milliseconds(8_240))
        braze.invocation.result?.ahead = 60
        var copy = row(
            43, .handled, queue: .milliseconds(12), waitedFor: Predecessor(id: braze.invocation.id, handler: nil))
        copy.invocation.result?.waitedFor?.id.n = 1
        let report = report([
            row(41, .handled, exec: .milliseconds(8_250)), observerRow(41, .handled, exec: .milliseconds(30)), braze,
            observerRow(42, .timedOut, exec: .seconds(9)), copy,
        ])
        #expect(
            shown(report).contains(
                """

                Longest waits in a lane
                Seq  n  Provider   Handler
                 42  0  braze      -        waited 8.2 s behind 60, longest #41 (crm, 8.2 s)
                 43  0  onesignal  crm      waited 12 ms, longest #42.1 (tracker)

                Observers (not in the figures above)
                Invocations          2 accepted = 2 decided + 0 in flight
                Deadline compliance  50.0 %  (due 2, missed 1)
                Route (ms)  Count  Handled  Failed  Missed  Exec p50  Exec p99  Exec max  \
                Queue p50  Queue p99  Total p50  Total p99
                90-audit        2        1       0       1      30.1   9,000.0   9,000.0  \
                      0.0        0.0       30.1    9,000.0

                """))
        #expect(shown(report).contains("Invocations          3 accepted = 3 decided + 0 in flight, of 3 requests\n"))
    }

    @Test("in JSON, the slowest name their predecessors, and observers are an object of their own")
    func waitsAndObserversInJSON() {
        var braze = trackerRow(42, queue: .milliseconds(8_249))
        braze.invocation.result?.waitedFor = Predecessor(
            id: InvocationID(seq: SequenceNumber(41), n: 0), handler: nil)
        let report = report([braze, observerRow(42, .handled, exec: .milliseconds(30)), observerRow(42, n: 2, nil)])
        let text = String(decoding: report.json(), as: UTF8.self)
        #expect(
            text.contains(
                #""total_ms":8249,"ahead":null,"waited_for":{"seq":41,"n":0,"handler":null,"took_ms":null}}]"#))
        #expect(text.contains(#""accepted":1,"decided":1,"in_flight":0,"requests":1,"#))
        #expect(
            text.contains(#""observers":{"accepted":2,"in_flight":1,"outcomes":{"handed_to_tracker":0,"handled":1,"#))
        #expect(text.contains(#""due":1,"missed":0,"compliance":1.0,"by_route":{"90-audit":{"count":2,"due":1,"#))
    }

    @Test("the compliance report of an empty ledger, as text")
    func emptyText() {
        #expect(
            shown(report([]), objective: objective) == """
                No push came, so no handler had a deadline to keep.

                Window               the ledger is empty
                Mode                 device: the deadline counts from the invocation
                Deadline             9 s
                Deadline compliance  nothing was due
                Objective            99.9 %: nothing was due
                Invocations          0 accepted = 0 decided + 0 in flight, of 0 requests

                """)
    }

    @Test("an empty ledger, in JSON: the configured mode, zeros, and null without a figure")
    func emptyJSON() {
        let text = String(decoding: report([], mode: .relay).json(), as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"mode":"relay","window":{"since":null,"until":null,"first_at":null,"last_at":null},"#
                    + #""source":{"kind":"ledger"},"deadline_ms":9000,"accepted":0,"decided":0,"in_flight":0,"#)
        )
        #expect(text.contains(#""due":0,"missed":0,"compliance":null,"slo":null,"limits":[{"#))
        let outcomes = Outcome.allCases.map { #""\#($0.rawValue)":0"# }.joined(separator: ",")
        let groups =
            #""by_handler":{},"by_route":{},"by_provider":{},"by_platform":{},"by_callback":{},"by_priority":{},"#
        let rest =
            #""lowered_priority":0,"slowest":[],"observers":{"accepted":0,"in_flight":0,"outcomes":{\#(outcomes)},"#
        let end = #""due":0,"missed":0,"compliance":null,"by_route":{}},"gaps":[]}"#
        #expect(text.hasSuffix("\(groups)\(rest)\(end)\n"))
    }

    @Test("one miss in 100,000 is not shown as 100 %, and counts are grouped")
    func oneMiss() {
        var report = ComplianceReport(mode: .relay, budget: .seconds(9))
        for seq in 1..<Int64(100_000) { report.add(row(seq, .handled, mode: .relay)) }
        report.add(row(100_000, .expired, mode: .relay))
        let text = shown(report, objective: Percent("99.999"))
        #expect(text.contains("Deadline compliance  99.999 %  (due 100,000, missed 1)\n"))
        #expect(text.contains("Objective            99.999 %: met\n"))
        #expect(text.contains("relay: the deadline counts from acceptance\n"))
        #expect(text.contains("100,000 accepted = 100,000 decided + 0 in flight, of 100,000 requests\n"))
        #expect(text.contains("handled  99,999\n"))
    }

    @Test("long names are whole if the width of the terminal is unknown")
    func wholeNames() {
        let long = String(repeating: "handler-", count: 8)
        let report = report([
            row(123_456, .timedOut, provider: "customerio", handler: long, exec: .seconds(9)),
            row(
                123_458, .handled, provider: long, handler: long, queue: .milliseconds(123_456),
                waitedFor: Predecessor(id: InvocationID(seq: SequenceNumber(123_457), n: 11), handler: long)),
        ])
        #expect(!shown(report).contains("…"))
        #expect(shown(report).contains("waited 123.5 s, longest #123457.11 (\(long))\n"))
    }

    @Test("a window without a given end shows the first or last acceptance, with the offset")
    func openEnds() {
        let zone = LocalZone(name: "CET") { _ in 3600 }
        func text(
            _ rows: [ReportRow], _ window: ReportWindow = ReportWindow(), source: ReportSource = .ledger
        ) -> String {
            var report = report(rows, window: window)
            report.source = source
            return report.windowText(zone)
        }
        let rows = [row(1, .handled), row(39_000, nil)]
        #expect(text(rows) == "2026-11-21 04:08:00 to 04:08:39 +01:00 (all that the ledger holds)")
        #expect(
            text(rows, source: .journal(JournalFacts(unit: "x")))
                == "2026-11-21 04:08:00 to 04:08:39 +01:00 (all that the journal holds)")
        #expect(
            text([row(1, .handled), row(86_400_000, .handled)])
                == "2026-11-21 04:08:00 +01:00 to 2026-11-22 04:08:00 +01:00 (all that the ledger holds)")
        let instant = WallTime(milliseconds: 1_795_230_000_000)
        #expect(
            text(rows, ReportWindow(until: instant))
                == "until 2026-11-21 04:00:00 +01:00; the first accepted at 2026-11-21 04:08:00 +01:00")
    }

    @Test("the window is shown with its given ends")
    func windows() {
        let instant = WallTime(milliseconds: 1_795_230_000_000)
        #expect(
            shown(report([], window: ReportWindow(until: instant))).hasPrefix(
                "No push came in this time, so no handler had a deadline to keep.\n\nWindow               until 2026-11-21 03:00:00 +00:00\n"
            ))
        #expect(
            shown(report([], window: ReportWindow(since: instant, until: instant))).hasPrefix(
                "No push came in this time, so no handler had a deadline to keep.\n\nWindow               2026-11-21 03:00:00 +00:00 to 2026-11-21 03:00:00 "
                    + "+00:00\n"
            ))
    }
}
