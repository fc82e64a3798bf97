import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A person who is forgotten")
struct ForgottenPersonTests {
    private func forget(_ person: Person, in bench: inout Bench) -> Result<(Person, ErasureBound), ForgettingRefused> {
        bench.order { router, _, _ in
            do throws(ForgettingRefused) {
                let (person, bound) = router.bound(of: person)
                try router.forget(person, through: bound)
                return .success((person, bound))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test("is kept while an invocation of hers is in flight; the refusal has the count, and changes nothing")
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

    @Test("is removed with the devices known as hers, up to the last number; those of others stay")
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
        // FCM's list on the phone no longer holds the id, and the phone has no user.
        #expect(try !bench.submit(.deliver(Payload.message("m1"), to: "phone")).contains("end 4.0 duplicate"))
        #expect(bench.ledger.requests[SequenceNumber(4)]?.accepted.externalID == nil)
        #expect(try bench.submit(.deliver(Payload.message("m3"), to: "tablet")).contains("end 5.0 duplicate"))
    }

    @Test("up to a bound: later requests are new, and do not hold it up however steadily they come")
    func steadyTraffic() throws {
        var bench = Bench()
        try bench.submit(.deliver(Payload.message("m1"), to: "phone", user: "anna"))
        let (person, bound) = bench.router.bound(of: Person(externalID: "anna"))
        for number in Int64(2)...20 {
            try bench.submit(.deliver(Payload.message("m\(number)"), to: "phone", user: "anna"))
            #expect(throws: ForgettingRefused.self) { try bench.router.forget(person, through: bound) }
        }
        bench.started(1)
        bench.finished(1)
        #expect(bench.router.requestsInFlight > 0)
        #expect(throws: Never.self) { try bench.router.forget(person, through: bound) }
        #expect(bench.router.memory.devices.known.count == 0, "request 1 first named the phone")
        // A device that a later request first named stays.
        try bench.submit(.deliver(Payload.message("m"), to: "tablet", user: "anna"))
        let later = bench.router.lastNumber
        #expect(throws: Never.self) { try bench.router.forget(person, through: bound) }
        #expect(bench.router.memory.devices.known.all.map(\.number) == [later])
    }
}
