import PushModel
public import PushRouter

extension ConformPush {
    /// Returns the push with its texts and numbers masked, as far as no answer of its cases changes: each run of letters
    /// becomes `x`, each run of digits `0`. Keys, `true`, `false` and `null` stay, and so does each value that decides.
    ///
    /// - Parameter table: the configuration, with the rules of the app's SDKs alone.
    public func masked(by table: RoutingTable) -> ConformPush {
        let wanted = codes(by: table)
        var mask = Mask(root: deliver.payload)
        mask.hideAll { wanted == replacing($0).codes(by: table) }
        return replacing(mask.json)
    }

    private func codes(by table: RoutingTable) -> [[String]] {
        ConformCase.all(of: self, by: table) { _, _ in }.map { [$0.call.name] + $0.want.answer + $0.want.codes }
    }

    private func replacing(_ payload: [UInt8]) -> ConformPush {
        var push = self
        push.deliver = DeliverRequest(
            target: deliver.target, transport: deliver.transport, payload: ConformCall.document(payload).root,
            headers: deliver.headers)
        return push
    }

    /// The push with the last part of its name made from its payload, so that the same payload has the same name.
    public var namedByContent: ConformPush {
        var push = self
        push.path += "-" + String(stableDigest(deliver.payload.compactBytes), radix: 16)
        return push
    }
}

/// A payload of which some values are masked. The values are numbered in their order.
private struct Mask {
    let root: JSONNode
    /// The numbers of the values that are masked.
    private var hidden: Set<Int> = []
    /// Those of them whose digits are 1 in place of 0: a flag may say yes by any number but 0.
    private var ones: Set<Int> = []
    /// The number of values that can be masked.
    private(set) var count = 0

    init(root: JSONNode) {
        self.root = root
        var writer = JSONWriter()
        write(root, to: &writer, &count)
    }

    /// The payload as it is masked now.
    var json: [UInt8] {
        var writer = JSONWriter()
        var number = 0
        write(root, to: &writer, &number)
        return writer.bytes
    }

    /// Masks the values as far as `isSame` says that nothing changes.
    mutating func hideAll(isSame: ([UInt8]) -> Bool) {
        hideMost(of: 0..<count, isSame: isSame)
        for number in 0..<count where !hidden.contains(number) {
            hidden.insert(number)
            ones.insert(number)
            if isSame(json) { continue }
            hidden.remove(number)
            ones.remove(number)
        }
    }

    /// Masks the values of a range: all at once, else each half.
    private mutating func hideMost(of range: Range<Int>, isSame: ([UInt8]) -> Bool) {
        guard !range.isEmpty else { return }
        let before = hidden
        hidden.formUnion(range)
        guard !isSame(json) else { return }
        hidden = before
        guard range.count > 1 else { return }
        let middle = range.lowerBound + range.count / 2
        hideMost(of: range.lowerBound..<middle, isSame: isSame)
        hideMost(of: middle..<range.upperBound, isSame: isSame)
    }

    private func write(_ node: JSONNode, to writer: inout JSONWriter, _ number: inout Int) {
        switch node.kind {
        case .object:
            writer.object { object in
                for (key, value) in node.members {
                    object.key(key)
                    write(value, to: &object, &number)
                }
            }
        case .array: writer.array { list in node.elements.forEach { write($0, to: &list, &number) } }
        case .string:
            let text = node.string ?? ""
            if text.hasPrefix("{"), let inner = try? JSONDocument(scanning: Array(text.utf8)).root {
                var inside = JSONWriter()
                write(inner, to: &inside, &number)
                writer.string(String(decoding: inside.bytes, as: UTF8.self))
            } else {
                writer.string(hidden.contains(number) ? Self.masked(text, digit: digit(of: number)) : text)
                number += 1
            }
        case .number:
            if hidden.contains(number) { writer.raw("\(digit(of: number))".utf8) } else { writer.raw(node.rawBytes) }
            number += 1
        case .bool, .null: writer.raw(node.rawBytes)
        }
    }

    private func digit(of number: Int) -> Unicode.Scalar { ones.contains(number) ? "1" : "0" }

    private static func masked(_ text: String, digit: Unicode.Scalar) -> String {
        text.unicodeScalars.reduce(into: "") { masked, scalar in
            let isDigit = ("0"..."9").contains(scalar)
            let isMark = scalar.isASCII && !isDigit && !scalar.properties.isAlphabetic
            let mask: Unicode.Scalar = isDigit ? digit : isMark ? scalar : "x"
            if isMark || masked.unicodeScalars.last != mask { masked.unicodeScalars.append(mask) }
        }
    }
}
