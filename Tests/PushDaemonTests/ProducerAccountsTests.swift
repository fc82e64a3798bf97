import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel

@Suite("The account of a connection in a pair")
struct ProducerAccountsTests {
    /// A machine with its own users, and the rows that it has written.
    private final class Machine {
        var users: [UInt32: UserName]
        var now: Int64 = 0
        var lookups = 0
        private(set) var written: [Producer]
        private(set) lazy var accounts = ProducerAccounts(
            written,
            names: UserNames(
                lookUp: { [unowned self] user in
                    lookups += 1
                    return users[user] ?? .none
                }, now: { [unowned self] in now }
            )
        ) { [unowned self] in written.append($0) }

        init(_ users: [UInt32: UserName], after producers: [Producer] = []) {
            (self.users, written) = (users, producers)
        }
    }

    @Test("is its user's name: two users with one uid are two accounts, and one user with two uids is one")
    func byName() throws {
        let first = Machine([0: .name("root"), 1001: .name("alice"), 1002: .name("bob")])
        let alice = try first.accounts.account(of: 1001)
        #expect(alice.uid == 1001 && alice.name == "alice" && "\(alice)" == "alice")
        #expect(try first.accounts.account(of: 0).uid == 0)
        #expect(try first.accounts.account(of: 1001) == alice)
        #expect(first.written.map(\.name) == ["alice", "root"])

        // The other machine takes over with the rows of the chain.
        let second = Machine([0: .name("root"), 1001: .name("bob"), 2002: .name("alice")], after: first.written)
        #expect(try second.accounts.account(of: 2002) == alice)
        let bob = try second.accounts.account(of: 1001)
        #expect(bob != alice && bob.uid == 1 << 31)
        #expect(try second.accounts.account(of: 0).uid == 0)

        // The first machine takes over again.
        let third = Machine([1001: .name("alice"), 1002: .name("bob")], after: second.written)
        #expect(try third.accounts.account(of: 1002) == bob)
        #expect(third.written == second.written)
    }

    @Test("is the uid of a user without a name, and nobody's when the name cannot be looked up")
    func nameless() throws {
        let machine = Machine([7: .failed("the service is away"), 8: .name(String(repeating: "x", count: 257))])
        let account = try machine.accounts.account(of: 65_534)
        #expect(account.name == "uid:65534" && account.uid == 65_534)
        let away = #expect(throws: ProtocolError.self) { try machine.accounts.account(of: 7) }
        #expect(away?.code == .unavailable)
        #expect(away?.message == "the name of uid 7 cannot be used: the service is away")
        #expect(throws: ProtocolError.self) { try machine.accounts.account(of: 8) }
        #expect(machine.written.count == 1)
        // The account remembers nothing of that.
        machine.users[7] = .name("carol")
        #expect(try machine.accounts.account(of: 7).name == "carol")
    }

    @Test("is looked up once a minute, and follows a renamed user")
    func remembers() throws {
        let machine = Machine([1001: .name("alice")])
        for _ in 0..<3 { _ = try machine.accounts.account(of: 1001) }
        #expect(machine.lookups == 1)
        machine.users[1001] = .name("alicia")
        machine.now = 59_999_999_999
        #expect(try machine.accounts.account(of: 1001).name == "alice")
        machine.now = 60_000_000_000
        let renamed = try machine.accounts.account(of: 1001)
        #expect(renamed.name == "alicia" && renamed.uid == 1 << 31 && machine.lookups == 2)
    }

    @Test("is refused at the limit of producers; known ones continue")
    func full() throws {
        let producers = (0..<UInt32(ProducerNumbers.limit)).map { Producer(number: $0, name: "u\($0)") }
        let machine = Machine([5: .name("u5"), 70_000: .name("newcomer")], after: producers)
        #expect(try machine.accounts.account(of: 5).uid == 5)
        let error = #expect(throws: ProtocolError.self) { try machine.accounts.account(of: 70_000) }
        #expect(error?.code == .overloaded && machine.written.count == ProducerNumbers.limit)
    }

    @Test("is the uid on a follower, under its user's name")
    func standby() {
        let accounts = NamedAccounts(UserNames(lookUp: { $0 == 1001 ? .name("alice") : .failed("away") }, now: { 0 }))
        #expect(accounts.account(of: 1001).name == "alice" && accounts.account(of: 1001).uid == 1001)
        #expect(accounts.account(of: 7).name == "7")
    }

    @Test("is looked up in this system's user database")
    func system() {
        #expect(UserName(of: 0) == .name("root"))
        #expect(UserName(of: 4_000_000_001) == .none)
    }
}
