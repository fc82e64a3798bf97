import PushModel

/// The endpoint took nothing, and will take nothing of the kind until a person has seen to it.
struct Refusal: Equatable {
    /// What it said.
    var message: String
    /// What a person can do, if no entry is blamed.
    var remedy: String
    /// What it said of which element of `attributes`.
    var attributes: [Int: String]
    /// What it said of which element of `events`.
    var events: [Int: String]

    /// What was wrong and what to do, in one line.
    ///
    /// - Parameter batch: what was in the request: it may blame some of it.
    func reason(for batch: Batch) -> String {
        let blamed =
            (attributes.map { (batch.attributes[$0].entry.number, $1) }
            + events.map { (batch.events[$0].entry.number, $1) })
            .sorted { $0.0 < $1.0 }
        let remedy =
            if let (number, text) = blamed.first {
                "It blames entry \(number): \(text). If you can do without what it blames: pushctl pending --discard "
                    + blamed.map { number, _ in number.description }.joined(separator: ",")
            } else {
                self.remedy
            }
        return "\(message). \(remedy); then: systemctl reload pushrouter-forward"
    }
}
