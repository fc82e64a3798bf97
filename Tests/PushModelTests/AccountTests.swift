import Testing

@testable import PushModel

@Suite("An account")
struct AccountTests {
    @Test("is the connected user, whatever the group and the process; labels and texts show its uid")
    func user() {
        let account = Peer(uid: 1000, gid: 100, pid: 1).account
        #expect(account == Peer(uid: 1000, gid: 5, pid: 2).account)
        #expect(account != Peer(uid: 1001, gid: 100, pid: 1).account)
        #expect(account.name == "1000" && "\(account)" == "uid 1000")
    }
}
