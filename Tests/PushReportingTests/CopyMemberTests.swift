import Testing

@testable import PushModel
@testable import PushViews

@Suite("The member of a document that says whose copy was read")
struct CopyMemberTests {
    private func added(_ leader: String?, to document: String) -> String {
        let follower = Synced.Follower(node: "b", leader: leader, behind: .milliseconds(80))
        let synced = Synced(
            state: UUID128(high: 1, low: 1), isComplete: false, batchesBehind: 3, bytesBehind: 0, follower: follower)
        return String(decoding: CopyMember.add(synced, to: Array(document.utf8)), as: UTF8.self)
    }

    @Test("is the last one of an object, and changes no other document")
    func objects() {
        let member = #""copy":{"node":"b","leader":"a","batches_behind":3,"behind_ms":80}"#
        #expect(added("a", to: #"{"seq":1}"#) == #"{"seq":1,\#(member)}"#)
        #expect(added("a", to: "{}") == "{\(member)}")
        #expect(added(nil, to: "{}").contains(#""leader":null"#))
        #expect(added("a", to: "[1]") == "[1]")
        let own = Synced(state: UUID128(high: 1, low: 1), isComplete: true, batchesBehind: 0, bytesBehind: 0)
        #expect(CopyMember.add(own, to: Array("{}".utf8)) == Array("{}".utf8))
    }
}
