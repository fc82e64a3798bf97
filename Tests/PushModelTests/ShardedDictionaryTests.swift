import TestSupport
import Testing

@testable import PushModel

@Suite("Tables and queues in pieces")
struct ShardedDictionaryTests {
    @Test("A sharded table equals a dictionary after any operations", arguments: UInt64(1)...4)
    func table(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = ShardedDictionary<SequenceNumber, Int>(shardBits: 3)
        var model: [SequenceNumber: Int] = [:]
        table.reserveCapacity(Int.random(in: 0...1000, using: &random))
        for step in 0..<5000 {
            let key = SequenceNumber(Int64.random(in: 1...300, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: #expect(table.updateValue(step, forKey: key) == model.updateValue(step, forKey: key))
            case 1: #expect(table.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 2: (table[key], model[key]) = (step, step)
            case 3: (table[key], model[key]) = (nil, nil)
            case 4:
                (table[key, default: 7], model[key, default: 7]) = (
                    table[key, default: 7] + 1, model[key, default: 7] + 1
                )
            default: (table[key], model[key]) = (table[key].map { $0 + 1 }, model[key].map { $0 + 1 })
            }
            #expect(table[key] == model[key] && table.count == model.count && table.isEmpty == model.isEmpty)
        }
        #expect(table.keys.sorted() == model.keys.sorted() && table.values.sorted() == model.values.sorted())
    }

    @Test("Two spellings of a name are two devices, and a device without an app is not one of an app")
    func devices() {
        let names = ["caf\u{E9}", "cafe\u{301}", "", "a-name-of-more-than-sixteen-bytes"]
        var table = ShardedDictionary<DeviceKey, Int>()
        let keys = names.flatMap { name in [nil, "", "shop", name].map { DeviceKey(app: $0, device: name) } }
        for (number, key) in keys.enumerated() { table[key] = number }
        let differing = Set(keys.map { [$0.app.map { Array($0.utf8) }, Array($0.device.utf8)] })
        #expect(table.count == differing.count && table.count == 15)
        #expect(keys.allSatisfy { table[$0] != nil })
    }

    @Test("A long queue returns its elements in order", arguments: UInt64(1)...4)
    func queue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = LongQueue<Int>()
        var (next, first) = (0, 0)
        for _ in 0..<200 {
            for _ in 0..<Int.random(in: 0...1200, using: &random) {
                queue.append(next)
                next += 1
            }
            for _ in 0..<Int.random(in: 0...1200, using: &random) {
                #expect(queue.popFirst() == (first < next ? first : nil))
                first = min(first + 1, next)
            }
            #expect(queue.count == next - first)
        }
    }
}
