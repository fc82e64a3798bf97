extension ControlRequest {
    /// Reads a line.
    ///
    /// - Throws: the error that the client is told; it carries the request's id where that could be read.
    public init(line: [UInt8]) throws(ProtocolError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(scanning: line)
        } catch {
            throw ProtocolError(error)
        }
        let root = document.root
        guard root.kind == .object else {
            throw ProtocolError(
                .invalidType, message: "a request is one JSON object on one line; this is \(root.kind.name)")
        }
        self = try ObjectReader.read(root) { (reader) throws(ProtocolError) in
            do throws(ProtocolError) {
                return ControlRequest(try Operation(reader), id: try reader.string(.id))
            } catch {
                var error = error
                error.id = try? reader.string(.id)
                throw error
            }
        }
    }
}

extension ControlRequest.Operation {
    /// What every op takes.
    static let keys = RequestKeys([.op, .id, .at])

    private static var names: String {
        let words = Name.allCases.map(\.rawValue)
        return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    }

    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let word = try reader.string(.op) else {
            throw ProtocolError(.missingKey, field: "op", message: "op is missing: \(Self.names)")
        }
        guard let name = Name(rawValue: word) else {
            throw ProtocolError(.unknownOperation, field: "op", message: "control.sock takes \(Self.names)")
        }
        switch name {
        case .status:
            try reader.allow(Self.keys)
            self = .status
        case .metrics:
            try reader.allow(Self.keys + [.format])
            self = .metrics(try reader.word(.format, MetricsFormat.self) ?? .openMetrics)
        case .sync:
            try reader.allow(Self.keys + [.timeout])
            let timeout = reader[.timeout] == nil ? 10_000 : try reader.integer(.timeout, in: 0...60_000)
            self = .sync(timeout: .milliseconds(timeout))
        case .claim: self = .claim(try ClaimRequest(reader))
        case .peek:
            try reader.allow(Self.keys + [.after, .limit])
            self = .peek(
                after: EntryNumber(try reader.integer(.after, in: 0...Int64.max)),
                limit: Int(try reader.integer(.limit, in: ClaimRequest.limits)))
        case .depart: self = .depart(try DepartRequest(reader))
        case .settle: self = .settle(try SettleRequest(reader))
        case .sending: self = .sending(try SendingReport(reader))
        case .flush: self = .flush(try FlushRequest(reader))
        case .reset:
            try reader.allow(Self.keys + [.suite, .app])
            self = .reset(suite: try reader.requiredName(.suite), app: try reader.name(.app))
        case .resolve: self = .resolve(try ResolveRequest(reader))
        case .replay: self = .replay(try reader.requests())
        case .purge: self = .purge(try reader.requests())
        case .logLevel:
            try reader.allow(Self.keys + [.level])
            self = .logLevel(try reader.name(.level))
        case .erase: self = .erase(try Person(reader))
        case .reload:
            try reader.allow(Self.keys)
            self = .reload
        }
    }
}

extension ClaimRequest {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + [.instance, .limit, .wait, .holding, .reserve])
        self.init(
            instance: try reader.instance(), limit: Int(try reader.integer(.limit, in: ClaimRequest.limits)),
            waits: try reader.bool(.wait) ?? false,
            holding: reader[.holding] == nil
                ? nil : try numbers(try reader.list(.holding, atMost: ClaimRequest.heldMax), of: .holding),
            reserves: try reader.bool(.reserve) ?? false)
    }
}

extension DepartRequest {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + [.instance, .entries])
        let instance = try reader.instance()
        self.init(instance: instance, entries: try numbers(try reader.entries(), of: .entries))
    }
}

extension SettleRequest {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + [.instance, .entries])
        let instance = try reader.instance()
        let elements = try reader.entries()
        var entries: [Settlement] = []
        for (index, element) in elements.enumerated() {
            do {
                entries.append(try Settlement(element))
            } catch {
                throw error.within("entries[\(index)]")
            }
        }
        self.init(instance: instance, entries: entries)
    }
}

extension Settlement {
    private static let keys = RequestKeys([.number, .state, .reason])

    fileprivate init(_ element: JSONNode) throws(ProtocolError) {
        guard element.kind == .object else {
            throw ProtocolError(.invalidType, message: "an entry is an object; this is \(element.kind.name)")
        }
        self = try ObjectReader.read(element) { (reader) throws(ProtocolError) in
            try reader.allow(Self.keys)
            let number = EntryNumber(try reader.integer(.number, in: 1...Int64.max))
            let state = try reader.state(of: SettleRequest.states)
            let reason = try reader.string(.reason)
            guard reason != nil || state == .sent || state == .queued else {
                throw reader.missing(.reason, ": the reason is kept with the entry")
            }
            return Settlement(number, state, reason: reason)
        }
    }
}

extension SendingReport {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + [.instance, .phase, .reason, .failures, .until])
        guard let phase = try reader.word(.phase, SendingState.Phase.self) else {
            throw reader.missing(.phase, ": \(SendingState.Phase.inWords)")
        }
        let failures = reader[.failures] == nil ? 0 : Int(try reader.integer(.failures, in: 0...1_000_000_000))
        self.init(
            instance: try reader.instance(), phase: phase, reason: try reader.string(.reason), failures: failures,
            until: try reader.time(.until))
    }
}

extension FlushRequest {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + Target.keys + [.suite])
        _ = try reader.requiredName(.app)
        self.init(target: try Target(reader), suite: try reader.name(.suite))
    }
}

extension Person {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + [.externalID, .device])
        switch (try reader.name(.externalID), try reader.name(.device)) {
        case (let user?, nil): self.init(externalID: user)
        case (nil, let device?): self.init(externalID: nil, devices: [device])
        case (nil, nil): throw reader.missing(.externalID, ": give external_id or device")
        case (.some, .some): throw reader.invalid(.device, "give external_id or device, not both")
        }
    }
}

extension ResolveRequest {
    fileprivate init(_ reader: ObjectReader) throws(ProtocolError) {
        try reader.allow(ControlRequest.Operation.keys + [.entries, .state])
        self.init(entries: try Self.entries(reader), state: try reader.state(of: Self.states))
    }

    private static func entries(_ reader: ObjectReader) throws(ProtocolError) -> [EntryNumber]? {
        let value = try reader.required(.entries)
        if value.equals("all") { return nil }
        guard value.kind == .array else {
            throw reader.wrongType(.entries, value, wanted: "a list of entry numbers, or \"all\"")
        }
        guard value.count <= Self.entriesMax else {
            throw reader.invalid(.entries, "entries has at most \(Self.entriesMax)")
        }
        return try numbers(reader.node(value).elements, of: .entries)
    }
}

/// The entry numbers that a list has.
private func numbers(_ elements: [JSONNode], of key: RequestKey) throws(ProtocolError) -> [EntryNumber] {
    var numbers: [EntryNumber] = []
    for (index, element) in elements.enumerated() {
        guard let number = element.int64, number > 0 else {
            throw ProtocolError(
                .invalidValue, field: "\(key.word)[\(index)]", message: "an entry's number is a whole number above 0")
        }
        numbers.append(EntryNumber(number))
    }
    return numbers
}

extension ObjectReader {
    fileprivate func requiredName(_ key: RequestKey) throws(ProtocolError) -> String {
        guard let name = try name(key) else { throw missing(key) }
        return name
    }

    /// Which run of the forwarder asks.
    fileprivate func instance() throws(ProtocolError) -> UUID128 {
        guard let instance = UUID128(try requiredName(.instance)) else {
            throw invalid(.instance, "instance is the UUID of this run of the forwarder: 32 hexadecimal digits")
        }
        return instance
    }

    fileprivate func integer(_ key: RequestKey, in range: ClosedRange<Int64>) throws(ProtocolError) -> Int64 {
        let value = try required(key)
        guard value.kind == .number else { throw wrongType(key, value, wanted: "a number") }
        guard let number = value.int64, range.contains(number) else {
            let limits =
                range.upperBound == .max
                ? "above \(range.lowerBound - 1)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw invalid(key, "\(key.word) is a whole number \(limits)")
        }
        return number
    }

    /// - Parameter most: how many elements it may have; more are not looked at.
    fileprivate func list(_ key: RequestKey, atMost most: Int) throws(ProtocolError) -> [JSONNode] {
        let value = try required(key)
        guard value.kind == .array else { throw wrongType(key, value, wanted: "a list") }
        guard value.count <= most else { throw invalid(key, "\(key.word) has at most \(most)") }
        return node(value).elements
    }

    /// As many entries as one claim may ask for.
    fileprivate func entries() throws(ProtocolError) -> [JSONNode] {
        try list(.entries, atMost: Int(ClaimRequest.limits.upperBound))
    }

    /// The numbers of requests, each once.
    fileprivate func requests() throws(ProtocolError) -> [SequenceNumber] {
        try allow(ControlRequest.Operation.keys + [.requests])
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

    fileprivate func state(of states: [EntryState]) throws(ProtocolError) -> EntryState {
        let words = states.map(\.rawValue).joined(separator: ", ")
        guard let text = try string(.state) else { throw missing(.state, ": \(words)") }
        guard let state = states.first(where: { $0.rawValue == text }) else {
            throw invalid(.state, "state is one of \(words)")
        }
        return state
    }
}

extension ProtocolError {
    /// The same error, of a value that is inside another.
    fileprivate func within(_ path: String) -> ProtocolError {
        var error = self
        error.field = field.map { "\(path).\($0)" } ?? path
        return error
    }
}
