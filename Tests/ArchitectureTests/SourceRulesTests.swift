import Testing

/// The rules themselves, on files that break them.
@Suite("Source rules")
struct SourceRulesTests {
    private func file(_ text: String) -> SourceFile { SourceFile(path: "Sources/A/B.swift", text: text) }

    @Test(
        "an import is found in every form of Swift",
        arguments: [
            "import Glibc", "public import Glibc", "@testable import Glibc", "@preconcurrency public import Glibc",
            "import struct Glibc.stat", "import Glibc.POSIX", "  internal import Glibc // why", "import\tGlibc;",
        ])
    func findsImports(line: String) {
        #expect(file(line).imports.map(\.module) == ["Glibc"])
    }

    @Test(
        "a similar line is no import", arguments: ["// import Glibc", "important()", "let x = \"import\""])
    func ignoresOthers(line: String) {
        #expect(file(line).imports.isEmpty)
    }

    @Test("a forbidden import is named with its file and line")
    func namesForbiddenImports() {
        let source = file("// A file.\nimport PushModel\nimport Glibc\nimport Store\n")
        #expect(
            source.forbiddenImports(for: TargetRule("A", .pure, ["PushModel"])) == [
                "Sources/A/B.swift:3: A (pure) may not import Glibc; the layers are in Layers.swift",
                "Sources/A/B.swift:4: A (pure) may not import Store; the layers are in Layers.swift",
            ])
        #expect(source.forbiddenImports(for: TargetRule("A", .composition, ["PushModel", "Store"])).isEmpty)
    }

    @Test("a floor that names a type of a floor above it is found, in code and in an interpolation, with its imports")
    func findsNamesFromAbove() {
        let floors = ModuleFloors(module: "Sources/A", floors: [Floor("Low", imports: ["B"]), Floor("High", ["Low"])])
        let low = "struct Valve {}\nprivate struct Same {}\n"
        let high = SourceFile(
            path: "Sources/A/High/H.swift", text: "import C\npublic final class Router { let v: Valve }")
        func problems(_ text: String) -> [String] {
            floors.problems(in: [high, SourceFile(path: "Sources/A/Low/L.swift", text: low + text)])
        }
        #expect(problems("let x = Valve() // a Router\nlet text = \"the Router\"\nlet y = x.Router").isEmpty)
        #expect(problems("import Glibc\nimport B\n").isEmpty)
        #expect(problems("let x: [Router] = []").count == 1)
        #expect(problems(#"let text = "a \(Router.self) \"b\"""#).count == 1)
        #expect(problems("import C").first?.hasPrefix("Sources/A/Low/L.swift:3: ") == true)
        let other = SourceFile(path: "Sources/A/Roof.swift", text: "")
        #expect(floors.problems(in: [other]).count == 1)
    }

    @Test("a comparison with one platform is named; one in a comment is ignored")
    func namesPlatformComparisons() {
        let source = file("if platform == .web {}\nif a.platform != .ios {} // why\n// platform == .web\n")
        #expect(source.platformComparisons.count == 2)
        #expect(source.platformComparisons.first?.hasPrefix("Sources/A/B.swift:1: ") == true)
    }

    @Test("a condition that skips a test in silence is named; a need is none")
    func namesSilentConditions() {
        let source = file("@Test(.enabled(" + "if: true))\n@Test(.disabled" + "())\n@Test(.needsRoot)\n")
        #expect(source.silentConditions.map { $0.prefix(18) } == ["Sources/A/B.swift:", "Sources/A/B.swift:"])
    }

    @Test("a precondition that does something is found, and one that looks is not")
    func findsWorkingPreconditions() {
        let source = file(
            "precondition(write(fd, &one, 8) == 8)\nprecondition(json_object_object_add(a, b, c) == 0, \"no\")\n"
                + "precondition(pthread_equal(thread, pthread_self()) != 0)\nprecondition(text.allSatisfy { $0.isLetter })\n"
        )
        #expect(source.workingPreconditions.map { $0.prefix(16) } == ["Sources/A/B.swif", "Sources/A/B.swif"])
        #expect(source.workingPreconditions.map { $0.contains("write") } == [true, false])
    }

    @Test("Foundation is found in all its parts")
    func findsFoundation() {
        #expect(file("import Foundation\nimport FoundationEssentials").foundationImports.count == 2)
    }

    @Test("an escape needs its file in the list and a comment directly above")
    func findsEscapes() {
        let proven = file("/// Only the loop's thread\n/// has it.\nfinal class A: @unchecked Sendable {}")
        let bare = file("\nfinal class A: @unchecked Sendable {}  // safe")
        #expect(proven.unprovenEscapes(listed: [("@unchecked Sendable", ["Sources/A/B.swift"])]).isEmpty)
        #expect(
            proven.unprovenEscapes(listed: [("@unchecked Sendable", ["Sources/A/C.swift"])]) == [
                "Sources/A/B.swift:3: @unchecked Sendable: find another way, or list the file in Layers.swift"
            ])
        #expect(
            bare.unprovenEscapes(listed: [("@unchecked Sendable", ["Sources/A/B.swift"])]) == [
                "Sources/A/B.swift:2: @unchecked Sendable without a comment directly above that proves it"
            ])
        #expect(file("// never try! here").unprovenEscapes(listed: [("try!", [])]).isEmpty)
    }

    @Test("a link and a citation of a page that does not exist are named with file and line")
    func namesDanglingLinks() {
        let (link, folder) = ("<doc:", "Decisions/")
        let source = file("// \(folder)log, \(folder)gone.\n/// \(link)log>, \(link)Old-Guide>, \(link)\n")
        #expect(
            source.danglingLinks(pages: ["log"], decisions: ["log"]) == [
                "Sources/A/B.swift:1: the documentation has no page gone",
                "Sources/A/B.swift:2: the documentation has no page Old-Guide",
            ])
    }

    @Test("a comment that begins with a clause is found")
    func findsClauses() {
        let source = file(
            "/// Who waits for it.\n// What is left.\n/// Whole batches.\nlet x = 1  // Where\n    # Else none.\n")
        #expect(
            source.clausesForNouns
                == [1, 2, 5].map {
                    "Sources/A/B.swift:\($0): begin with the noun that acts, or with a verb"
                })
    }

    @Test("a file of 500 lines passes, one of 501 does not")
    func measuresLength() {
        #expect(file(String(repeating: "\n", count: 500)).excessLength(over: 500).isEmpty)
        #expect(
            file(String(repeating: "\n", count: 501)).excessLength(over: 500) == [
                "Sources/A/B.swift:501: 501 lines; a file has one subject and 500 at most"
            ])
    }

    @Test("targets and their dependencies are read from a manifest, whatever its line breaks")
    func readsManifests() {
        let manifest = """
            func swift(_ name: String) -> Target { .target(name: name) }
            let package = Package(
                targets: [
                    .systemLibrary(name: "CLib", pkgConfig: "lib", providers: [.apt(["lib-dev"])]),
                    .target(name: "CPlain"),
                    // swift("Gone", ["One"]),
                    swift("One", ["CLib", "CPlain"]),
                    swift(
                        "Two",
                        [
                            "One", "CLib",
                        ], exclude: ["Docs"]),
                    .target(name: "Support", dependencies: ["Two"], path: "Tests/Support"),
                    program("three", ["Two"]),
                    tests("OneTests", ["One"]),
                ]
            )
            """
        #expect(
            manifestTargets(manifest) == [
                "CLib": [], "CPlain": [], "One": ["CLib", "CPlain"], "Two": ["One", "CLib"], "Support": ["Two"],
                "three": ["Two"],
            ])
    }
}
