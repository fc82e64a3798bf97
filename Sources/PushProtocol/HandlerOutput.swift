import PushModel
public import PushRouting

extension HandlerAnswer.Reply {
    /// What an `exec` handler said on standard output beside its exit status: nothing, or one JSON object with
    /// `result` and `options`. Of several, each on a line of its own, the first counts.
    ///
    /// - Returns: `nil` for anything else, such as a program's own chatter; that is no failure.
    public init?(standardOutput bytes: [UInt8]) {
        if let only = Self.object(bytes) {
            self.init(only)
            return
        }
        var answers: [JSONNode] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let object = Self.object(Array(line)) else { return nil }
            // A program may log in JSON, too.
            if Self.keys.contains(where: { object[$0] != nil }) { answers.append(object) }
        }
        guard let first = answers.first else { return nil }
        self.init(first)
        times = answers.count
    }

    /// What an answer has, at least one of them where there are several lines.
    private static let keys = ["status", "result", "options", "log"]

    private init(_ answer: JSONNode) {
        self.init(
            result: answer["result"]?.string.flatMap(FetchResult.init(rawValue:)),
            options: answer["options"].flatMap { $0.kind == .array ? $0.elements.compactMap(\.string) : nil })
    }

    private static func object(_ bytes: [UInt8]) -> JSONNode? {
        guard let document = try? JSONDocument(scanning: bytes), document.root.kind == .object else { return nil }
        return document.root
    }
}
