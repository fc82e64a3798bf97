import TestSupport
import Testing

@testable import PushModel
@testable import PushSettings
@testable import pushrouter_forward

@Suite("Sending under random faults")
struct WorldTests {
    @Test(
        "takes each entry once, or refuses it with the endpoint's reason, or lists it as unknown",
        arguments: Search.seeds(100))
    func property(seed: UInt64) {
        var world = World(seed: seed)
        world.live(steps: 600)
        #expect(world.violations == [])
        #expect(world.requests > 0)
        for (number, entry) in world.entries {
            let times = world.taken[number] ?? 0
            switch entry.state {
            case .sent: #expect(times == 1, "entry \(number) is sent, and was taken \(times) times")
            case .rejected:
                #expect(times == 0, "entry \(number) is rejected, and was taken \(times) times")
                #expect(entry.reason == world.refused[number])
            case .unknown: #expect(times <= 1, "entry \(number) is unknown, and was taken \(times) times")
            default: Issue.record("entry \(number) is still \(entry.state)")
            }
        }
    }

    @Test("reaches each kind of end")
    func coverage() {
        var states: [EntryState: Int] = [:]
        for seed in 101...110 as ClosedRange<UInt64> {
            var world = World(seed: seed)
            world.live(steps: 600)
            for entry in world.entries.values { states[entry.state, default: 0] += 1 }
        }
        for state in [EntryState.sent, .rejected, .unknown] { #expect((states[state] ?? 0) > 20, "\(states)") }
    }
}
