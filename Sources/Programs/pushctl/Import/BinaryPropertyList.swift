import PushModel

/// Reads the binary form of a property list, version 00 (CoreFoundation, CFBinaryPList.c): the magic, a table of
/// objects, the objects' offsets, and a trailer of 32 bytes.
struct BinaryPropertyList {
    static let magic = Array("bplist00".utf8)
    /// The limits of the value: an object may be referenced many times, so that a small file can expand without bound.
    private let limits: PropertyList.Limits

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let rootObject: Int
    private let tableOffset: Int
    private var values = 0
    /// The bytes of texts and data, counted for each reference.
    private var contentBytes = 0

    /// - Parameters:
    ///   - bytes: a file that begins with ``magic``.
    ///   - limits: the limits of the value.
    init(_ bytes: [UInt8], _ limits: PropertyList.Limits) throws(PropertyListError) {
        guard bytes.count >= Self.magic.count + 32 else { throw PropertyListError("the property list is cut off") }
        self.bytes = bytes
        self.limits = limits
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.integer(bytes, trailer + 8, 8), let root = Self.integer(bytes, trailer + 16, 8),
            let table = Self.integer(bytes, trailer + 24, 8), root < count, table <= trailer,
            count <= (trailer - table) / offsetSize
        else { throw PropertyListError("the trailer of the property list is damaged") }
        (objectCount, rootObject, tableOffset) = (count, root, table)
    }

    mutating func root() throws(PropertyListError) -> StoredValue { try value(rootObject, depth: 0) }

    private mutating func value(_ number: Int, depth: Int) throws(PropertyListError) -> StoredValue {
        values += 1
        guard depth < PropertyList.depthMax, values <= limits.values else {
            throw PropertyListError("the property list nests too deep, or has too many values")
        }
        guard (0..<objectCount).contains(number),
            let offset = Self.integer(bytes, tableOffset + number * offsetSize, offsetSize), offset < tableOffset
        else { throw damaged(number) }
        let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0x0F))
        switch kind {
        case 0x0:
            switch low {
            case 0x0: return .null
            case 0x8: return .flag(false)
            case 0x9: return .flag(true)
            default: throw damaged(number)
            }
        case 0x1: return .number(String(try integer(offset + 1, 1 << low, of: number)))
        case 0x2: return .number(try real(offset + 1, 1 << low, of: number))
        case 0x3: return .text(try date(offset + 1, of: number))
        case 0x8: return .reference(try integer(offset + 1, low + 1, of: number))
        default: break
        }
        let (start, count) = try extent(offset, low, of: number)
        switch kind {
        case 0x4: return .data(Array(try slice(start, count, of: number)))
        case 0x5: return .text(String(decoding: try slice(start, count, of: number), as: UTF8.self))
        case 0x6:
            let raw = try slice(start, count * 2, of: number)
            let units = stride(from: raw.startIndex, to: raw.endIndex, by: 2).map {
                UInt16(raw[$0]) << 8 | UInt16(raw[$0 + 1])
            }
            return .text(String(decoding: units, as: UTF16.self))
        case 0xA:
            var elements: [StoredValue] = []
            for index in 0..<count { elements.append(try member(start, index, depth, of: number)) }
            return .list(elements)
        case 0xD:
            var members: [(key: String, value: StoredValue)] = []
            for index in 0..<count {
                guard let key = try member(start, index, depth, of: number).text else { throw damaged(number) }
                members.append((key, try member(start, count + index, depth, of: number)))
            }
            return .object(members)
        default: throw damaged(number)
        }
    }

    /// The value at an index of an object's list of references.
    private mutating func member(
        _ start: Int, _ index: Int, _ depth: Int, of number: Int
    ) throws(PropertyListError) -> StoredValue {
        try value(try integer(start + index * referenceSize, referenceSize, of: number), depth: depth + 1)
    }

    /// The offset of an object's content, and the number of its units.
    private func extent(
        _ offset: Int, _ low: Int, of number: Int
    ) throws(PropertyListError) -> (start: Int, count: Int) {
        guard low == 0x0F else { return (offset + 1, low) }
        guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 0x1, bytes[offset + 1] & 0x0F <= 3 else {
            throw damaged(number)
        }
        let size = 1 << Int(bytes[offset + 1] & 0x0F)
        let count = try integer(offset + 2, size, of: number)
        // A unit has at least one byte.
        guard (0...bytes.count).contains(count) else { throw damaged(number) }
        return (offset + 2 + size, count)
    }

    private mutating func slice(
        _ start: Int, _ count: Int, of number: Int
    ) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard start + count <= bytes.count else { throw damaged(number) }
        contentBytes += count
        guard contentBytes <= limits.bytes else {
            throw PropertyListError("the texts and data of the property list have more than \(limits.bytes) bytes")
        }
        return bytes[start..<start + count]
    }

    private func integer(_ offset: Int, _ size: Int, of number: Int) throws(PropertyListError) -> Int {
        // Eight bytes are a signed number; sixteen bytes are for larger ones, which no sample stores.
        guard size <= 8, let value = Self.integer(bytes, offset, size, signed: true) else { throw damaged(number) }
        return value
    }

    private func real(_ offset: Int, _ size: Int, of number: Int) throws(PropertyListError) -> String {
        guard let bits = Self.integer(bytes, offset, size, signed: true), size == 4 || size == 8 else {
            throw damaged(number)
        }
        let value =
            size == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            : Double(bitPattern: UInt64(bitPattern: Int64(bits)))
        guard value.isFinite else { throw PropertyListError("object \(number) is no finite number") }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    /// A date: seconds since 2001-01-01.
    private func date(_ offset: Int, of number: Int) throws(PropertyListError) -> String {
        let epoch = 978_307_200.0
        guard let seconds = Double(try real(offset, 8, of: number)), abs(seconds) < 1e11 else { throw damaged(number) }
        return WallTime(milliseconds: Int64((seconds + epoch) * 1000)).rfc3339
    }

    private func damaged(_ number: Int) -> PropertyListError {
        PropertyListError("object \(number) of the property list is damaged")
    }

    /// A big-endian number; `nil` if it is out of bounds or no `Int`.
    private static func integer(_ bytes: [UInt8], _ offset: Int, _ size: Int, signed: Bool = false) -> Int? {
        guard (1...8).contains(size), offset >= 0, offset <= bytes.count - size else { return nil }
        let bits = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return signed ? Int(Int64(bitPattern: bits)) : Int(exactly: bits)
    }
}
