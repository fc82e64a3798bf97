import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel

/// A request with different answers of the recordings' stand-in and of the gateway, and the reason.
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
        body: #"{"field":"message.data","description":"Invalid data payload key: from"}"#,
        reason: "the stand-in checked nothing; FCM keeps this key for itself"),
    Difference(
        file: "firebase-admin-python-7.7.0-direct.json", step: "client-side: 5000 bytes", status: 400,
        body: "Message is too large.", reason: "the stand-in checked nothing; FCM takes 4,096 bytes"),
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
    /// The code of an error on demand in an answer of the stand-in, `"message":"error CODE"`; `nil` for other answers.
    private static func codeOnDemand(_ body: String) -> String? {
        guard let error = try? JSONDocument(scanning: Array(body.utf8)).root["error"],
            let message = error["message"]?.string, message.hasPrefix("error ")
        else { return nil }
        let code = String(message.dropFirst("error ".count))
        return error["details"]?.elements.contains { $0["errorCode"]?.string == code } == true ? code : nil
    }

    @Test("are reproduced byte for byte, except for the spaces in JSON", arguments: ["fcm", "apns"])
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
            met += 1
            // The stand-in of the recordings had texts of its own for errors; the gateway has Google's.
            if let code = Self.codeOnDemand(recorded.response.compactBody) {
                #expect(answer.text.has(#""errorCode":"\#(code)""#), "\(recorded.testDescription): \(answer.text)")
                #expect(!answer.text.has(#""message":"error "#), "\(recorded.testDescription)")
                continue
            }
            if recorded.response.compactBody.has(#""message":"exists""#) {
                #expect(answer.text.has("Requested entity already exists"), "\(recorded.testDescription)")
                continue
            }
            #expect(answer.compactBody == recorded.response.compactBody, "\(recorded.testDescription)")
        }
        let different = all.filter { recorded in
            differences.contains { $0.file == recorded.file && $0.step == recorded.step }
        }
        #expect(met + different.count == all.count)
    }

    @Test("make lines that the daemon reads, with the payload unchanged", arguments: ["fcm", "apns"])
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

    @Test("with bytes changed still get an answer, in JSON or as a page", arguments: [1, 2, 3] as [UInt64])
    func changed(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let all =
            RecordedRequest.all(in: "fcm").shuffled(using: &generator).prefix(60) + RecordedRequest.all(in: "apns")
        var replay = Replay()
        var taken = 0
        for recorded in all {
            for _ in 0..<40 {
                var changed = recorded
                changed.request = recorded.request.changed(&generator)
                let answer = try replay.answer(changed)
                if answer.status == 200 { taken += 1 }
                let isPage = answer.header("content-type")?.hasPrefix("text/") == true
                #expect(answer.body.isEmpty || isPage || (try? JSONDocument(scanning: answer.body)) != nil)
                #expect([200, 400, 401, 403, 404, 405, 409, 410, 413, 429, 500, 502, 503].contains(answer.status))
            }
        }
        #expect(100..<2500 ~= taken, "\(taken): the changes are no good test")
        for line in replay.lines { _ = try read(line) }
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

/// Reads a line as the daemon does when it accepts the gateway's own keys.
func read(_ line: DeliverLine) throws -> Request {
    let bytes = line.bytes
    #expect(bytes.last == UInt8(ascii: "\n"))
    #expect(bytes.dropLast().allSatisfy { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
    return try Request(line: Array(bytes.dropLast()))
}

extension GatewayRequest {
    /// The same request with one to four bytes changed, removed or doubled, in its target, a header or its body.
    fileprivate func changed(_ generator: inout SeededGenerator) -> GatewayRequest {
        var (target, body) = (Array(target.description.utf8), body)
        var headers = headers.map { (name: $0.name, value: Array($0.value.utf8)) }
        func change(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
            guard let place = bytes.indices.randomElement(using: &generator) else { return }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: place)
            default: bytes.insert(bytes[place], at: place)
            }
        }
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: change(&target, &generator)
            case 1:
                if let place = headers.indices.randomElement(using: &generator) {
                    change(&headers[place].value, &generator)
                }
            default: change(&body, &generator)
            }
        }
        return GatewayRequest(
            method: method, target: String(decoding: target, as: UTF8.self),
            headers: headers.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) }, body: body)
    }
}
