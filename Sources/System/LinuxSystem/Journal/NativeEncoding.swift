import CSystemd
import Glibc
import PushModel

/// Converts entries to the argument of `sd_journal_sendv`: an array of `NAME=value`. The memory is reused for each
/// entry.
struct NativeEncoding {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var vectors: [iovec] = []

    /// Calls `body` with the fields of `entry`, which are valid until it returns.
    mutating func withVectors<R>(of entry: JournalEntry, _ body: ([iovec]) -> R) -> R {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        // `journalctl` shows MESSAGE to people, so its control characters are made visible; other fields keep their
        // bytes.
        append("MESSAGE", .text(entry.message.showingControls()))
        append("PRIORITY", .integer(Int64(entry.priority.rawValue)))
        if let id = entry.messageID { append("MESSAGE_ID", .text(id.rawValue)) }
        for field in entry.fields { append(field.name.text, field.value) }

        vectors.removeAll(keepingCapacity: true)
        return bytes.withUnsafeMutableBytes { memory in
            var start = 0
            for end in ends {
                vectors.append(iovec(iov_base: memory.baseAddress.map { $0 + start }, iov_len: end - start))
                start = end
            }
            return body(vectors)
        }
    }

    private mutating func append(_ name: String, _ value: JournalEntry.Value) {
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "="))
        switch value {
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        }
        ends.append(bytes.count)
    }
}
