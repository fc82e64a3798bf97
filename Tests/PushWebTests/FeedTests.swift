import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Those who listen", .timeLimit(.minutes(30)))
struct LiveFeedsTests {
    private func subscription(
        _ query: String = "", of scene: Scene, rows: Bool = false, after: Int64? = nil, waits: Bool = false
    ) throws -> WebSubscription {
        WebSubscription(
            query: try PushQuery(query, now: Sample.now), position: try scene.source.position(), sendsRows: rows,
            after: after.map(SequenceNumber.init), isWaiting: waits)
    }

    /// The parts by the numbers of those who get them.
    private func parts(_ outputs: [(number: UInt64, output: LiveFeeds.Output)]) -> [UInt64: String] {
        var parts: [UInt64: String] = [:]
        for (number, output) in outputs {
            if case .part(let bytes) = output { parts[number, default: ""] += String(decoding: bytes, as: UTF8.self) }
        }
        return parts
    }

    @Test("cost nothing while nothing is committed, and one reading where they are at one place")
    func cost() throws {
        let scene = Scene([Sample.handed()])
        var feeds = LiveFeeds(scene.desk)
        #expect(feeds.poll().isEmpty && feeds.isEmpty && scene.source.count("changeNumber") == 0)
        for number in 1...3 as ClosedRange<UInt64> { feeds.add(try subscription(of: scene), as: number) }
        #expect(feeds.poll().isEmpty && scene.source.count("changes") == 1)
        for _ in 0..<5 { #expect(feeds.poll().isEmpty) }
        #expect(scene.source.count("changes") == 1 && scene.source.count("changeNumber") == 6)
        scene.source.commit(Sample.handed(42))
        #expect(Set(parts(feeds.poll()).keys) == [1, 2, 3])
        #expect(scene.source.count("changes") == 2)
        #expect(feeds.poll().isEmpty && scene.source.count("changes") == 2)
        for number in 1...3 as ClosedRange<UInt64> { feeds.remove(number) }
        #expect(feeds.isEmpty)
    }

    @Test("get each push as it is now, with the place behind all of them on the last event")
    func stream() throws {
        let scene = Scene([Sample.handled(41, nil)])
        var feeds = LiveFeeds(scene.desk)
        feeds.add(try subscription(of: scene), as: 1)
        _ = feeds.poll()
        scene.source.commit(Sample.handled(41, .handled))
        scene.source.commit(Sample.handed(42))
        let text = try #require(parts(feeds.poll())[1])
        let events = text.split(separator: "\n\n").map { $0.split(separator: "\n") }
        #expect(events.count == 2 && text.hasSuffix("\n\n"))
        #expect(events[0].count == 2 && events[0][0] == "event: push")
        #expect(events[1].count == 3 && events[1][0] == "id: 42.1" && events[1][1] == "event: push")
        let pushes = try events.map { lines in
            let data = try #require(lines.last)
            try #require(data.hasPrefix("data: "))
            return try JSONDocument(scanning: Array(data.dropFirst(6).utf8)).root
        }
        #expect(pushes.map { $0["seq"]?.int64 } == [41, 42])
        #expect(pushes.map { $0["outcome"]?.string } == ["handled", "handed_to_tracker"])
        // A push that does not match moves the position, too.
        feeds.add(try subscription("device:none", of: scene), as: 2)
        scene.source.commit(Sample.handed(43))
        #expect(parts(feeds.poll())[2] == "id: 43.1\n:\n\n")
    }

    @Test("get rows of the list on one line each, the newest fifty")
    func rows() throws {
        let scene = Scene()
        var feeds = LiveFeeds(scene.desk)
        feeds.add(try subscription(of: scene, rows: true), as: 1)
        feeds.add(try subscription(of: scene), as: 2)
        _ = feeds.poll()
        for seq in 1...60 as ClosedRange<Int64> {
            var story = Sample.hostilePush(seq)
            story.request.app = "a\nb\r\nc"
            scene.source.commit(story)
        }
        let found = parts(feeds.poll())
        let events = try #require(found[1]).split(separator: "\n\n").filter { !$0.hasPrefix("event: chips") }
        #expect(events.count == 50 && events.last?.hasPrefix("id: 60.0\n") == true)
        for event in events {
            let lines = event.split { $0.isNewline }
            #expect(lines.count == (event == events.last ? 3 : 2))
            #expect(lines.last?.hasPrefix("data: <li id=\"p") == true)
            #expect(!event.contains("<script>alert(1)") && !event.contains("\"onmouseover="))
        }
        let objects = try #require(found[2])
        #expect(objects.split(separator: "\n\n").count == 60)
        #expect(!objects.unicodeScalars.contains { $0 != "\n" && $0.isSteering })
    }

    @Test("get the numbers on the saved searches again when something came, and lists alone do")
    func counts() throws {
        let scene = Scene([Sample.handled()])
        var feeds = LiveFeeds(scene.desk)
        feeds.add(try subscription("is:problem", of: scene, rows: true), as: 1)
        feeds.add(try subscription(of: scene), as: 2)
        _ = feeds.poll()
        #expect(feeds.poll().isEmpty, "nothing came")
        scene.clock.now = WallTime(milliseconds: scene.clock.now.milliseconds + 1999)
        scene.source.commit(Sample.handled(42, .failed))
        #expect(parts(feeds.poll()).values.allSatisfy { !$0.contains("event: chips") }, "they were counted just now")
        scene.clock.now = WallTime(milliseconds: scene.clock.now.milliseconds + 1)
        let late = parts(feeds.poll())
        let chips = try #require(late[1])
        #expect(chips.hasPrefix("event: chips\ndata: <nav class=\"chips\"") && late[2] == nil)
        #expect(
            chips.contains("<a href=\"/?query=is%3Aproblem\" aria-current=\"true\">Problems <b>1</b></a>"), "\(chips)")
        #expect(chips.split(separator: "\n").count == 2, "an event's data is one line")
        scene.clock.now = WallTime(milliseconds: scene.clock.now.milliseconds + 5000)
        #expect(feeds.poll().isEmpty)
    }

    @Test("wait for the first match, and no longer")
    func wait() throws {
        let scene = Scene([Sample.handed(41)])
        var feeds = LiveFeeds(scene.desk)
        feeds.add(try subscription("id:43", of: scene, after: 42, waits: true), as: 1)
        feeds.add(try subscription(of: scene, after: 43, waits: true), as: 2)
        scene.source.commit(Sample.handed(42))
        #expect(feeds.poll().isEmpty)
        scene.source.commit(Sample.handed(43))
        let outputs = feeds.poll()
        #expect(outputs.map(\.number) == [1])
        guard case .answer(let answer)? = outputs.first?.output else { throw TestFailure("there is no answer") }
        #expect(try answer.root["pushes"]?.elements.map { $0["seq"]?.int64 } == [43])
        #expect(try answer.status == 200 && answer.root["position"]?.string == "43.0")
        scene.source.commit(Sample.handed(44))
        #expect(feeds.poll().map(\.number) == [2] && feeds.isEmpty)
    }

    @Test("go on where there is more already, and after a source that could not be read")
    func again() throws {
        let scene = Scene()
        var feeds = LiveFeeds(scene.desk)
        feeds.add(try subscription(of: scene), as: 1)
        scene.source.hasMore = true
        scene.source.commit(Sample.handed(41))
        #expect(feeds.poll().count == 1)
        scene.source.hasMore = false
        #expect(feeds.poll().isEmpty && scene.source.count("changes") == 2)
        scene.source.commit(Sample.handed(42))
        scene.source.problem = SourceError("it is gone")
        #expect(feeds.poll().isEmpty && !feeds.isEmpty)
        scene.source.problem = nil
        #expect(parts(feeds.poll())[1]?.contains("\"seq\":42") == true)
    }
}

@Suite("The description of the API", .timeLimit(.minutes(30)))
struct OpenAPITests {
    private static let routes = WebRoute.all.filter { $0.kind == .api || $0.kind == .stream }

    @Test("has each address for programs, and no other")
    func paths() throws {
        let root = try JSONDocument(scanning: OpenAPI.document).root
        #expect(root["openapi"]?.string == "3.0.3" && root["info"]?["version"]?.string == pushrouterdVersion)
        let described = root["paths"]?.members.flatMap { path in path.value.members.map { "\($0.key) \(path.key)" } }
        #expect(Set(described ?? []) == Set(Self.routes.map { "\($0.method.lowercased()) \($0.pattern)" }))
        #expect(described?.count == Self.routes.count)
        #expect(try Scene().get("/api/openapi.json").body == OpenAPI.document + [0x0A])
    }

    @Test("has each parameter where it belongs, and says which ones are needed")
    func parameters() throws {
        let root = try JSONDocument(scanning: OpenAPI.document).root
        for route in Self.routes {
            let operation = try #require(root["paths"]?[route.pattern]?[route.method.lowercased()])
            #expect(operation["summary"]?.string == route.meaning)
            let isAct = route.method != "GET"
            let expected =
                (route.path.contains(WebRoute.number) ? ["path seq"] : [])
                + (isAct ? ["header X-Pushrouter"] : route.parameters.map { "query \($0.name)" })
            let found = operation["parameters"]?.elements.map {
                "\($0["in"]?.string ?? "") \($0["name"]?.string ?? "")"
            }
            #expect(found == expected, "\(route.pattern)")
            let needs = operation["parameters"]?.elements.filter { $0["required"]?.bool == true }
                .compactMap { $0["name"]?.string }
            let isNeeded = { (name: String) in
                ["seq", "X-Pushrouter"].contains(name)
                    || route.parameters.contains { !isAct && $0.name == name && $0.isRequired }
            }
            let names = operation["parameters"]?.elements.compactMap { $0["name"]?.string } ?? []
            #expect(needs == names.filter(isNeeded), "\(route.pattern)")
            let schema = operation["requestBody"]?["content"]?["application/json"]?["schema"]
            let fields = isAct ? route.parameters.map(\.name) : []
            #expect((schema?["properties"]?.members.map(\.key) ?? []) == fields, "\(route.pattern)")
            let needed = isAct ? route.parameters.filter(\.isRequired).map(\.name) : []
            #expect((schema?["required"]?.elements.compactMap(\.string) ?? []) == needed, "\(route.pattern)")
            #expect(operation["responses"]?["200"] != nil)
        }
    }

    @Test("has a push with each of its members")
    func push() throws {
        let schema = try JSONDocument(scanning: OpenAPI.document).root["components"]?["schemas"]?["Push"]
        #expect(schema?["properties"]?.members.map(\.key) == PushMember.allCases.map(\.rawValue))
        let push = try Scene([Sample.handed()]).get("/api/pushes").root["pushes"]?.elements.first
        for member in PushMember.allCases {
            let (property, value) = (schema?["properties"]?[member.rawValue], push?[member.rawValue])
            #expect((property?["nullable"]?.bool ?? false) == member.isOptional)
            let kind = try #require(value).kind
            let expected: JSONNode.Kind =
                ["string": .string, "boolean": .bool, "object": .object][member.type] ?? .number
            #expect(kind == expected || kind == .null && member.isOptional, "\(member)")
        }
    }
}
