import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl import remote-storage", .timeLimit(.minutes(30)))
struct PushctlImportTests {
    private static let folder = packageRoot + "/Tests/Fixtures/remote-storage/"
    private static let binary = folder + "group.com.example.shop.plist"

    private func dryRun(_ file: String, _ arguments: String...) -> Program.Result {
        pushctl.run(
            ["import", "remote-storage", file, "--dry-run", "--config", shippedConfiguration] + arguments)
    }

    @Test("reads the three arrays of a binary and an XML property list and of JSON alike")
    func forms() throws {
        let result = dryRun(Self.binary)
        #expect(result.end == .exited(1), "some entries cannot be sent")
        let requests = try result.lines.map { try json($0) }
        #expect(
            requests.map { "\($0["kind"]?.string ?? "") \($0["name"]?.string ?? $0["attributes"]?.text ?? "")" } == [
                "custom_event article_read", "custom_event article_read", "custom_event gelesen ü", "custom_event sold",
                #"custom_attributes {"plan":"free","tags":["a","b"],"visits":3}"#, "custom_event strayed",
                #"user_attributes {"email":"anna@example.com"}"#, #"user_attributes {"email":"ben@example.com"}"#,
                #"user_attributes {"phone":"+4915112345678"}"#,
            ], "\(result.output)")
        #expect(requests.allSatisfy { $0["op"]?.string == "log" && $0["suite"]?.string == "group.com.example.shop" })
        #expect(requests.first?["properties"]?.text == #"{"paid":true,"section":"sport","share":0.5,"words":812}"#)
        #expect(Set(requests.map { $0["id"]?.string }).count == requests.count, "equal entries are two")
        for other in ["shop.xml.plist", "shop.json"] {
            #expect(
                dryRun(Self.folder + other, "--suite", "group.com.example.shop").output == result.output, "\(other)")
        }
    }

    /// Returns a binary property list: the objects, then the offset table and the trailer.
    private func propertyList(_ objects: [[UInt8]], referenceSize: Int) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        for offset in offsets { bytes += number(offset) }
        return bytes + [0, 0, 0, 0, 0, 0, 8, UInt8(referenceSize)] + number(objects.count) + number(0) + number(table)
    }

    private func run(_ list: [UInt8]) -> Program.Result {
        let directory = TemporaryDirectory()
        let file = directory.path + "/hostile.plist"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        #expect(write(descriptor, list, list.count) == list.count)
        return dryRun(file)
    }

    @Test("a small property list that expands to gigabytes is refused")
    func bomb() {
        let text = [0x5F, 0x12, 0x00, 0x01, 0x86, 0xA0] + [UInt8](repeating: 0x61, count: 100_000)
        let many = [0xAF, 0x11, 0x4E, 0x20] + [UInt8](repeating: 1, count: 20_000)
        let result = run(propertyList([many, text], referenceSize: 1))
        #expect(result.end == .exited(65))
        #expect(
            result.errors.contains("the texts and data of the property list have more than 67108864 bytes"),
            "\(result.errors)")
    }

    @Test("a reference below 0 is reported as damage, without a crash")
    func negativeReference() {
        let list: [UInt8] = [0xA1, 0x80, 0, 0, 0, 0, 0, 0, 0]
        let result = run(propertyList([list], referenceSize: 8))
        #expect(result.end == .exited(65))
        #expect(result.errors.contains("is damaged"), "\(result.errors)")
    }

    @Test("data that cannot form a request, such as a duplicate key, is reported, without a crash")
    func duplicateKey() {
        let key = [0x5F, 0x10, 21] + Array("pending_custom_events".utf8)
        let event: [UInt8] = [0xD3, 4, 5, 5, 4, 4, 4]
        let name = [0x5A] + Array("event_name".utf8)
        let list = propertyList([[0xD1, 1, 2], key, [0xA1, 3], event, name, [0x51, 0x61]], referenceSize: 1)
        let result = run(list)
        #expect(result.end == .exited(65))
        #expect(result.errors.contains("this cannot be sent as a request"), "\(result.errors)")
    }

    @Test("reports every mistake in the samples with its place")
    func mistakes() {
        let errors = dryRun(Self.binary).errors
        for (place, mistake) in [
            ("custom_events[2]", "not sent: event_name is a number, not a string"),
            ("custom_events[3]", "not sent: it has no event_name"),
            ("custom_events[4]", "its name is under eventName, not event_name"),
            ("custom_events[5]", "would be rejected: properties.time: the API reserves this name"),
            ("custom_events[6]", "not sent: bytes is data"),
            ("custom_events[7]", "not sent: it is a string, not a dictionary"),
            ("custom_attributes[1]", "it has event_name, so it is an event"),
            ("custom_attributes[2]", "not sent: it is empty"),
            ("user_attributes[2]", "not sent: its attributeType is not 0"),
            ("user_attributes[3]", "not sent: it has no field"),
            ("user_attributes[4]", "not sent: the data is no encoded UserAttribute"),
            ("user_attributes[5]", "imported as phone, the name of phone_number in /users/track"),
        ] {
            #expect(errors.contains("pending_\(place): \(mistake)"), "\(errors)")
        }
        #expect(errors.split(separator: "\n").count == 12, "\(errors)")
    }

    @Test("logs each entry once, however often the file is imported")
    func idempotent() throws {
        let daemon = try TestDaemon()
        let file = daemon.installation.root + "/defaults.json"
        writeFile(
            #"{"pending_custom_events":[{"event_name":"a","n":1,"m":2},{"event_name":"a","n":1,"m":2}]}"#, to: file)
        func pending() throws -> Int? {
            try json(daemon.pushctl("pending", "--json").output)["entries"]?.count
        }
        let first = daemon.pushctl("import", "remote-storage", file)
        #expect(first.end == .exited(0), "\(first.errors)")
        #expect(first.lines.first == "accepted  seq 1  (pending_custom_events[0])")
        writeFile(
            #"{"pending_custom_events":[{"m":2,"n":1,"event_name":"a"},{"event_name":"a","n":1,"m":2},{"event_name":"b"}]}"#,
            to: file)
        let second = daemon.pushctl("import", "remote-storage", file)
        #expect(second.end == .exited(0), "\(second.errors)")
        #expect(
            second.lines == [
                "accepted before  seq 1  (pending_custom_events[0])",
                "accepted before  seq 2  (pending_custom_events[1])", "accepted  seq 3  (pending_custom_events[2])",
            ])
        #expect(try pending() == 3)
    }

    @Test("reports a key that resembles one of the samples' keys")
    func misspelled() {
        let directory = TemporaryDirectory()
        writeFile(
            #"{"pending_custom_events":[],"pending_events":[{"event_name":"a"}],"theme":"dark"}"#,
            to: directory.path + "/x.json")
        #expect(
            dryRun(directory.path + "/x.json").errors
                == "pushctl: \(directory.path)/x.json: pending_events: not read; did you mean pending_custom_events?\n")
    }

    @Test(
        "a file that is not a storage of the samples is refused with 65",
        arguments: [
            ("{}", "it has none of the keys pending_custom_events, "), ("[]", "it is an array, not a dictionary"),
            ("nonsense", "neither a property list nor JSON: "), ("bplist00", "the property list is cut off"),
            ("bplist00" + String(repeating: "\u{7F}", count: 40), "the trailer of the property list is damaged"),
            ("<?xml version=\"1.0\"?>\n<plist><dict><key>a</key></dict></plist>", "line 2: the key a has no value"),
            ("<plist><array></dict></plist>", "line 1: </dict> stands where </array> is expected"),
            ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>", "line 1: a document type of its own is not read"),
            ("<plist><dict>", "line 1: the file ends before </plist>"),
            ("<plist>" + String(repeating: "<array>", count: 100), "line 1: it nests deeper than 64"),
        ])
    func refused(text: String, message: String) {
        let directory = TemporaryDirectory()
        writeFile(text, to: directory.path + "/x")
        let result = dryRun(directory.path + "/x")
        #expect(result.end == .exited(65))
        #expect(result.errors.hasPrefix("pushctl: \(directory.path)/x: \(message)"), "\(result.errors)")
    }

    @Test("pushctl import refuses every format but remote-storage")
    func usage() {
        #expect(pushctl.run(["import", "avro", "x"]).end == .exited(2))
    }
}
