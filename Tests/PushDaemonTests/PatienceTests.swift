import Testing

@testable import PushDaemon

@Suite("What another process has")
struct PatienceTests {
    private enum Failure: Error {
        case taken, broken
    }

    @Test("is tried for until it is free")
    func freed() throws {
        var tries = 0
        let value = try patiently(while: { $0 == .taken }) { () throws(Failure) in
            tries += 1
            guard tries == 4 else { throw .taken }
            return tries
        }
        #expect(value == 4)
    }

    @Test("is not waited for when something else is wrong")
    func broken() {
        var tries = 0
        #expect(throws: Failure.broken) {
            try patiently(while: { $0 == .taken }) { () throws(Failure) in
                tries += 1
                throw .broken
            }
        }
        #expect(tries == 1)
    }
}
