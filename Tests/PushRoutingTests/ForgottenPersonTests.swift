import PushModel
import Testing

@testable import PushRouting

@Suite("A person who is forgotten")
struct ForgottenPersonTests {
    private func forget(_ person: Person, in bench: inout Bench) -> Result<(Person, ErasureBound), ForgettingRefused> {
        bench.order { router, _, _ in
            do throws(ForgettingRefused) { return .success(try router.forget(person)) } catch { return .failure(error) }
        }
    }

    @Test("is not while something of hers is in flight, and that is told with how much; nothing is forgotten then")
    func inFlight() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.message("m1"), to: "phone", user: "anna"))
        try bench.submit(.deliver(Payload.message("m2"), to: "tablet", user: "berta"))
        let refused = forget(Person(externalID: "anna"), in: &bench)
        #expect(throws: ForgettingRefused(reason: "1 invocation for this person is in flight")) { try refused.get() }
        #expect(bench.router.memory.devices.known.count == 2 && bench.router.memory.devices.recentMessages.count == 2)
        bench.started(1)
        bench.finished(1)
        #expect(throws: Never.self) { try forget(Person(externalID: "anna"), in: &bench).get() }
    }

    @Test("goes with the devices that are known to be hers, up to the last number; others' stay")
    func devices() throws {
        var bench = Bench(.testing(handlers: [Handler(name: "crm", kind: .discard)]))
        try bench.submit(.deliver(Payload.message("m1"), to: "phone", user: "anna"))
        try bench.submit(.deliver(Payload.message("m2"), to: "laptop", user: "anna"))
        try bench.submit(.deliver(Payload.message("m3"), to: "tablet", user: "berta"))
        let (person, bound) = try forget(Person(externalID: "anna"), in: &bench).get()
        #expect(person.devices == [ExactName("phone"), ExactName("laptop")])
        #expect(bound.request == SequenceNumber(3))
        #expect(bench.router.memory.devices.known.all.map(\.key.device) == ["tablet"])
        #expect(bench.router.memory.devices.recentMessages.keys.map(\.device) == ["tablet"])
        // FCM on the phone knows the id no more, and nobody knows whose the phone is.
        #expect(try !bench.submit(.deliver(Payload.message("m1"), to: "phone")).contains("end 4.0 duplicate"))
        #expect(bench.ledger.requests[SequenceNumber(4)]?.accepted.externalID == nil)
        #expect(try bench.submit(.deliver(Payload.message("m3"), to: "tablet")).contains("end 5.0 duplicate"))
    }
}
