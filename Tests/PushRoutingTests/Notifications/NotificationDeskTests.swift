import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The desk of a notification service")
struct NotificationDeskTests {
    private let reason = "the notification service cannot be reached: gone"

    /// A desk with a connection that has shown the first invocation as number 7.
    private func open() -> DeskBench {
        var desk = DeskBench()
        _ = desk.start(1)
        _ = desk.opened()
        _ = desk.shown(1, as: 7)
        return desk
    }

    @Test("connects for the first notification, shows the waiting ones, and keeps the connection")
    func connects() {
        var desk = DeskBench()
        #expect(desk.start(1) == ["started 1", "open"])
        #expect(desk.start(2) == ["started 2"])
        #expect(desk.opened() == ["show 1 as 1", "show 2 as 2"])
        #expect(desk.shown(2, as: 9) == ["handled 2"])
        #expect(desk.shown(1, as: 8) == ["handled 1"])
        #expect(desk.start(3) == ["started 3", "show 3 as 3"])
        #expect(desk.runCount == 1)
    }

    @Test("declines payloads without a notification: a silent message, a token, an interaction")
    func declines() {
        var desk = DeskBench()
        #expect(desk.start(1, data: #"{"sync":"1"}"#) == ["started 1", "declined 1"])
        #expect(desk.start(2, callback: .onDeletedMessages) == ["started 2", "declined 2"])
        #expect(desk.start(3, callback: .didReceiveResponse) == ["started 3", "declined 3"])
        #expect(desk.runCount == 0)
    }

    @Test("reports a click on the text, a button or the cross, each once")
    func acts() {
        var desk = open()
        #expect(desk.clicks(7) == ["opened 1"])
        #expect(desk.closes(7) == [], "most services close what was clicked on")
        _ = desk.start(2)
        _ = desk.shown(2, as: 8)
        #expect(desk.clicks(8, "later") == ["action 2 later"])
        #expect(desk.clicks(8, "later") == [])
        _ = desk.start(3)
        _ = desk.shown(3, as: 9)
        #expect(desk.closes(9) == ["dismissed 3"])
        _ = desk.start(4)
        _ = desk.shown(4, as: 10)
        #expect(desk.closes(10, dismissed: false) == [], "it expired, or was taken back")
        #expect(desk.clicks(10) == [])
        #expect(desk.clicks(4711) == [], "another program's")
        #expect(desk.shownCount == 0)
    }

    @Test("replaces a notification with the same tag on the same device while that is shown")
    func replaces() {
        var desk = DeskBench()
        let tagged = #"{"title":"A","tag":"order-1"}"#
        _ = desk.start(1, data: tagged)
        _ = desk.opened()
        _ = desk.shown(1, as: 7)
        #expect(desk.start(2, data: tagged) == ["started 2", "show 2 as 2 for 7"])
        #expect(desk.clicks(7) == ["opened 1"], "the first is what the person saw")
        _ = desk.shown(2, as: 7)
        #expect(desk.closes(7, dismissed: false) == [])
        #expect(desk.start(3, data: tagged) == ["started 3", "show 3 as 3"])
    }

    @Test("withdraws a notification shown after its deadline, without a report")
    func late() {
        var desk = open()
        _ = desk.start(2)
        #expect(desk.stop(2) == [])
        #expect(desk.shown(2, as: 8) == ["withdraw 8"])
        #expect(desk.clicks(8) == [])
    }

    @Test("disconnects from a service that leaves calls unanswered")
    func hangs() {
        var desk = open()
        for seq in 2...Int64(NotificationDesk.overdueMax + 2) {
            _ = desk.start(seq)
            let effects = desk.stop(seq)
            #expect(effects.contains("close") == (seq == Int64(NotificationDesk.overdueMax) + 2), "\(seq)")
        }
        #expect(desk.shownCount == 0)
    }

    @Test("reports an unreachable service at once until the next try, and doubles the pause")
    func unreachable() {
        var desk = DeskBench()
        _ = desk.start(1)
        #expect(desk.lost() == ["close", "note", "unavailable 1 for 100: \(reason)"])
        desk.now = desk.now + .milliseconds(40)
        #expect(desk.start(1) == ["started 1", "unavailable 1 for 60: \(reason)"])
        desk.now = desk.now + .milliseconds(60)
        #expect(desk.start(1) == ["started 1", "open"])
        #expect(desk.lost() == ["close", "unavailable 1 for 200: \(reason)"])
        desk.now = desk.now + .milliseconds(200)
        #expect(desk.start(1) == ["started 1", "open"])
        #expect(desk.opened() == ["show 1 as 1"])
        #expect(desk.shown(1, as: 1) == ["handled 1"])
        #expect(desk.lost() == ["close", "note"])
        desk.now = desk.now + .milliseconds(100)
        #expect(desk.start(2) == ["started 2", "open"])
    }

    @Test("forgets the notifications of a service that is gone: a new one counts from 1 again")
    func forgets() {
        var desk = open()
        _ = desk.lost()
        desk.now = desk.now + .seconds(1)
        _ = desk.start(2)
        _ = desk.opened()
        #expect(desk.clicks(7) == [])
    }

    @Test("does not wait for a service that never answers GetCapabilities")
    func silent() {
        var desk = DeskBench()
        _ = desk.start(1)
        let due = Instant(nanoseconds: 3_000_000_000)
        #expect(desk.nextDue == due)
        desk.now = due
        let effects = desk.act { $0.clock(at: $1, &$2) }
        #expect(effects.first == "close" && effects.last?.hasPrefix("unavailable 1 for 100") == true, "\(effects)")
        #expect(desk.nextDue == nil)
    }

    @Test("the notification handler remembers the latest thousand notifications")
    func bounded() {
        var desk = DeskBench()
        _ = desk.start(1)
        _ = desk.opened()
        _ = desk.shown(1, as: 1)
        for seq in 2...Int64(3000) {
            _ = desk.start(seq)
            _ = desk.shown(seq, as: UInt32(seq))
            if seq % 3 == 0, seq < 2500 { _ = desk.clicks(UInt32(seq)) }
        }
        #expect(desk.shownCount == ShownNotifications.limit)
        #expect(desk.clicks(1) == [])
        #expect(desk.clicks(3000) == ["opened 3000"])
    }

    @Test("writes an act of the person as the request of a producer")
    func line() {
        let target = Target(platform: .android, app: "shop", device: "d")
        let act = NotificationAct(kind: .action, action: "later", invocation: InvocationID(41), target: target)
        #expect(
            String(decoding: act.line, as: UTF8.self)
                == #"{"op":"interact","id":"notification:41:0","kind":"action","message":41,"action":"later","#
                + #""platform":"android","app":"shop","device":"d"}"#)
        #expect((try? Request(line: act.line)) != nil)
    }
}
