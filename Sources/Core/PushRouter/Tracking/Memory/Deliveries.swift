import PushModel

/// The remembered deliveries: about 100 bytes each, with their texts.
///
/// The tracker forgets deliveries in the order in which they came. So they lie in pages of 8,192 with their texts, and
/// a whole page is freed when its last delivery is forgotten.
struct Deliveries: Sendable {
    /// The stored fields of a delivery.
    struct Entry: Sendable {
        var seq: Int64
        /// Unix milliseconds.
        var receivedAt: Int64
        /// The clock's time of the receipt, in Unix seconds.
        var since: UInt32
        var user: UInt32
        var campaign: UInt32
        var device: UInt32
        /// The offset of its texts in the page: the message id, the unique id, then digest and buttons.
        var textStart: UInt32
        var messageLength: UInt16
        var uniqueLength: UInt16
        var extraLength: UInt16
        var flags: Flags
        var platform: Platform
    }

    struct Flags: OptionSet, Sendable {
        var rawValue: UInt16
        static let hasMessageID = Flags(rawValue: 1)
        static let hasOwnID = Flags(rawValue: 2)
        static let hasDigest = Flags(rawValue: 4)
        static let listed = Flags(rawValue: 8)
        static let opened = Flags(rawValue: 16)
        static let influenced = Flags(rawValue: 32)
        static let hasDevice = Flags(rawValue: 64)
        /// The delivery is erased; only its slot is still in use.
        static let erased = Flags(rawValue: 128)
        static let displayed = Flags(rawValue: 256)
    }

    /// The kinds of key, other than its number, by which a delivery can be found.
    enum Name: Int, CaseIterable {
        /// Its message id on its device.
        case message
        /// Its message id on any device.
        case messageAnywhere
        /// The id by which the provider's SDK drops a repeat, with the device.
        case unique
        /// The digest of its payload on its device.
        case digest
    }

    private struct Page: Sendable {
        var entries: ContiguousArray<Entry> = []
        var texts: ContiguousArray<UInt8> = []
    }

    private static let pageLength = 8192

    private var pages: ContiguousArray<Page> = []
    private var unusedPages: ContiguousArray<UInt32> = []
    /// The pages in use, the oldest first; new deliveries go to `lastPage`.
    private var order = Queue<UInt32>()
    private var lastPage = noSlot
    /// The number of forgotten deliveries in the oldest page.
    private var gone = 0
    private var numbers = HashIndex()
    private var names = ContiguousArray(repeating: HashIndex(), count: Name.allCases.count)
    /// The number of deliveries.
    private(set) var count = 0

    /// The slot of the oldest delivery.
    var oldest: UInt32? { order.first.map { $0 * UInt32(Self.pageLength) + UInt32(gone) } }

    subscript(slot: UInt32) -> Entry {
        _read { yield pages[Int(slot) / Self.pageLength].entries[Int(slot) % Self.pageLength] }
        _modify { yield &pages[Int(slot) / Self.pageLength].entries[Int(slot) % Self.pageLength] }
    }

    // MARK: Coming and going

    /// Reserves capacity in the indexes for `count` deliveries; does nothing if they have entries.
    mutating func reserve(_ count: Int) {
        numbers.reserve(count)
        // The other indexes have few entries or none.
        for name in [Name.message, .messageAnywhere] { names[name.rawValue].reserve(count) }
    }

    /// Appends a delivery as the newest; this sets the text fields of `entry`.
    mutating func append(
        _ entry: Entry, message: String?, unique: String?, digest: UInt64?, buttons: [UInt8]
    ) -> UInt32 {
        if lastPage == noSlot || pages[Int(lastPage)].entries.count == Self.pageLength { beginPage() }
        let page = Int(lastPage)
        var entry = entry
        entry.textStart = UInt32(pages[page].texts.count)
        if let message { pages[page].texts.append(contentsOf: message.utf8) }
        if let unique { pages[page].texts.append(contentsOf: unique.utf8) }
        if let digest { withUnsafeBytes(of: digest.littleEndian) { pages[page].texts.append(contentsOf: $0) } }
        pages[page].texts.append(contentsOf: buttons)
        entry.messageLength = UInt16(message?.utf8.count ?? 0)
        entry.uniqueLength = UInt16(unique?.utf8.count ?? 0)
        entry.extraLength = UInt16((digest == nil ? 0 : 8) + buttons.count)
        if message != nil { entry.flags.insert(.hasMessageID) }
        if digest != nil { entry.flags.insert(.hasDigest) }
        pages[page].entries.append(entry)
        let slot = lastPage * UInt32(Self.pageLength) + UInt32(pages[page].entries.count - 1)
        numbers.insert(slot, slotHash(entry.seq))
        let hasDevice = entry.flags.contains(.hasDevice)
        message?.withBytes { text in
            let text = UnsafeRawBufferPointer(text)
            if hasDevice { put(slot, .message, text, device: entry.device) }
            put(slot, .messageAnywhere, text, device: noSlot)
        }
        if hasDevice {
            unique?.withBytes { put(slot, .unique, UnsafeRawBufferPointer($0), device: entry.device) }
            if let digest {
                withUnsafeBytes(of: digest.littleEndian) { put(slot, .digest, $0, device: entry.device) }
            }
        }
        count += 1
        return slot
    }

    /// Removes the oldest delivery; no list may hold it any longer.
    mutating func removeOldest() {
        guard let slot = oldest else { return }
        removeFromIndexes(slot)
        count -= 1
        gone += 1
        let page = slot / UInt32(Self.pageLength)
        guard gone == pages[Int(page)].entries.count, gone == Self.pageLength || count == 0 else { return }
        _ = order.popFirst()
        gone = 0
        pages[Int(page)] = Page()
        unusedPages.append(page)
        if lastPage == page { lastPage = noSlot }
    }

    /// The slots of all, the oldest first.
    var slots: [UInt32] {
        var slots: [UInt32] = []
        slots.reserveCapacity(count)
        var order = order
        var first = gone
        while let page = order.popFirst() {
            for place in first..<pages[Int(page)].entries.count {
                slots.append(page * UInt32(Self.pageLength) + UInt32(place))
            }
            first = 0
        }
        return slots
    }

    /// Removes a delivery from all indexes and zeroes its texts; no list may hold it any longer. Its slot stays in use
    /// until it is the oldest.
    mutating func erase(_ slot: UInt32) {
        removeFromIndexes(slot)
        let entry = self[slot]
        let start = Int(entry.textStart)
        let length = Int(entry.messageLength) + Int(entry.uniqueLength) + Int(entry.extraLength)
        for place in start..<start + length { pages[Int(slot) / Self.pageLength].texts[place] = 0 }
        self[slot].flags = .erased
        self[slot].user = SharedTexts.none
        self[slot].campaign = SharedTexts.none
    }

    private mutating func removeFromIndexes(_ slot: UInt32) {
        numbers.remove(slot, slotHash(self[slot].seq))
        for name in Name.allCases {
            guard let hash = nameHash(name, of: slot) else { continue }
            names[name.rawValue].remove(slot, hash)
        }
    }

    private mutating func beginPage() {
        // Drops the spare capacity of the last page's texts, which is no longer needed.
        if lastPage != noSlot { pages[Int(lastPage)].texts = ContiguousArray(pages[Int(lastPage)].texts[...]) }
        if let page = unusedPages.popLast() {
            lastPage = page
        } else {
            pages.append(Page())
            lastPage = UInt32(pages.count - 1)
        }
        // The first page grows on demand: most daemons are small.
        if pages.count > 1 { pages[Int(lastPage)].entries.reserveCapacity(Self.pageLength) }
        order.append(lastPage)
    }

    // MARK: Finding

    /// Returns the delivery with this number.
    func find(_ seq: SequenceNumber) -> UInt32? {
        numbers.find(slotHash(seq.value)) { self[$0].seq == seq.value }
    }

    /// Returns the latest delivery with this key on this device; `device` is `noSlot` for `messageAnywhere`.
    func find(_ name: Name, _ text: String, device: UInt32) -> UInt32? {
        var text = text
        return text.withUTF8 {
            let bytes = UnsafeRawBufferPointer($0)
            return find(name, bytes, slotHash(device, bytes), device: device)
        }
    }

    /// Returns the latest delivery with this digest on this device.
    func find(digest: UInt64, device: UInt32) -> UInt32? {
        withUnsafeBytes(of: digest.littleEndian) { find(.digest, $0, slotHash(device, $0), device: device) }
    }

    private func find(_ name: Name, _ bytes: UnsafeRawBufferPointer, _ hash: UInt64, device: UInt32) -> UInt32? {
        names[name.rawValue].find(hash) { slot in
            guard name == .messageAnywhere || self[slot].device == device else { return false }
            return withBytes(name, of: slot) { $0.hasSameBytes(as: bytes) } ?? false
        }
    }

    /// Adds a delivery to an index, unless a later one has the same key. A delivery that waited in its lane is added
    /// after later ones; the numbers decide which is later.
    private mutating func put(_ slot: UInt32, _ name: Name, _ bytes: UnsafeRawBufferPointer, device: UInt32) {
        let hash = slotHash(device, bytes)
        if let other = find(name, bytes, hash, device: device) {
            guard self[other].seq < self[slot].seq else { return }
            names[name.rawValue].remove(other, hash)
        }
        names[name.rawValue].insert(slot, hash)
    }

    // MARK: Texts

    /// Returns the message id.
    func messageID(of slot: UInt32) -> String? {
        withBytes(.messageAnywhere, of: slot) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the digest of the payload.
    func digest(of slot: UInt32) -> UInt64? {
        withBytes(.digest, of: slot) { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// Returns the buttons in the format of `ButtonList`.
    func buttons(of slot: UInt32) -> [UInt8] {
        let entry = self[slot]
        let end = Int(entry.textStart) + Int(entry.messageLength) + Int(entry.uniqueLength) + Int(entry.extraLength)
        let length = Int(entry.extraLength) - (entry.flags.contains(.hasDigest) ? 8 : 0)
        return withTexts(of: slot) { Array($0[end - length..<end]) }
    }

    /// Reads a byte of each delivery's texts, to load them into the processor's caches.
    ///
    /// The texts lie far apart. Reading one after the other would wait for memory each time, and double the time of an
    /// influenced open. The processor overlaps the waits of reads that follow each other directly, as here.
    func readAhead(_ slots: ArraySlice<UInt32>) {
        var read = 0
        for slot in slots {
            let start = Int(self[slot].textStart)
            withTexts(of: slot) { read += start < $0.count && $0[start] != 0 ? 1 : 0 }
        }
        // Always true; the check keeps the compiler from removing the reads.
        precondition(read <= slots.count)
    }

    private func withTexts<Result>(of slot: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        pages[Int(slot) / Self.pageLength].texts.withUnsafeBytes(body)
    }

    /// Calls `body` with the bytes of a key; returns `nil` if the delivery has no such key.
    private func withBytes<Result>(
        _ name: Name, of slot: UInt32, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        let entry = self[slot]
        var start = Int(entry.textStart)
        let length: Int
        switch name {
        case .message:
            guard entry.flags.isSuperset(of: [.hasMessageID, .hasDevice]) else { return nil }
            length = Int(entry.messageLength)
        case .messageAnywhere:
            guard entry.flags.contains(.hasMessageID) else { return nil }
            length = Int(entry.messageLength)
        case .unique:
            guard entry.uniqueLength > 0, entry.flags.contains(.hasDevice) else { return nil }
            start += Int(entry.messageLength)
            length = Int(entry.uniqueLength)
        case .digest:
            guard entry.flags.isSuperset(of: [.hasDigest, .hasDevice]) else { return nil }
            start += Int(entry.messageLength) + Int(entry.uniqueLength)
            length = 8
        }
        return withTexts(of: slot) { body(.init(rebasing: $0[start..<start + length])) }
    }

    private func nameHash(_ name: Name, of slot: UInt32) -> UInt64? {
        let device = name == .messageAnywhere ? noSlot : self[slot].device
        return withBytes(name, of: slot) { slotHash(device, $0) }
    }
}

/// The value that stands for no slot of any table.
let noSlot = UInt32.max
