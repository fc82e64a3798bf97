import PushModel
import Testing
import UnixSockets

@testable import PushDaemon

@Suite("What is held for clients")
struct ClientAccountsTests {
    private final class NoOwner: ClientSession.Owner {
        func needsFlush(_ session: ClientSession) {}
        func mayGoOn(_ session: ClientSession) {}
    }

    @Test("counts the memory of requests that wait, until they go on; a client that goes away makes no room")
    func waiting() throws {
        let owner = NoOwner()
        let sessions = try (0..<2).map { _ in ClientSession(try Connection.pair().0, owner: owner, now: 0) }
        let limits = ByteAccount.Limits(total: 2 << 20, perPeer: 1 << 20)
        var accounts = ClientAccounts(input: limits, output: limits)
        sessions[0].block(holding: 600 << 10)
        accounts.count(sessions[0])
        #expect(accounts.mayHold(for: sessions[1]))
        sessions[1].block(holding: 600 << 10)
        accounts.count(sessions[1])
        #expect(!accounts.mayHold(for: sessions[0]), "both are one user's")
        #expect(accounts.input.total == 0, "reading goes on")

        sessions[0].close()
        accounts.count(sessions[0])
        #expect(!accounts.mayHold(for: sessions[1]))
        let isReleased = accounts.takeRelease()
        #expect(!isReleased)
        sessions[0].beginAgain()
        accounts.count(sessions[0])
        #expect(accounts.mayHold(for: sessions[1]))
        let goesOn = accounts.takeRelease()
        #expect(goesOn, "who waits for room is looked at again")
    }
}
