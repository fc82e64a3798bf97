import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

extension Installation {
    /// The API key of the tests, which must appear nowhere.
    static let apiKey = "secret-5f1c-key"

    /// The file of the key.
    var keyFile: String { root + "/key" }

    /// Sets `[UsersTrack]`, with the key in its file.
    func forward(to server: TrackServer, _ lines: String = "") {
        mkdir(configuration + "/pushrouterd.conf.d", 0o755)
        write(
            "pushrouterd.conf.d/forward.conf",
            "[UsersTrack]\nEndpoint=\(server.url)\nKeyFile=\(keyFile)\nFlush=20ms\n\(lines)\n")
        writeFile(Self.apiKey + "\n", to: keyFile)
        chmod(keyFile, 0o600)
    }

    /// All entries of custom data in the ledger.
    func entries() throws -> [EntryRecord] {
        var entries: [EntryRecord] = []
        try ledger().entries(EntryFilter(states: Set(EntryState.allCases))) { entries.append($0) }
        return entries
    }

    /// Waits until the forwarder has nothing left to do. Reads the notifications of a forwarder that sends many,
    /// because they would fill their socket.
    func waitUntilForwarded(by forwarder: DaemonProcess? = nil) throws {
        try waitUntil("all is sent, or set aside") {
            _ = forwarder?.messages
            return try entries().allSatisfy { ![.queued, .claimed].contains($0.state) }
        }
    }
}

/// Requests that log entries to be sent, each identified by a number.
enum LoggedEntry {
    /// Returns the request line for an entry: events and attributes of eight users.
    static func line(_ number: Int) -> String {
        let head = #"{"op":"log","platform":"android","app":"shop","braze_id":"u\#(number % 8)","#
        return number % 5 == 0
            ? head + #""kind":"custom_attributes","attributes":{"n":\#(number)}}"#
            : head + #""kind":"custom_event","name":"e\#(number % 3)","properties":{"n":\#(number)}}"#
    }

    /// Returns the number in the data of an entry.
    static func number(_ data: some Sequence<UInt8>) throws -> Int {
        let root = try JSONDocument(scanning: Array(data)).root
        return Int(try #require(root["n"]?.int64))
    }
}

/// Compares the server's elements with the ledger: each sent entry occurs once, each unknown one at most once, and any
/// other never; the entries of a user are in order.
func compare(_ entries: [EntryRecord], with taken: [TrackRequest.Element]) throws {
    var times: [Int: Int] = [:]
    var last: [String: Int] = [:]
    for element in taken {
        let number = try LoggedEntry.number(element.data.utf8)
        times[number, default: 0] += 1
        #expect(last[element.user, default: -1] < number, "\(number) came after \(last[element.user] ?? 0)")
        last[element.user] = number
        #expect(element.user == #"braze_id "u\#(number % 8)""#)
        #expect(element.name == (number % 5 == 0 ? nil : "e\(number % 3)"))
    }
    for record in entries {
        let number = try LoggedEntry.number(record.entry.data)
        let count = times.removeValue(forKey: number) ?? 0
        switch record.state {
        case .sent: #expect(count == 1, "\(number) is sent, and came \(count) times")
        case .unknown: #expect(count <= 1, "\(number) is unknown, and came \(count) times")
        default: #expect(count == 0, "\(number) is \(record.state), and came \(count) times")
        }
    }
    #expect(times.isEmpty, "nobody logged \(times.keys)")
}
