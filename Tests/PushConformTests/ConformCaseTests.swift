import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews

/// The shipped configuration for an app with some SDKs.
func shippedTable(_ providers: [String]?) throws -> RoutingTable {
    var table = try #require(Settings.load(.shipped).settings?.routing)
    if let providers { table.detection.providers = table.detection.providers.filter { providers.contains($0.name) } }
    return table
}

/// The cases of the program.
func builtInCases(_ providers: [String] = ["braze"]) throws -> [ConformCase] {
    let (all, app) = (try shippedTable(nil), try shippedTable(providers))
    return ConformPush.catalogue(all.detection, app: app.detection).flatMap {
        ConformCase.all(of: $0, by: app) { _, _ in }
    }
}

func parsed(_ line: [UInt8]) throws -> JSONNode { try JSONDocument(scanning: line).root }

func push(_ platform: Platform, _ payload: String, _ path: String = "test/push") throws -> ConformPush {
    let document = try JSONDocument(scanning: Array(payload.utf8))
    return ConformPush(
        path: path, platform: platform,
        deliver: DeliverRequest(target: Target(platform: platform), payload: document.root))
}

/// Braze's own tests, written down once more: they share nothing with the rules.
func isBrazes(_ line: JSONNode) -> Bool {
    switch line["platform"]?.string {
    case "android": return line["data"]?["_ab"]?.string == "true"
    case "ios":
        let userInfo = line["userInfo"]
        return userInfo?["appboy_uninstall_tracking"]?.bool == true
            || userInfo?["appboy_uninstall_tracking"]?.string == "1"
            || userInfo?["ab"]?.kind == .object && userInfo?["ab"]?.count ?? 0 > 0
    default:
        let event = line["event"]
        if line["callback"]?.string == "notificationclick" { return event?["ab_ids"] != nil }
        return event?.members.contains { $0.key.hasPrefix("ab_") } == true
            || event?["cid"]?.string != nil && (event?["t"] != nil || event?["a"] != nil)
    }
}

@Suite("The cases of pushctl conform")
struct ConformCaseTests {
    @Test("have names that are paths, each once, and each row of the table gives one")
    func names() throws {
        let cases = try builtInCases()
        #expect(Set(cases.map(\.name)).count == cases.count)
        let rows = Fixture.lines("\(packageRoot)/Sources/Core/PushViews/Conform/cases.jsonl")
        #expect(rows.count > 50)
        for row in rows {
            let name = try #require(try parsed(row)["name"]?.string)
            #expect(cases.contains { $0.name == name || $0.name.hasPrefix("\(name)/") }, "\(name)")
        }
        let providers = cases.filter { $0.name.split(separator: "/")[1] == "providers" }
        #expect(providers.count > 60)
        #expect(cases.map(\.name).contains("android/braze/near-ab-uppercase"))
    }

    @Test("want Braze to get its own pushes and no other, as its SDKs test them, and completions of iOS once")
    func owners() throws {
        for one in try builtInCases() {
            let line = try parsed(one.line(providers: ["braze"]))
            let want = try #require(line["want"])
            guard line["callback"]?.string != nil else { continue }
            let isNil = line["sdk"]?.string == "nil"
            let brazes = isBrazes(line)
            #expect(want["owner"]?.string == (brazes ? isNil ? nil : "braze" : "own"), "\(one.name)")
            #expect(want["returned"]?.bool.map { $0 == brazes } ?? true, "\(one.name)")
            #expect(want["completions"]?.int64 == (line["platform"]?.string == "android" ? nil : 1), "\(one.name)")
            #expect(want["deadline_ms"]?.int64 == 9000)
            #expect(line["explain"]?.string?.hasPrefix("printf %s ") == true)
        }
    }

    @Test(
        "of a rule meet all its conditions and one of the others; its first probe only if there are neither",
        arguments: [
            (["a", "b"], ["c", "d"], #"{"a":"1","b":"1","c":"1"}"#), ([], ["c", "d"], #"{"c":"1"}"#),
            (["a"], [], #"{"a":"1"}"#), ([], [], #"{"p":"1"}"#),
        ] as [([String], [String], String)])
    func samples(_ all: [String], _ any: [String], _ payload: String) {
        func present(_ keys: [String]) -> [ProviderCondition] { keys.map { .value(at: [$0], .present) } }
        var rule = ProviderRule.PlatformRule(order: 0, all: present(all), any: present(any))
        rule.probes = present(["p", "q"])
        let push = ProviderSample.push(of: ProviderRule(name: "x", title: "X"), rule, on: .android)
        #expect(String(decoding: push.deliver.payload.rawBytes, as: UTF8.self) == payload)
        #expect(push.path == "providers/x" && push.platform == .android)
    }

    @Test("leave a push to the SDK that has a receiver of its own only if the app has that SDK")
    func ownReceiver() throws {
        func owner(_ providers: [String]) throws -> String? {
            let one = try #require(try builtInCases(providers).first { $0.name == "android/providers/onesignal" })
            return try parsed(one.line(providers: providers))["want"]?["owner"]?.string
        }
        #expect(try owner(["braze"]) == "own")
        #expect(try owner(["braze", "onesignal"]) == "own_receiver")
    }

    @Test("have a push that is also Braze's for each SDK of the app, and Braze comes first")
    func shared() throws {
        let names = ["airship", "customerio"].map { "android/braze/with-\($0)" }
        let cases = try builtInCases(["braze", "airship", "customerio"]).filter { names.contains($0.name) }
        #expect(!cases.isEmpty)
        for one in cases {
            #expect(try parsed(one.line(providers: ["braze"]))["want"]?["owner"]?.string == "braze", "\(one.name)")
        }
        #expect(try !builtInCases().contains { $0.name.has("/with-") })
    }

    @Test("say that a tap is lost without a Braze instance, that Android drops a repeat, and who shows the push")
    func answers() throws {
        let lines = try builtInCases().map { try parsed($0.line(providers: ["braze"])) }
        func want(_ name: String) -> JSONNode? { lines.first { $0["name"]?.string == name }?["want"] }
        let tap = want("ios/braze/visible/didReceiveResponse")
        #expect(tap?["tap"]?["counts"]?.bool == true && tap?["tap_without_instance"]?["counts"]?.bool == false)
        #expect(want("ios/braze/visible/didReceiveResponse/nil")?["owner"]?.kind == .null)
        let again = try #require(lines.first { $0["name"]?.string == "android/braze/visible/again" })
        #expect(again["callback"]?.kind == .null && again["want"]?["owner"]?.string == "duplicate")
        #expect(want("ios/braze/silent/again")?["owner"]?.string == "braze")
        #expect(want("android/braze/notification-beside-ab")?["owner"]?.string == "shown_by_system")
        #expect(want("android/braze/notification-beside-ab/foreground")?["owner"]?.string == "braze")
        #expect(want("android/braze/visible")?["shown"]?["by"]?.string == "sdk")
        #expect(want("ios/own/alert")?["shown"]?["by"]?.string == "system")
        #expect(want("ios/own/silent")?["results"]?.elements.compactMap(\.string) == ["newData", "noData", "failed"])
    }

    @Test("are decided again from their lines as they were, and a change is named with its reason")
    func check() throws {
        let table = try shippedTable(["braze"])
        for one in try builtInCases() {
            let again = try ConformCase.changes(in: try parsed(one.line(providers: ["braze"])), by: table)
            #expect(again.changes.isEmpty, "\(one.name): \(again.changes)")
        }
        let one = try #require(try builtInCases().first { $0.name == "android/braze/near-ab-uppercase" })
        let text = String(decoding: one.line(providers: ["braze"]), as: UTF8.self)
        let old = text.replacing(#""owner":"own","returned":false"#, with: #""owner":"braze","returned":true"#)
        let changed = try ConformCase.changes(in: try parsed(Array(old.utf8)), by: table)
        #expect(changed.changes == [#"want.owner: "braze" -> "own""#, "want.returned: true -> false"])
        #expect(changed.why.first?.contains("_ab") == true)
    }

    @Test("have the payload as the app sees it: FCM's alert on iOS, its data without its own keys on Android")
    func seen() throws {
        let table = try shippedTable(["braze"])
        func first(_ push: ConformPush) throws -> JSONNode {
            let one = try #require(ConformCase.all(of: push, by: table) { Issue.record("\($0): \($1)") }.first)
            return try parsed(one.line(providers: ["braze"]))
        }
        let body =
            #"{"message":{"token":"t","notification":{"title":"T","body":"B"},"data":{"k":"v"},"#
            + #""apns":{"payload":{"aps":{"content-available":1}}}}}"#
        let apple = try first(push(.ios, body))["userInfo"]
        #expect(apple?["aps"]?["alert"]?["title"]?.string == "T" && apple?["k"]?.string == "v")
        #expect(apple?["aps"]?["content-available"]?.int64 == 1)
        let extras = #"{"google.message_id":"0:7","from":"1","order":"7"}"#
        let android = try first(push(.android, extras))
        #expect(android["data"]?.members.map(\.key) == ["order"] && android["message_id"]?.string == "0:7")
        var told: [String] = []
        let boolean = try push(.android, #"{"_ab":true}"#)
        #expect(ConformCase.all(of: boolean, by: table) { told.append("\($0): \($1)") }.isEmpty)
        #expect(told == ["android/test/push: payload.data: a value is no string, and FCM gives strings alone"])
    }

    @Test("of production keep no word of a person, and every answer", .timeLimit(.minutes(5)))
    func masked() throws {
        let table = try shippedTable(["braze", "onesignal"])
        let secret =
            #"{"_ab":"true","t":"Hi Anna","a":"Your code 4711, Ünal","cid":"spring","#
            + #""extra":"{\"mail\":\"anna@x.org\"}"}"#
        let masked = try push(.android, secret).masked(by: table)
        let text = String(decoding: masked.deliver.payload.compactBytes, as: UTF8.self)
        #expect(
            text == #"{"_ab":"true","t":"x x","a":"x x 0, x","cid":"x","extra":"{\"mail\":\"x@x.x\"}"}"#, "\(text)")
        for folder in ["braze-android", "braze-ios", "braze-web", "providers"] {
            let platform: Platform = folder == "braze-ios" ? .ios : folder == "braze-web" ? .web : .android
            for file in Fixture.list("payloads/\(folder)", suffix: ".json") {
                let payload = String(decoding: Fixture.bytes(file), as: UTF8.self)
                let plain = try push(platform, payload)
                func answers(_ push: ConformPush) -> [[String]] {
                    ConformCase.all(of: push, by: table) { _, _ in }.map { [$0.name] + $0.want.answer + $0.want.codes }
                }
                #expect(answers(plain) == answers(plain.masked(by: table)), "\(file)")
            }
        }
    }

    @Test("of random pushes keep each answer when they are masked, and no word of a person", .timeLimit(.minutes(5)))
    func maskedRandomly() throws {
        let table = try shippedTable(["braze", "onesignal", "airship"])
        var kept = 0
        for seed in Search.seeds(500) {
            var random = SeededGenerator(seed: seed)
            let platform = Platform.allCases.randomElement(using: &random) ?? .ios
            let plain = try push(platform, Self.payload(platform, &random))
            func answers(_ push: ConformPush) -> [[String]] {
                ConformCase.all(of: push, by: table) { _, _ in }.map { [$0.name] + $0.want.answer + $0.want.codes }
            }
            let masked = plain.masked(by: table)
            let texts = [plain, masked].map { String(decoding: $0.deliver.payload.compactBytes, as: UTF8.self) }
            #expect(answers(plain) == answers(masked), "seed \(seed): \(texts)")
            #expect(!texts[1].has("orro") && !texts[1].has("4711"), "seed \(seed): \(texts)")
            kept += texts[1].has("true") && texts[0].has("orro") ? 1 : 0
        }
        #expect(kept > 0)
    }

    /// A payload with keys that decide, keys that nearly do, and texts of a person.
    private static func payload(_ platform: Platform, _ random: inout SeededGenerator) -> String {
        let words = [
            #""true""#, #""TRUE""#, "true", #""1""#, #""0""#, "1", #""""#, "null", "[]", "{}", #""Zorro 4711""#, "4711",
            #"{"c":"Zorro","n":4711}"#, #""{\"mail\":\"zorro@x.org\"}""#, #""{\"n\":4711""#,
            #"{"a":["Zorro",{"b":"Ünal Zorro"}]}"#,
        ]
        let keys = [
            "_ab", "ab", "cid", "t", "a", "ab_cd", "ab_ids", "extra", "title", "body", "u", "uri", "ab_uri",
            "sync_geofences",
            "appboy_uninstall_tracking", "custom", "com.urbanairship.push.PUSH_ID", "order", "n", "ab_a0_id",
            "push_duration",
            "google.message_id", "collapse_key", "p", "ab_pl", "image", "mutable-content",
        ]
        var members = (0..<Int.random(in: 0...9, using: &random)).map { _ in
            "\"\(keys.randomElement(using: &random) ?? "")\":\(words.randomElement(using: &random) ?? "")"
        }
        if platform == .ios {
            let alerts = [
                #""alert":"Zorro""#, #""alert":{"title":"Zorro 4711","loc-args":["4711"]}"#, #""badge":4711"#, "",
            ]
            let silent = [#""content-available":1"#, #""content-available":"1""#, #""category":"Zorro""#]
            let aps = [alerts, silent].compactMap { $0.randomElement(using: &random) }.filter { !$0.isEmpty }
            members.append("\"aps\":{\(aps.joined(separator: ","))}")
        }
        // A key that stands twice is no push.
        var known: Set<Substring> = []
        members = members.filter { known.insert($0.prefix { $0 != ":" }).inserted }
        return "{\(members.joined(separator: ","))}"
    }
}

extension Fixture {
    /// The lines of a file.
    static func lines(_ path: String) -> [[UInt8]] {
        (readFile(path) ?? []).split(separator: UInt8(ascii: "\n")).map(Array.init)
    }
}

/// The directory of the package.
let packageRoot: String = {
    let here = #filePath
    guard let end = here.indices.last(where: { here[$0...].hasPrefix("/Tests/") }) else {
        preconditionFailure("\(here) is not below Tests")
    }
    return String(here[..<end])
}()
