import PushModel

// Fuzzes the strict scan. Any bytes must give a document or an error within the text; a document must be readable to
// its leaves, and the writer's output for it must be equivalent to it.

@c(LLVMFuzzerTestOneInput)
public func fuzzJSONScan(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    do {
        let root = try JSONDocument(scanning: text).root
        var writer = JSONWriter()
        copy(root, to: &writer)
        let copied = try JSONDocument(scanning: writer.bytes).root
        precondition(copied.isEquivalent(to: root) && root.isEquivalent(to: copied), "the copy differs")
    } catch {
        precondition((0...text.count).contains(error.offset), "the offset is outside the text")
    }
    return 0
}

private func copy(_ node: JSONNode, to writer: inout JSONWriter) {
    switch node.kind {
    case .object:
        writer.object { writer in
            for (key, value) in node.members {
                precondition(node[key]?.rawBytes == value.rawBytes, "a member is not found by its key")
                writer.key(key)
                copy(value, to: &writer)
            }
        }
    case .array: writer.array { writer in for element in node.elements { copy(element, to: &writer) } }
    case .string: writer.string(node.string ?? "")
    case .number:
        precondition(node.double?.isFinite == true, "a number that is not finite")
        precondition(node.int64 == nil || node.int64.map(Double.init) == node.double, "two values of one number")
        writer.raw(node.rawBytes)
    case .bool: writer.bool(node.bool == true)
    case .null: writer.null()
    }
}
