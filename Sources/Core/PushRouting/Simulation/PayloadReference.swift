public import PushModel

/// A line of a scenario with its payload in a file of its own: `"payload_file":"push.json"` in place of `payload`.
///
/// The reader of the scenario reads the file too: a simulation takes complete lines only.
public struct PayloadReference {
    /// The file, as the line names it.
    public let file: String
    private let request: JSONNode

    private static let key = "payload_file"

    /// - Parameters:
    ///   - line: a line of a scenario.
    ///   - number: its number, for the error.
    /// - Returns: `nil` if the line names no file; the reader of the line reports any other fault.
    /// - Throws: if the line names a file in a wrong way.
    public init?(_ line: [UInt8], number: Int) throws(ScenarioError) {
        // The reader of the line checks the depth.
        guard let root = try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)).root,
            let name = root[Self.key], Self.operations.contains(root["op"]?.string ?? "")
        else { return nil }
        guard let file = name.string, !file.isEmpty, !file.utf8.contains(0) else {
            throw ScenarioError(line: number, message: "\(Self.key): must be the path of a file, in a string")
        }
        guard root["payload"] == nil else {
            throw ScenarioError(line: number, message: "\(Self.key): stands in place of payload; leave one of them out")
        }
        self.file = file
        request = root
    }

    /// The operations with a payload.
    private static let operations = [Operation.deliver, .interact].map(\.rawValue)

    /// Returns the line with the payload.
    ///
    /// - Parameters:
    ///   - payload: the object of the file.
    ///   - isAPNs: whether it is an `.apns` file, which makes iOS the platform of a line without one.
    public func line(with payload: JSONNode, isAPNs: Bool) -> [UInt8] {
        var writer = JSONWriter(reserving: request.rawBytes.count + payload.rawBytes.count + 32)
        writer.object { writer in
            for (key, value) in request.members {
                if key == Self.key {
                    writer.member("payload", raw: payload.rawBytes)
                } else {
                    writer.member(key, raw: value.rawBytes)
                }
            }
            if isAPNs, request["platform"] == nil { writer.member("platform", Platform.ios.rawValue) }
        }
        return writer.bytes
    }
}
