import Testing

@testable import PushDaemon

@Suite("A resource held by another process")
struct RetryingTests {
    private enum Failure: Error {
        case taken, broken
    }

    @Test("is retried until it is free")
    func freed() throws {
        var tries = 0
        let value = try retrying(while: { $0 == .taken }) { () throws(Failure) in
            tries += 1
            guard tries == 4 else { throw .taken }
            return tries
        }
        #expect(value == 4)
    }

    @Test("is not awaited after another error")
    func broken() {
        var tries = 0
        #expect(throws: Failure.broken) {
            try retrying(while: { $0 == .taken }) { () throws(Failure) in
                tries += 1
                throw .broken
            }
        }
        #expect(tries == 1)
    }
}
