import PushModel
public import PushRouting

extension HandlerAnswer.Reply {
    /// What an `exec` handler said on standard output beside its exit status: nothing, or one JSON object with
    /// `result` and `options`.
    ///
    /// - Returns: `nil` for anything else, such as a program's own chatter; that is no failure.
    public init?(standardOutput bytes: [UInt8]) {
        guard let document = try? JSONDocument(scanning: bytes), document.root.kind == .object else { return nil }
        let root = document.root
        self.init(
            result: root["result"]?.string.flatMap(FetchResult.init(rawValue:)),
            options: root["options"].flatMap { $0.kind == .array ? $0.elements.compactMap(\.string) : nil })
    }
}
