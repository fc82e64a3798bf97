@testable import PushModel

/// The rows of a batch, as far as the rules distinguish rows: a bit for each request.
struct ModelRows: Hashable {
    var isTakeover = false
    var requests: UInt8 = 0
    var starts: UInt8 = 0
    /// Outcomes from a handler.
    var outcomes: UInt8 = 0
    /// Outcomes from a new leader for the started handlers of its predecessor.
    var lost: UInt8 = 0

    var isEmpty: Bool { self == ModelRows() }

    mutating func add(_ other: ModelRows) {
        requests |= other.requests
        starts |= other.starts
        outcomes |= other.outcomes
        lost |= other.lost
    }

    var word: UInt64 {
        UInt64(requests) | UInt64(starts) << 8 | UInt64(outcomes) << 16 | UInt64(lost) << 24
            | (isTakeover ? 1 << 32 : 0)
    }
}

extension ModelRows: CustomStringConvertible {
    var description: String {
        var words = isTakeover ? ["takeover"] : []
        for (name, bits) in [
            ("request", requests), ("start", starts), ("outcome", outcomes), ("leader_lost", lost),
        ] {
            words += (0..<8).filter { bits & 1 << $0 != 0 }.map { "\(name) \($0)" }
        }
        return words.joined(separator: ", ")
    }
}

/// A batch of the model's chain.
struct ModelBatch: Hashable {
    var reference: BatchReference
    var previous: UUID128
    var epoch: Int64
    var rows: ModelRows

    static let start = ModelBatch(
        reference: .start, previous: BatchReference.start.id, epoch: 0, rows: ModelRows())

    /// The batch as the engine returns it.
    var stored: StoredBatch {
        let batch = ChainBatch(
            reference: reference, previous: previous, epoch: epoch, boot: BatchReference.start.id,
            handedOver: Instant(nanoseconds: 0), bytes: [])
        return StoredBatch(batch: batch, age: .zero)
    }
}

extension ModelBatch: CustomStringConvertible {
    var description: String { "batch \(reference.number) (\(name(ofModelID: reference.id)): \(rows))" }
}

/// The text of an id in a trace: the node that drew it, and that node's count of drawn ids.
func name(ofModelID id: UUID128) -> String {
    switch id.high {
    case 0: "start"
    case 1...4: "\(name(ofNode: Int(id.high) - 1))\(id.low)"
    default: "by content"
    }
}

/// The name of a node in a trace.
func name(ofNode node: Int) -> String { ["a", "b", "c", "d"][node] }
