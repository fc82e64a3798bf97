extension ControlOp {
    static let replay = ControlOp("replay", [.requests]) { reader throws(ProtocolError) in
        .replay(try reader.requests())
    }

    static let purge = ControlOp("purge", [.requests]) { reader throws(ProtocolError) in
        .purge(try reader.requests())
    }
}

extension ObjectReader {
    /// Returns the numbers of requests without repeats.
    fileprivate func requests() throws(ProtocolError) -> [SequenceNumber] {
        let value = try required(.requests)
        guard value.kind == .array else { throw wrongType(.requests, value, wanted: "a list") }
        guard (1...ControlRequest.Operation.requestsMax).contains(value.count) else {
            throw invalid(.requests, "requests has from 1 to \(ControlRequest.Operation.requestsMax) numbers")
        }
        let elements = node(value).elements
        var numbers: [SequenceNumber] = []
        var known: Set<Int64> = []
        for (index, element) in elements.enumerated() {
            guard let number = element.int64, number > 0 else {
                throw ProtocolError(
                    .invalidValue, field: "requests[\(index)]", message: "a request's number is a whole number above 0")
            }
            if known.insert(number).inserted { numbers.append(SequenceNumber(number)) }
        }
        return numbers
    }
}
