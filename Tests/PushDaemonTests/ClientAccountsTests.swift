import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel

@Suite("The memory held for clients")
struct ClientAccountsTests {
    private final class NoOwner: ClientSession.Owner {
        func needsFlush(_ session: ClientSession) {}
        func mayResume(_ session: ClientSession) {}
    }

    @Test("counts replies that wait for an earlier one as owed")
    func heldReplies() throws {
        let owner = NoOwner()
        let session = ClientSession(try Connection.pair().0, owner: owner, now: 0)
        let limits = ByteAccount.Limits(total: 8 << 20, perPeer: 8 << 20)
        var accounts = ClientAccounts(input: limits, output: limits)
        let places = (0..<2).map { _ in session.reserveReply() }
        session.reply(places[1], .line([UInt8](repeating: 7, count: 300 << 10)))
        accounts.count(session)
        #expect(accounts.output.total >= 300 << 10)
        #expect(!accounts.hasOutputRoom(for: session), "it is not worked for until the first has come")
    }

    @Test("lets one client of a user exceed the limit, until its line has been accepted")
    func longLines() throws {
        let owner = NoOwner()
        let pairs = try (0..<2).map { _ in try Connection.pair() }
        let sessions = pairs.map { ClientSession($0.0, owner: owner, now: 0) }
        let limits = ByteAccount.Limits(total: 16 << 10, perPeer: 16 << 10)
        var accounts = ClientAccounts(input: limits, output: limits)
        let buffer = ReadBuffer()
        for (session, pair) in zip(sessions, pairs) {
            pair.1.queue([UInt8](repeating: 7, count: 20 << 10))
            _ = pair.1.flush()
            _ = session.connection.fill(using: buffer)
            accounts.count(session)
        }
        let (first, second) = (sessions[0], sessions[1])
        func hasRoom(_ session: ClientSession) -> Bool { accounts.hasInputRoom(for: session) }
        #expect(hasRoom(first) && !hasRoom(second))
        first.connection.discardInput()
        first.heldBytes = 20 << 10
        accounts.count(first)
        #expect(!hasRoom(second), "the line of the first waits to be accepted")
        first.heldBytes = 0
        accounts.count(first)
        #expect(hasRoom(second))
    }

    @Test("counts waiting requests until they continue; a client that disconnects frees nothing")
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
        sessions[0].unblock()
        accounts.count(sessions[0])
        #expect(accounts.mayHold(for: sessions[1]))
        let goesOn = accounts.takeRelease()
        #expect(goesOn, "who waits for room is looked at again")
    }
}
