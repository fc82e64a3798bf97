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

    @Test("finds no byte behind the end, of whatever length", arguments: 0...40)
    func end(length: Int) {
        let text = [UInt8](repeating: 97, count: length) + [98]
        text.withUnsafeBufferPointer { whole in
            let part = UnsafeBufferPointer(rebasing: whole[..<length])
            for start in 0...length { #expect(part.firstIndex(of: 98, from: start) == nil) }
            #expect(whole.firstIndex(of: 98, from: 0) == length)
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

@Suite("Bytes")
struct ComparedBytesTests {
    @Test("are the same only if each of them is, at any length")
    func same() {
        for count in 0...40 {
            let one = (0..<count).map { UInt8($0) }
            func isSame(_ other: [UInt8]) -> Bool {
                one.withUnsafeBufferPointer { one in other.withUnsafeBufferPointer { one.isSame(as: $0) } }
            }
            #expect(isSame(one))
            for place in 0..<count {
                var other = one
                other[place] ^= 1
                #expect(!isSame(other), "byte \(place) of \(count)")
            }
        }
    }

    @Test("of a dictionary, a set and a range have the order of the comparison, and equal ones keep theirs")
    func sorted() {
        #expect([3: "c", 1: "a", 2: "b"].sorted { $0.key < $1.key }.map(\.value) == ["a", "b", "c"])
        #expect(Set(["b", "a", "c"]).sorted() == ["a", "b", "c"])
        let pairs = (0..<200).map { (key: $0 % 3, place: $0) }.sorted { $0.key < $1.key }
        #expect(pairs.map(\.key) == (0..<200).map { $0 < 67 ? 0 : $0 < 134 ? 1 : 2 })
        for key in 0..<3 {
            let places = pairs.filter { $0.key == key }.map(\.place)
            #expect(places == places.sorted())
        }
    }

    @Test("have a hash that depends on themselves alone, and not on what lies beside them")
    func hash() {
        let text = Array("abcdefghijklmnopqrstuvwxyz".utf8)
        for count in 0...20 {
            let (one, other) = (text, text.indices.map { $0 >= 2 && $0 < 2 + count ? text[$0] : 0x78 })
            func hash(_ bytes: [UInt8]) -> UInt64 {
                bytes.withUnsafeBufferPointer { WordHash.keys(UnsafeBufferPointer(rebasing: $0[2..<2 + count])) }
            }
            #expect(hash(one) == hash(other), "\(count)")
            if count == 0 { #expect(hash(one) == WordHash.keys(UnsafeBufferPointer(start: nil, count: 0))) }
        }
    }
}
