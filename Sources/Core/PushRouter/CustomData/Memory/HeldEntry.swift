import PushModel

/// A waiting entry in memory: 56 bytes, and one allocation for its texts and data.
struct HeldEntry: Sendable {
    private enum DestinationKind: UInt8 { case stored, externalID, brazeID, alias }

    let number: EntryNumber
    let savedAt: WallTime
    private let cause: SequenceNumber
    private let time: WallTime
    /// The lengths of the texts, four bytes each, then the texts, then the data.
    private let content: [UInt8]
    /// One bit each for the device, the user, and the user whose profile the entry is sent to.
    private let nameBits: UInt64
    /// Bytes of name and data.
    private let length: UInt32
    let kind: EntryKind
    private let platform: Platform
    private let destinationKind: DestinationKind

    private static let textCount = 6
    /// The index of the suite's text; the profile's text follows it.
    private static let suitePlace = 4
    /// The length that marks a missing text.
    private static let none = UInt32.max

    init(_ entry: CustomEntry) {
        number = entry.number
        savedAt = entry.savedAt
        cause = entry.cause
        time = entry.time
        kind = entry.kind
        platform = entry.platform
        length = UInt32(clamping: entry.length)
        let target: (destinationKind: DestinationKind, first: String, second: String?) =
            switch entry.destination {
            case .stored(let suite, let brazeID): (.stored, suite, brazeID)
            case .sent(.externalID(let id)): (.externalID, id, nil)
            case .sent(.brazeID(let id)): (.brazeID, id, nil)
            case .sent(.alias(let name, let label)): (.alias, name, label)
            }
        destinationKind = target.destinationKind
        let sentUser = target.destinationKind == .externalID ? target.first : nil
        nameBits = [entry.device, entry.externalID, sentUser].reduce(0) { bits, name in
            name.map { bits | Self.bit(of: $0) } ?? bits
        }
        content = Self.content(
            [entry.app, entry.device, entry.externalID, entry.name, target.first, target.second], entry.data)
    }

    /// Bytes of name and data.
    var size: Int { Int(length) }

    /// The entry rebuilt from its bytes.
    var entry: CustomEntry {
        var position = Self.textCount * 4
        let texts = (0..<Self.textCount).map { place -> String? in
            let length = length(ofTextAt: place)
            guard length != Self.none else { return nil }
            defer { position += Int(length) }
            return String(decoding: content[position..<position + Int(length)], as: UTF8.self)
        }
        let first = texts[4] ?? ""
        let target: EntryDestination =
            switch destinationKind {
            case .stored: .stored(suite: first, brazeID: texts[5])
            case .externalID: .sent(.externalID(first))
            case .brazeID: .sent(.brazeID(first))
            case .alias: .sent(.alias(name: first, label: texts[5] ?? ""))
            }
        return CustomEntry(
            number: number, cause: cause, kind: kind, destination: target, platform: platform, app: texts[0],
            device: texts[1],
            externalID: texts[2], name: texts[3], data: Array(content[position...]), time: time, savedAt: savedAt)
    }

    /// Returns the name's bit in `nameBits`: a hash of the name, so different names may share a bit.
    static func bit(of name: String) -> UInt64 { 1 << UInt64(name.withBytes { WordHash.ofThisProcess($0) & 63 }) }

    /// Returns whether a name of the entry may have one of these bits. Rules out most entries without comparing names.
    func mayName(_ bits: UInt64) -> Bool { nameBits & bits != 0 }

    /// The name of the entry's suite in UTF-8; `nil`: the entry is in no suite.
    var suite: [UInt8]? { destinationKind == .stored ? withText(at: Self.suitePlace) { $0.map(Array.init) } : nil }

    /// Calls `body` with the device in UTF-8.
    func withDevice<Result>(_ body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result { withText(at: 1, body) }

    /// Calls `body` with the user in UTF-8; `nil` if the producer named none.
    func withUser<Result>(_ body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result { withText(at: 2, body) }

    /// Returns whether the entry is sent to the profile of this user (UTF-8).
    func isSent(to user: [UInt8]) -> Bool {
        destinationKind == .externalID
            && withText(at: Self.suitePlace) { text in user.withUnsafeBufferPointer { text?.isSame(as: $0) ?? false } }
    }

    /// Returns whether the entry is in a suite of this name (UTF-8), without a copy of its text.
    func isStored(in suite: [UInt8]) -> Bool {
        destinationKind == .stored
            && withText(at: Self.suitePlace) { text in suite.withUnsafeBufferPointer { text?.isSame(as: $0) ?? false } }
    }

    /// Calls `body` with the bytes of a text in place.
    private func withText<Result>(at place: Int, _ body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result {
        content.withUnsafeBufferPointer { bytes in
            let lengths = UnsafeRawBufferPointer(bytes)
            var start = Self.textCount * 4
            var other = 0
            while true {
                let length = UInt32(littleEndian: lengths.loadUnaligned(fromByteOffset: other * 4, as: UInt32.self))
                if other == place {
                    guard length != Self.none else { return body(nil) }
                    return body(UnsafeBufferPointer(rebasing: bytes[start..<start + Int(length)]))
                }
                if length != Self.none { start += Int(length) }
                other += 1
            }
        }
    }

    /// Whether the entry itself names a profile.
    var namesProfile: Bool { destinationKind != .stored || length(ofTextAt: Self.suitePlace + 1) != Self.none }

    private func length(ofTextAt place: Int) -> UInt32 {
        content.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: place * 4, as: UInt32.self)) }
    }

    private static func content(_ texts: [String?], _ data: [UInt8]) -> [UInt8] {
        var content: [UInt8] = []
        let lengths = texts.map { $0.map { UInt32(clamping: $0.utf8.count) } ?? none }
        content.reserveCapacity(texts.reduce(texts.count * 4 + data.count) { $0 + ($1?.utf8.count ?? 0) })
        for length in lengths { withUnsafeBytes(of: length.littleEndian) { content.append(contentsOf: $0) } }
        for case let text? in texts { content.append(contentsOf: text.utf8) }
        content.append(contentsOf: data)
        return content
    }
}

extension HeldEntry: Comparable {
    static func == (left: HeldEntry, right: HeldEntry) -> Bool { left.number == right.number }
    static func < (left: HeldEntry, right: HeldEntry) -> Bool { left.number < right.number }
}

extension CustomEntry {
    /// Bytes of name and data, which count towards `MaxPendingSize=`.
    var length: Int { (name?.utf8.count ?? 0) + data.count }
}
