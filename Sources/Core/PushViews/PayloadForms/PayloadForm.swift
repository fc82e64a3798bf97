public import PushModel
import PushRouter

/// A form of a payload in a file. inject.sock takes JSON; `pushctl` converts the other forms to JSON.
public enum PayloadForm: Hashable, Sendable, CaseIterable {
    /// JSON objects: one on each line, or one over several lines.
    case json
    /// An array of objects.
    case list
    /// The output of `Bundle.toString`, alone or in a line of a log.
    case bundle
    /// The output of `Map.toString`, alone.
    case map
    /// A command that delivers an intent to an app.
    case activityManager
    /// A command that sends a message to FCM or APNs.
    case curl

    /// The name, for people.
    public var name: String {
        switch self {
        case .json: "payloads in JSON"
        case .list: "an array of payloads"
        case .bundle: "the extras of a Bundle, as Android prints it (logcat)"
        case .map: "the data of a RemoteMessage, as Android prints a map"
        case .activityManager: "the extras of an \"am broadcast\" command (also am start; with or without adb shell)"
        case .curl: "the body of a curl command"
        }
    }

    /// The forms other than JSON, for the help text.
    public static var namesOfOthers: String {
        allCases.filter { $0 != .json && $0 != .list }.map(\.name).joined(separator: "; ")
    }

    /// The form of a file, or of the next payload in it, by a line that is not blank. A line of no other form counts as
    /// JSON, and may be faulty.
    public init(ofLine line: [UInt8]) {
        let text = line.drop(while: \.isJSONWhiteSpace)
        switch text.first {
        case UInt8(ascii: "["): self = .list
        case UInt8(ascii: "{"): self = PrintedMap.isMap(text) ? .map : .json
        default:
            let command = ShellWords.program(of: text)
            if command.elementsEqual("curl".utf8) {
                self = .curl
            } else if ["adb", "am"].contains(where: { command.elementsEqual($0.utf8) }) {
                self = .activityManager
            } else {
                self = text.has("Bundle[".utf8) ? .bundle : .json
            }
        }
    }

    /// Whether a line is the begin or the end of a code block in Markdown, as a ticket or a chat has it.
    public static func isFence(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        return text.starts(with: "```".utf8) || text.starts(with: "~~~".utf8)
    }

    /// Whether a line is from Android's log, judged by the text before the message, or from `dumpsys activity`.
    public static func isLog(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        if ["* ", "Intent { "].contains(where: { text.starts(with: $0.utf8) }) { return true }
        let marks = line.prefix(11).map { $0.isDigit ? UInt8(ascii: "0") : $0 }
        let starts = ["00-00 00:00", "0000-00-00 ", "---------"] + "VDIWEF".map { "\($0)/" }
        return starts.contains { marks.starts(with: $0.utf8) }
    }
}

/// A payload as JSON, with the facts about the request that its form has.
public struct WrittenPayload: Sendable {
    /// The payload.
    public let json: [UInt8]
    /// The platform, if only one has such payloads.
    public var platform: Platform?
    /// The app.
    public var app: String?
    /// The host of the service in the form; `nil` if it has none.
    public var host: String?
}

/// A fault in a payload of a form other than JSON.
public struct PayloadFormError: Error, Hashable, Sendable {
    /// The fault and its remedy.
    public let message: String

    init(_ message: String) { self.message = message }
}

/// A payload in a form other than JSON, read line by line until it is complete.
///
/// The time to read it is proportional to its length.
public struct PayloadText: Sendable {
    private enum Content: Sendable {
        case printed(PrintedText)
        case command(ShellWords)
    }

    /// The form.
    public let form: PayloadForm
    private var content: Content
    private var size = 0

    /// Far more than the length of any request.
    private static let sizeMax = 4 << 20

    /// Makes a payload text from its first line; `nil` for JSON.
    public init?(_ form: PayloadForm, line: [UInt8]) throws(PayloadFormError) {
        switch form {
        case .json, .list: return nil
        case .bundle, .map: content = .printed(PrintedText(isBundle: form == .bundle))
        case .activityManager, .curl: content = .command(ShellWords())
        }
        self.form = form
        _ = try add(line)
    }

    /// Whether the payload is complete.
    public var isWhole: Bool {
        switch content {
        case .printed(let text): text.isWhole
        case .command(let words): words.isWhole
        }
    }

    /// Adds a line to a payload that is not complete.
    ///
    /// - Returns: false for a line that does not belong to it.
    public mutating func add(_ line: [UInt8]) throws(PayloadFormError) -> Bool {
        size += line.count
        guard size <= Self.sizeMax else {
            throw PayloadFormError("\(form.name): longer than 4 MiB, without an end")
        }
        switch content {
        case .printed(var text):
            content = .command(ShellWords())
            defer { content = .printed(text) }
            return text.add(line)
        case .command(var words):
            content = .printed(PrintedText(isBundle: true))
            defer { content = .command(words) }
            words.add(line: line)
            return true
        }
    }

    /// Returns the payload as JSON.
    public func payload() throws(PayloadFormError) -> WrittenPayload {
        switch content {
        case .printed(let text): return try text.payload()
        case .command(let words):
            let list = try words.finished()
            return form == .curl ? try CurlCommand(list).payload() : try ActivityManagerCommand(list).payload()
        }
    }
}
