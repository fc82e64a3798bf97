import Testing

@testable import PushModel

@Suite("The keys that a request may have")
struct RequestKeysTests {
    @Test("each key has a bit of its own", arguments: RequestKey.allCases)
    func bits(_ key: RequestKey) {
        let keys = RequestKeys([key])
        #expect(RequestKey.allCases.filter(keys.contains) == [key])
    }

    @Test("a key for which there is no bit left ends the program rather than never being allowed")
    func overflow() async {
        #expect(RequestKeys.bit(at: 63) == 1 << 63)
        await #expect(processExitsWith: .failure) { _ = RequestKeys.bit(at: 64) }
    }
}
