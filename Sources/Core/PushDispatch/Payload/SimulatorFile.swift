public import PushModel

/// An `.apns` file, as `xcrun simctl push` reads it.
///
/// Source: the release notes of Xcode 11.4 (an object with `aps`; `Simulator Target Bundle` unless the command line
/// names the app). The limit of 4,096 bytes is that of other tools: `simctl` refuses a longer file without a reason.
/// Its own messages are not public.
public enum SimulatorFile {
    /// The limit of the file, in bytes.
    static let lengthMax = 4096
    /// The key for the bundle id.
    static let targetBundle = "Simulator Target Bundle"

    /// The keys for the simulator alone, which the app does not see.
    private static let keys: Set<String> = [targetBundle, "WatchKit Simulator Actions"]

    /// Whether a key is for the simulator alone.
    static func isOwn(_ key: String) -> Bool { keys.contains(key) }

    /// Whether a key is for the simulator alone.
    static func isOwn(_ key: JSONView) -> Bool {
        // Both keys are long; few others are.
        key.textLength > 20 && key.string.map(keys.contains) == true
    }

    /// Checks a payload as the simulator does.
    ///
    /// - Parameters:
    ///   - payload: the object of the file.
    ///   - length: the size of the file with white space, in bytes; `nil`: only the object is known.
    ///   - path: the place of the object, for the error.
    public static func check(
        _ payload: JSONNode, length: Int? = nil, at path: String = "payload"
    ) throws(PayloadError) {
        try payload.withView { (view) throws(PayloadError) in try check(view, length: length, at: path) }
    }

    static func check(_ payload: JSONView, length: Int? = nil, at path: String) throws(PayloadError) {
        guard payload.member("aps") != nil else {
            throw PayloadError(
                field: "\(path).aps", message: "an .apns file needs aps; the simulator refuses one without it")
        }
        let length = length ?? payload.rawBytes.count
        guard length <= lengthMax else {
            throw PayloadError(
                field: path, message: "an .apns file may have \(lengthMax) bytes; this has \(length)")
        }
    }
}
