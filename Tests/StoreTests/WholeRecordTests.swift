import Testing

@testable import PushModel

/// Checks that the records of the round trips differ in every field.
@Suite("Records with something in every field", .timeLimit(.minutes(30)))
struct WholeRecordTests {
    /// The leaf fields of a value, by path.
    private static func leaves(of value: Any, at path: String = "") -> [String: String] {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional where mirror.children.isEmpty: return [path: "nil"]
        case .optional: return mirror.children.reduce(into: [:]) { $0.merge(leaves(of: $1.value, at: path)) { $1 } }
        case .struct where !(value is Duration), .tuple, .class,
            .enum where value is AnalyticsEvent.Content:
            return mirror.children.reduce(into: [:]) { found, child in
                found.merge(leaves(of: child.value, at: "\(path).\(child.label ?? "")")) { $1 }
            }
        default: return [path: String(describing: value)]
        }
    }

    private static let pairs: [(name: String, first: any Sendable, second: any Sendable)] = [
        ("request", Whole.requests[0], Whole.requests[1]), ("invocation", Whole.invocations[0], Whole.invocations[1]),
        ("attempt", Whole.attempts[0], Whole.attempts[1]), ("letter", Whole.deadLetters[0], Whole.deadLetters[1]),
        ("gap", Whole.gaps[0], Whole.gaps[1]), ("sign", Whole.lifeSigns[0], Whole.lifeSigns[1]),
        ("producer", Whole.producers[0], Whole.producers[1]),
        ("event", Whole.events[0], Whole.events[1]), ("device", Whole.devices[0], Whole.devices[1]),
        ("fanOut", Whole.fanOuts[0], Whole.fanOuts[1]),
        ("configuration", Whole.configurations[0], Whole.configurations[1]), ("act", Whole.acts[0], Whole.acts[1]),
        ("tracked", Whole.tracked[0], Whole.tracked[1]), ("interaction", Whole.interactions[0], Whole.interactions[1]),
        ("session", Whole.sessions[0], Whole.sessions[1]), ("starts", Whole.starts[0], Whole.starts[1]),
        ("pendingStart", Whole.pendingStarts[0], Whole.pendingStarts[1]), ("held", Whole.held[0], Whole.held[1]),
        ("entry", Whole.entries[0].entry, Whole.entries[1].entry), ("move", Whole.moves[0], Whole.moves[1]),
        ("attribute", Whole.attributes[0], Whole.attributes[1]), ("sending", Whole.sending[0], Whole.sending[1]),
    ]

    /// Fields that are equal in both records of a pair: an invocation's request is one for both.
    private static let alike: Set<String> = [
        "invocation.id.seq.value", "attempt.id.seq.value", "letter.id.seq.value",
        // No row has it: the producer's own row does.
        "request.peer.account.label", "device.owner.label",
    ]

    @Test("differ in every field, have no empty field, and no two equal ones")
    func differ() {
        for (name, first, second) in Self.pairs {
            let (these, those) = (Self.leaves(of: first, at: name), Self.leaves(of: second, at: name))
            #expect(Set(these.keys) == Set(those.keys))
            for (path, value) in these where !Self.alike.contains(path) {
                #expect(value != those[path], "\(path)")
                #expect(!["nil", "", "0", "[]"].contains(value), "\(path)")
                #expect(!["nil", "", "0", "[]"].contains(those[path] ?? ""), "\(path)")
            }
            for leaves in [these, those] {
                let values = leaves.values.filter { $0 != "true" && $0 != "false" && $0 != "nil" }
                #expect(Set(values).count == values.count, "\(name): \(values.sorted())")
            }
        }
    }
}
