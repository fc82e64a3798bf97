import Testing

@testable import PushModel

@Suite("The allowed keys of a request")
struct RequestKeysTests {
    @Test("each key of a request has a bit of its own in RequestKeys", arguments: RequestKey.allCases)
    func bits(_ key: RequestKey) {
        let keys = RequestKeys([key])
        #expect(RequestKey.allCases.filter(keys.contains) == [key])
    }

    @Test("trap when no bit is left for a key, rather than never allow it")
    func overflow() async {
        #expect(RequestKeys.bit(at: 63) == 1 << 63)
        await #expect(processExitsWith: .failure) { _ = RequestKeys.bit(at: 64) }
    }
}
