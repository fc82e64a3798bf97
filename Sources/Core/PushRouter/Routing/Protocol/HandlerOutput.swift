public import PushModel

extension HandlerAnswer.Content {
    /// Parses the answer in an `exec` handler's standard output.
    ///
    /// An answer is a JSON object with one of `status`, `result`, `options` and `log`: the whole output, or each line
    /// that is one. The first of several answers counts; `times` is their number, because the handler called its
    /// completion that often.
    ///
    /// An unreadable answer becomes a remark, so that nothing is lost silently. So does truncated output without an
    /// answer: the missing part may have had one.
    ///
    /// - Parameters:
    ///   - bytes: the output, as far as the daemon read it.
    ///   - discarded: the number of bytes after `bytes` that the daemon discarded.
    /// - Returns: `nil` if there is no answer. Other output of a program is no failure.
    public init?(standardOutput bytes: [UInt8], discarded: Int = 0) {
        if let answer = Self.answer(in: bytes) {
            self.init(answer: answer)
            return
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        let answers = lines.compactMap(Self.answer)
        if let first = answers.first {
            self.init(answer: first, times: answers.count)
            return
        }
        let fault = ([bytes] + lines).lazy.compactMap(Self.fault).first
        let cut =
            discarded > 0
            ? "the output has \(bytes.count + discarded) bytes; the daemon reads the first \(bytes.count)" : nil
        guard let reason = cut ?? fault else { return nil }
        let isOfLog = fault != nil && bytes.has(#""log""#.utf8)
        self.init(remarks: ["\(isOfLog ? "log: nothing is kept" : "no answer is found"): \(reason)"])
    }

    /// Explains to people why a program's standard output is no answer, although its author may have meant one.
    ///
    /// - Parameter bytes: the output.
    /// - Returns: a sentence without a full stop; `nil` if there is an answer, or only white space.
    public static func objection(toOutput bytes: [UInt8]) -> String? {
        guard bytes.contains(where: { !" \t\r\n".utf8.contains($0) }),
            Self(standardOutput: bytes)?.times ?? 0 == 0
        else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        // The first JSON object in the output is most likely the intended answer.
        for candidate in [bytes] + lines {
            guard let root = try? JSONDocument(scanning: candidate).root, root.kind == .object else { continue }
            let names = root.members.map(\.key)
            let near = names.lazy.compactMap { name in nearest(to: name, among: keys).map { (name, $0) } }.first
            return "the object has none of the keys \(keys.joined(separator: ", "))"
                + (near.map { "; \($0.0.prefix(40)) may be meant for \($0.1)" } ?? "")
        }
        guard let candidate = ([bytes] + lines).first(where: { $0.first == UInt8(ascii: "{") }) else {
            return "no line of the output is a JSON object"
        }
        do {
            _ = try JSONDocument(scanning: candidate)
            return "no line of the output is a JSON object"
        } catch { return "the object cannot be read: \(error.message)" }
    }

    /// Returns the fault of a text that looks like an answer.
    private static func fault(in bytes: [UInt8]) -> String? {
        guard bytes.first == UInt8(ascii: "{"), keys.contains(where: { bytes.has("\"\($0)\"".utf8) }) else {
            return nil
        }
        do {
            _ = try JSONDocument(scanning: bytes)
            return nil
        } catch { return "the answer cannot be read: \(error.message)" }
    }

    /// Takes the content of one answer.
    ///
    /// - Parameters:
    ///   - answer: the JSON object.
    ///   - times: the number of answers in the handler's output; this one, the first, counts.
    public init(answer: JSONNode, times: Int = 1) {
        self.init(times: times)
        result = word("result", of: answer)
        reason = Self.reason(of: answer)
        status = word("status", of: answer)
        if let list = list("options", of: "strings", in: answer) {
            options = list.compactMap(\.string)
            remarks += list.filter { $0.kind != .string }.map { "options: \($0.shown) is not a string" }
        }
        if let entries = list("log", of: "objects", in: answer) { takeLog(entries) }
    }

    /// Merges earlier lines of the same run: the first value of each field counts, but the status is this line's.
    mutating func follow(_ earlier: HandlerAnswer.Content) {
        let says = result != nil || options != nil || !log.isEmpty
        times = earlier.times + (says ? 1 : 0)
        result = earlier.result ?? result
        options = earlier.options ?? options
        log = earlier.log.isEmpty ? log : earlier.log
        let reasons = [reason, earlier.reason].compactMap(\.self)
        reason = reasons.isEmpty ? nil : reasons.joined(separator: ": ")
        remarks = earlier.remarks + remarks
    }

    /// Returns `reason` if it is a string, shortened for reports.
    private static func reason(of answer: JSONNode) -> String? {
        guard let reason = answer["reason"]?.string, !reason.isEmpty else { return nil }
        return reason.count <= reasonLength ? reason : reason.prefix(reasonLength) + "..."
    }

    private static let reasonLength = 400

    /// The limits of entries and attributes in one answer: one turn of the loop handles them all.
    private static let entriesMax = 256
    private static let attributesMax = LogRequest.attributesMax

    private mutating func takeLog(_ entries: [JSONNode]) {
        var wrong: [String] = []
        var attributes = 0
        for (index, element) in entries.enumerated() {
            guard index < Self.entriesMax else {
                remarkOnOmitted(entries.count - index, "one answer has at most \(Self.entriesMax)")
                break
            }
            do throws(ProtocolError) {
                let entry = try LoggedByHandler(element)
                attributes += entry.request.attributeCount
                guard attributes <= Self.attributesMax else {
                    let most = "the entries of one answer have at most \(Self.attributesMax) attributes together"
                    remarkOnOmitted(entries.count - index, most)
                    break
                }
                log.append(entry)
            } catch {
                wrong.append("log[\(index)]\(error.field.map { ".\($0.prefix(40))" } ?? ""): \(error.message)")
            }
        }
        // A program with a wrong entry usually has all entries wrong.
        remarks += wrong.prefix(3)
        if wrong.count > 3 { remarks.append("log: \(counted(wrong.count - 3, "more is", "more are")) wrong") }
    }

    private mutating func remarkOnOmitted(_ count: Int, _ limit: String) {
        remarks.append("log: \(counted(count, "entry is", "entries are")) not kept: \(limit)")
    }

    /// Returns the elements of a member; remarks on a member that is no list.
    private mutating func list(_ key: String, of what: String, in answer: JSONNode) -> [JSONNode]? {
        guard let list = answer[key] else { return nil }
        if list.kind == .array { return list.elements }
        remarks.append("\(key) is a list of \(what); this is \(list.kind.name)")
        return nil
    }

    /// Returns the member as a word of its set; remarks on any other value.
    private mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String, of answer: JSONNode)
        -> Word?
    {
        guard let value = answer[key] else { return nil }
        if let word = value.string.flatMap(Word.init(rawValue:)) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        remarks.append("\(key): \(value.shown) is not one of \(words)")
        return nil
    }

    private static func answer(in bytes: [UInt8]) -> JSONNode? {
        guard let root = try? JSONDocument(scanning: bytes).root, keys.contains(where: { root[$0] != nil }) else {
            return nil
        }
        return root
    }

    private static let keys = ["status", "result", "options", "log"]
}

extension LoggedByHandler {
    fileprivate init(_ element: JSONNode) throws(ProtocolError) { self.init(try LogRequest(loggedByHandler: element)) }
}

extension JSONNode {
    /// The JSON text of the value, cut to fit into a message.
    fileprivate var shown: String {
        let text = String(decoding: rawBytes, as: UTF8.self)
        return text.count <= 40 ? text : text.prefix(40) + "..."
    }
}
