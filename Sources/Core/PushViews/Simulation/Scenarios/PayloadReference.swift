public import PushModel
import PushRouter

/// A line of a scenario whose payload is in a file: `"payload_file":"push.json"` in place of `payload`.
///
/// The reader of the scenario reads that file too, because a simulation takes only complete lines.
public struct PayloadReference {
    /// The file name in the line.
    public let file: String
    private let request: JSONNode

    private static let key = "payload_file"

    /// - Parameters:
    ///   - line: a line of a scenario.
    ///   - number: its line number, for the error.
    /// - Returns: `nil` if the line names no file; the simulation reports any other fault of the line.
    /// - Throws: `ScenarioError` if the line names a file incorrectly.
    public init?(_ line: [UInt8], number: Int) throws(ScenarioError) {
        // The simulation, not this reader, refuses lines that are nested too deeply.
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

    /// Returns the line with the payload in it.
    ///
    /// - Parameters:
    ///   - payload: the object in the file.
    ///   - isAPNs: whether it is an `.apns` file, which is for iOS if the line names no platform.
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
