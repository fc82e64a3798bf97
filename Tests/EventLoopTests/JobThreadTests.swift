import Testing

@testable import LinuxSystem

@Suite("A thread for jobs", .timeLimit(.minutes(30)))
struct JobThreadTests {
    @Test("can be abandoned: it ends after its current job, and runs no other")
    func leave() throws {
        let begun = Monitor(0)
        let isReleased = Monitor(false)
        do {
            let thread = JobThread<Void>("jobs") {
                { _ in
                    begun.update { $0 += 1 }
                    _ = isReleased.wait { $0 ? true : nil }
                }
            }
            for _ in 0..<2 { try thread.submit(()) }
            #expect(begun.wait { $0 == 1 ? true : nil } == true)
            thread.leave()
        }
        isReleased.update { $0 = true }
        #expect(begun.withLock { $0 } == 1)
    }
}
