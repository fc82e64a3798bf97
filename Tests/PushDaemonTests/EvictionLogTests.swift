import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter

@Suite("Forgotten devices in the journal")
struct EvictionLogTests {
    private let second: Int64 = 1_000_000_000

    @Test("are a warning at once if they had a token or topics, then one in ten minutes, and a problem for an hour")
    func rate() {
        var log = EvictionLog()
        var evictions = DeviceEvictions()
        evictions.note(false, of: Account(uid: 7))
        #expect(log.note(evictions, at: 0) == nil && log.problem(at: 0) == nil)
        evictions.note(true, of: Account(uid: 8))
        let first = log.note(evictions, at: second)
        #expect(first?.priority == .warning && first?.messageID == .devicesEvicted)
        #expect(
            first?.message
                == "the memory of devices is full (DeviceMemoryMax=): 1 device with a token or topics was forgotten, the "
                + "last of uid 8; publishes leave such a device out until it registers again")
        for _ in 0..<3 { evictions.note(true, of: Account(uid: 9)) }
        #expect(log.note(evictions, at: 2 * second) == nil)
        #expect(log.takeDue(at: 601 * second - 1) == nil)
        #expect(log.takeDue(at: 601 * second)?.message.contains("3 devices with a token or topics were") == true)
        #expect(
            log.problem(at: 602 * second)
                == "4 devices with a token or topics were forgotten since the start, the last of uid 9: DeviceMemoryMax= "
                + "is reached")
        #expect(log.problem(at: 3602 * second) == nil)
    }
}
