import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// Custom data with another value in the place of each member, and which part of it is kept, and why the rest is not.
@Suite("Each member of custom data")
struct ProbedEntriesTests {
    private static let entries: [(kind: EntryKind, json: String)] = [
        (
            .customEvent,
            #"{"name":"visit","properties":{"text":"a","list":[1],"object":{"k":"v"},"time":{"$time":"x"}}}"#
        ),
        (.customAttributes, #"{"attributes":{"text":"a","list":["x"],"object":{"k":"v"},"add":{"$add":["x"]}}}"#),
        (
            .userAttributes,
            #"{"attributes":{"email":"a@x.example","first_name":"Ada","phone":"+491511234","dob":"2000-02-29","country":"DE","#
                + #""language":"de","gender":"F","time_zone":"UTC","current_location":{"longitude":1,"latitude":2},"#
                + #""email_subscribe":"opted_in","push_subscribe":"subscribed"}}"#
        ),
    ]
    private static let more = [
        #""2000-02-30""#, #""1899-12-31""#, #""+1""#, #""123""#, #""012345678901234""#, #""0123456789012345""#,
        #""a@b""#,
        #""unsubscribed""#, #""Europe/Berlin""#, "90", "90.5", "-90", "180", "-180", "180.5", "181", #"{"$inc":1}"#,
        #"{"$add":["a"],"$remove":["b"]}"#, #"{"$update":[]}"#, "[[1]]", "[1,\"x\"]", "1e400", #""\ud83d\ude00""#,
        #"{"longitude":-180,"latitude":90}"#,
    ]

    @Test("is kept or rejected as Fixtures/custom-data/members.txt has it")
    func members() {
        var found: [String] = []
        let long =
            ProbedJSON.longValues.filter { $0.value.utf8.count < 1200 } + [
                ("501 numbers", "[\((1...501).map(String.init).joined(separator: ","))]"),
                ("500 numbers", "[\((1...500).map(String.init).joined(separator: ","))]"),
            ]
        for (kind, json) in Self.entries {
            found += ["", "\(kind)"]
            let destinations: [EntryDestination] = [.stored(suite: "standard"), .sent(.brazeID("b"))]
            for destination in destinations {
                found += ProbedJSON.table(json, probes: ProbedJSON.values + long + Self.more.map { ($0, $0) }) { text in
                    guard let root = try? JSONDocument(scanning: Array(text.utf8)).root else { return "no JSON" }
                    let entry = CheckedEntry(kind, root, for: destination, CustomDataRules())
                    let parts = entry.rejectedParts.map {
                        "\($0.problem.code.rawValue) \($0.problem.field): \($0.problem.message)"
                    }
                    guard !parts.isEmpty else { return "kept" }
                    return "\(entry.data == nil ? "nothing" : "the rest") kept; \(parts.joined(separator: "; "))"
                }
            }
        }
        Fixture.expect(Array(found.dropFirst()), in: "custom-data/members.txt")
    }
}
