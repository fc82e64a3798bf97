import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("A search for bytes")
struct BytesTests {
    @Test("finds what a comparison at each place finds", arguments: 1...20)
    func search(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let text = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 97...98, using: &random)
            }
            let word = (0..<Int.random(in: 0...6, using: &random)).map { _ in UInt8.random(in: 97...98, using: &random)
            }
            let isThere = word.isEmpty || text.indices.contains { text[$0...].starts(with: word) }
            #expect(text.has(word) == isThere)
            #expect(text[...].has(word) == isThere && AnyCollection(text).has(word) == isThere)
        }
    }

    @Test("looks at megabytes in little time of the processor")
    func long() {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 20)
        let before = clock()
        #expect(!text.has("Bundle[".utf8))
        #expect(clock() - before < 8_000_000, "microseconds")
    }
}
