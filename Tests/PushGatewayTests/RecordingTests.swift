import PushGateway
import PushModel
import TestSupport
import Testing

/// A request that the stand-in of the recordings answered otherwise than the gateway does, and why.
private struct Difference {
    var file: String
    var step: String
    var status: Int
    var body: String
    var reason: String
}

private let differences = [
    Difference(
        file: "firebase-admin-python-7.7.0-direct.json", step: "client-side: reserved key", status: 400,
        body: #"{"field":"message.data.from""#, reason: "the stand-in checked nothing; FCM keeps this key for itself"),
    Difference(
        file: "firebase-admin-python-7.7.0-direct.json", step: "client-side: 5000 bytes", status: 400,
        body: #"{"field":"message.data""#, reason: "the stand-in checked nothing; FCM takes 4,096 bytes"),
    Difference(
        file: "google-api-python-client-2.202.0.json", step: "send, validate_only, camelCase", status: 200,
        body: "fake_message_id", reason: "the stand-in did not know the spelling validateOnly"),
    Difference(
        file: "google-api-python-client-2.202.0.json", step: "topicSubscriptions.create", status: 400,
        body: #""field":"topic_name""#, reason: "the discovery document requires topicName"),
    Difference(
        file: "google-api-python-client-2.202.0.json", step: "topicSubscriptions.list", status: 200, body: "{}",
        reason: "the stand-in knew no list; the discovery document says what one is"),
]

@Suite("The recordings")
struct RecordingTests {
    @Test("are met byte for byte, but for the spaces in JSON", arguments: ["fcm", "apns"])
    func areMet(_ folder: String) throws {
        let all = RecordedRequest.all(in: folder)
        #expect(all.count >= 19)
        var replay = Replay()
        var met = 0
        for recorded in all {
            let answer = try replay.answer(recorded)
            if let difference = differences.first(where: { $0.file == recorded.file && $0.step == recorded.step }) {
                #expect(answer.status == difference.status, "\(recorded.testDescription)")
                #expect(answer.text.has(difference.body), "\(recorded.testDescription): \(answer.text)")
                #expect(answer.compactBody != recorded.response.compactBody, "\(recorded.testDescription)")
                continue
            }
            #expect(answer.status == recorded.response.status, "\(recorded.testDescription)")
            #expect(answer.headers == recorded.response.headers, "\(recorded.testDescription)")
            #expect(answer.compactBody == recorded.response.compactBody, "\(recorded.testDescription)")
            met += 1
        }
        let different = all.filter { recorded in
            differences.contains { $0.file == recorded.file && $0.step == recorded.step }
        }
        #expect(met + different.count == all.count)
    }

    @Test("make lines that the daemon reads, with the payload as it came", arguments: ["fcm", "apns"])
    func makeLines(_ folder: String) throws {
        var replay = Replay()
        for recorded in RecordedRequest.all(in: folder) { _ = try replay.answer(recorded) }
        #expect(replay.lines.count > 5)
        for line in replay.lines {
            let request = try read(line)
            guard case .deliver(let deliver) = request.action else {
                Issue.record("no deliver")
                continue
            }
            #expect(deliver.target == line.deliver.target)
            #expect(deliver.transport == line.deliver.transport)
            #expect(deliver.payload.isEquivalent(to: line.deliver.payload))
        }
    }

    @Test("differ from the answers here only where the stand-in was wrong")
    func differencesAreThere() {
        let all = RecordedRequest.all(in: "fcm")
        for difference in differences {
            #expect(all.contains { $0.file == difference.file && $0.step == difference.step }, "\(difference.step)")
            #expect(!difference.reason.isEmpty)
        }
    }
}

/// Reads a line as the daemon does once it takes the gateway's own keys.
func read(_ line: DeliverLine) throws -> Request {
    let bytes = line.bytes
    #expect(bytes.last == UInt8(ascii: "\n"))
    #expect(bytes.dropLast().allSatisfy { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
    return try Request(
        JSONDocument(scanning: Array(bytes.dropLast())),
        allowing: [DeliverLine.messageIDKey, DeliverLine.headersKey])
}
