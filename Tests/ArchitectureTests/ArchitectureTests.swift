import Testing

@Suite("Architecture")
struct ArchitectureTests {
    private static let sources = swiftFiles(below: "Sources")
    private static let tests = swiftFiles(below: "Tests")
    private static let codeEndings = [".swift", ".c", ".h", ".sh", ".py"]
    private static let textEndings = codeEndings + [".md"]

    @Test("every folder in Sources has a place in the layers, and every place a folder")
    func everyFolderIsInTheTable() {
        #expect(names(in: "Sources") == ["Core", "Programs", "PushDaemon", "System"])
        let folders = ["Sources/Core", "Sources/Programs", "Sources/System"].flatMap { parent in
            names(in: parent).map { "\(parent)/\($0)" }
        }
        #expect((folders + ["Sources/PushDaemon"]).sorted() == layers.map(\.folder).sorted())
    }

    @Test("the layers equal the targets of Package.swift")
    func theTableEqualsTheManifest() throws {
        let manifest = manifestTargets(try #require(text(of: "Package.swift")))
        for rule in layers {
            #expect(manifest[rule.name] == rule.imports, "\(rule.name): Package.swift and Layers.swift differ")
        }
        let others = Set(manifest.keys).subtracting(layers.map(\.name))
        #expect(
            others == ["CFaultyDisk", "CTestProbe", "TestSupport"],
            "only what tests need is outside the layers")
    }

    @Test(
        "an import leads to a lower layer: a pure target imports pure ones, an adapter no other adapter",
        arguments: layers)
    func layersHold(rule: TargetRule) throws {
        let place = try #require(layers.firstIndex { $0.name == rule.name })
        for name in rule.imports.sorted() {
            let imported = try #require(layers[..<place].first { $0.name == name }, "\(name) is not above \(rule.name)")
            switch rule.layer {
            case .c: Issue.record("\(rule.name): C imports no Swift")
            case .pure: #expect(imported.layer == .pure, "\(rule.name) imports \(name)")
            case .system: #expect(imported.layer < .system, "\(rule.name) imports \(name)")
            case .adapter: #expect(imported.layer < .adapter, "\(rule.name) imports \(name)")
            case .shared: #expect(imported.layer < .shared, "\(rule.name) imports \(name)")
            case .composition: break
            }
        }
    }

    @Test("a target imports only what its layer allows", arguments: layers)
    func importsHold(rule: TargetRule) {
        for file in Self.sources where file.path.hasPrefix("\(rule.folder)/") {
            for problem in file.forbiddenImports(for: rule) { Issue.record("\(problem)") }
        }
    }

    @Test("a floor inside a module names types of the floors below it alone", arguments: moduleFloors.map(\.module))
    func floorsHold(module: String) throws {
        let floors = try #require(moduleFloors.first { $0.module == module })
        for floor in floors.floors {
            #expect(
                Self.sources.contains { floors.floor(of: $0.path)?.folder == floor.folder },
                "\(module)/\(floor.folder) has no file")
        }
        for problem in floors.problems(in: Self.sources) { Issue.record("\(problem)") }
    }

    @Test("no file imports Foundation, not even a test")
    func noFoundation() {
        for problem in (Self.sources + Self.tests).flatMap(\.foundationImports) { Issue.record("\(problem)") }
    }

    @Test("each use of an escape is listed, with a proof directly above")
    func escapesAreProven() {
        for problem in Self.sources.flatMap({ $0.unprovenEscapes(listed: escapes) }) { Issue.record("\(problem)") }
        for file in escapes.flatMap(\.files) {
            #expect(Self.sources.contains { $0.path == file }, "\(file) is listed in Layers.swift and does not exist")
        }
    }

    @Test("the core compares no platform with a single one, so that the compiler finds every switch for a new one")
    func platformsAreSwitchedOver() {
        for file in Self.sources where file.path.hasPrefix("Sources/Core/") {
            for problem in file.platformComparisons { Issue.record("\(problem)") }
        }
    }

    @Test("each link and each citation of a decision names a page that exists")
    func linksLead() {
        let folder = "Sources/PushDaemon/Documentation.docc"
        let pages = files(below: folder, ending: [".md"]).map { page in
            String(page.path.dropLast(".md".count).split(separator: "/").last ?? "")
        }
        let decisions = names(in: "\(folder)/Decisions").map { String($0.dropLast(".md".count)) }
        #expect(pages.contains("Architecture") && decisions.contains("ledger"))
        let below = ["Sources", "Tests", "packaging", "etc"].flatMap { files(below: $0, ending: Self.textEndings) }
        let beside = ["README.md", "CHANGELOG.md", "Package.swift"].compactMap { path in
            text(of: path).map { SourceFile(path: path, text: $0) }
        }
        for problem in (below + beside).flatMap({ $0.danglingLinks(pages: Set(pages), decisions: Set(decisions)) }) {
            Issue.record("\(problem)")
        }
    }

    @Test("README names each library that the build needs")
    func librariesAreNamed() throws {
        let packages = try #require(text(of: "packaging/common.sh")).split { $0.isWhitespace }
            .filter {
                $0.hasSuffix("-dev") && !$0.hasPrefix("libc6") && !$0.hasPrefix("libgcc") && !$0.hasPrefix("libstdc")
            }
        let readme = Set(try #require(text(of: "README.md")).split { $0.isWhitespace || $0 == "`" })
        #expect(packages.count > 8)
        for package in packages { #expect(readme.contains(package), "\(package)") }
    }

    @Test("each condition of a test is a need, which fails with PUSH_TEST_ALL=1")
    func conditionsAreNeeds() {
        for file in Self.tests where file.path != "Tests/TestSupport/TestAll.swift" {
            for problem in file.silentConditions { Issue.record("\(problem)") }
        }
    }

    @Test("a precondition looks and does nothing")
    func preconditionsLook() {
        for problem in Self.sources.flatMap(\.workingPreconditions) { Issue.record("\(problem)") }
    }

    @Test("a comment begins with the noun that acts, not with a clause in its place")
    func commentsBeginWithNouns() {
        let code = ["Sources", "Tests", "packaging"].flatMap { files(below: $0, ending: Self.codeEndings) }
        #expect(code.count > 1000)
        for problem in code.flatMap(\.clausesForNouns) { Issue.record("\(problem)") }
    }

    @Test("the top level holds nothing but the project's own few names")
    func topLevel() {
        #expect(
            names(in: "")
                == ["CHANGELOG.md", "LICENSE", "Package.swift", "README.md", "Sources", "Tests", "etc", "packaging"])
    }

    @Test("no folder holds more than 20 files, so that a reader sees what it is about")
    func foldersAreSmall() {
        let folders = Dictionary(grouping: Self.sources) { file in
            file.path.prefix(upTo: file.path.lastIndex(of: "/") ?? file.path.startIndex)
        }
        for (folder, files) in folders where files.count > 20 {
            Issue.record("\(folder) has \(files.count) files: join those that people change together")
        }
    }

    @Test("no file is longer than 600 lines")
    func filesAreShort() {
        for problem in (Self.sources + Self.tests).flatMap({ $0.excessLength(over: 600) }) {
            Issue.record("\(problem)")
        }
    }

    @Test("the files are found, so that the rules check something")
    func filesAreFound() {
        #expect(Self.sources.contains { $0.path == "Sources/Core/PushModel/Ledger/Ledger.swift" })
        #expect(Self.sources.contains { $0.path == "Sources/Core/PushModel/JSON/JSONScanner.swift" })
        #expect(Self.tests.contains { $0.path == "Tests/ArchitectureTests/ArchitectureTests.swift" })
    }
}
