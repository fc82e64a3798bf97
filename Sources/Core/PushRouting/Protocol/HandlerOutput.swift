public import PushModel

extension HandlerAnswer.Content {
    /// What an `exec` handler said on standard output beside its exit status.
    ///
    /// An answer is a JSON object that has one of `status`, `result`, `options` and `log`: the whole output, or each line
    /// that is one. Of several the first counts, and all are counted: the handler called its completion that often.
    ///
    /// Of one that was to log something and cannot be read, what is wrong is remarked on: no custom data goes in silence.
    /// So is an output that was cut where no answer is in what was read: what was cut may have been one.
    ///
    /// - Parameters:
    ///   - bytes: what it wrote, as far as it was read.
    ///   - discarded: how many bytes came after them.
    /// - Returns: `nil` when there is no answer. All else is a program's own chatter, and no failure.
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
        if discarded > 0 {
            let cut =
                "its output has \(bytes.count + discarded) bytes, of which \(bytes.count) are read, the most that is"
            self.init(remarks: [fault == nil ? "no answer is found: \(cut)" : "log: nothing is kept: \(cut)"])
        } else if let fault {
            self.init(remarks: ["log: nothing is kept: \(fault)"])
        } else {
            return nil
        }
    }

    /// Why a program's standard output is no answer, for people: who tries a handler out may have meant one.
    ///
    /// - Parameter bytes: what it wrote.
    /// - Returns: a sentence without its end; `nil` when there is an answer, or nothing but white space.
    public static func objection(toOutput bytes: [UInt8]) -> String? {
        guard bytes.contains(where: { !" \t\r\n".utf8.contains($0) }),
            Self(standardOutput: bytes) == nil
        else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        // What looks most like an answer is what was meant as one.
        for candidate in [bytes] + lines {
            guard let root = try? JSONDocument(scanning: candidate).root, root.kind == .object else { continue }
            let names = root.members.map(\.key)
            let near = names.lazy.compactMap { name in nearest(to: name, among: keys).map { (name, $0) } }.first
            return "its object has none of the keys \(keys.joined(separator: ", "))"
                + (near.map { "; \($0.0.prefix(40)) may be meant for \($0.1)" } ?? "")
        }
        guard let candidate = ([bytes] + lines).first(where: { $0.first == UInt8(ascii: "{") }) else {
            return "no line of it is a JSON object"
        }
        do {
            _ = try JSONDocument(scanning: candidate)
            return "no line of it is a JSON object"
        } catch { return "its object cannot be read: \(error.message)" }
    }

    /// What is wrong with what looks like an answer that has a log.
    private static func fault(in bytes: [UInt8]) -> String? {
        guard bytes.first == UInt8(ascii: "{"), bytes.has(#""log""#.utf8) else { return nil }
        do {
            _ = try JSONDocument(scanning: bytes)
            return nil
        } catch { return "its answer cannot be read: \(error.message)" }
    }

    /// What one answer says.
    ///
    /// - Parameters:
    ///   - answer: an object.
    ///   - times: how often it was given.
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

    /// The lines of a program's output that are no answer, as one line for people; `nil` where there are none.
    static func chatter(in bytes: [UInt8], isCut: Bool) -> String? {
        guard answer(in: bytes) == nil else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { answer(in: Array($0)) == nil }
        return excerpt(of: Array(lines.joined(separator: [UInt8(ascii: "\n")])), isCut: isCut)
    }

    /// Takes in earlier lines of the same run: of each fact the first counts, and the status is this one's.
    mutating func follow(_ earlier: HandlerAnswer.Content) {
        let says = result != nil || options != nil || !log.isEmpty
        times = earlier.times + (says ? 1 : 0)
        result = earlier.result ?? result
        options = earlier.options ?? options
        log = earlier.log.isEmpty ? log : earlier.log
        reason = reason ?? earlier.reason
        remarks = earlier.remarks + remarks
    }

    /// `reason`, where that is a text; its beginning, since it stands in reports.
    private static func reason(of answer: JSONNode) -> String? {
        guard let reason = answer["reason"]?.string, !reason.isEmpty else { return nil }
        return reason.count <= reasonLength ? reason : reason.prefix(reasonLength) + "..."
    }

    private static let reasonLength = 400

    /// How many entries and attributes of one answer are kept at most: they are worked off in one turn of the loop.
    private static let entriesMax = 256
    private static let attributesMax = LogRequest.attributesMax

    private mutating func takeLog(_ entries: [JSONNode]) {
        var wrong: [String] = []
        var attributes = 0
        for (index, element) in entries.enumerated() {
            guard index < Self.entriesMax else {
                remarkOnRest(entries.count - index, "one answer has at most \(Self.entriesMax)")
                break
            }
            do throws(ProtocolError) {
                let entry = try LoggedByHandler(element)
                attributes += entry.request.attributeCount
                guard attributes <= Self.attributesMax else {
                    let most = "those of one answer have at most \(Self.attributesMax) attributes together"
                    remarkOnRest(entries.count - index, most)
                    break
                }
                log.append(entry)
            } catch {
                wrong.append("log[\(index)]\(error.field.map { ".\($0.prefix(40))" } ?? ""): \(error.message)")
            }
        }
        // A program that has it wrong has it wrong in all of them.
        remarks += wrong.prefix(3)
        if wrong.count > 3 { remarks.append("log: \(counted(wrong.count - 3, "more is", "more are")) wrong") }
    }

    private mutating func remarkOnRest(_ count: Int, _ limit: String) {
        remarks.append("log: \(counted(count, "entry is", "entries are")) not kept: \(limit)")
    }

    /// The elements of a member; what is no list is remarked on.
    private mutating func list(_ key: String, of what: String, in answer: JSONNode) -> [JSONNode]? {
        guard let list = answer[key] else { return nil }
        if list.kind == .array { return list.elements }
        remarks.append("\(key) is a list of \(what); this is \(list.kind.name)")
        return nil
    }

    /// The member as a word of its set; what is none is remarked on.
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
    /// The value as it came, cut to a length that fits into a message.
    fileprivate var shown: String {
        let text = String(decoding: rawBytes, as: UTF8.self)
        return text.count <= 40 ? text : text.prefix(40) + "..."
    }
}
