import Glibc
import TestSupport
import Testing

@Suite("The commands of the documentation")
struct DocumentedCommandsTests {
    private static let folder = "Sources/PushDaemon/Documentation.docc"
    private static let pages =
        ["README.md"] + ["Operations", "Protocol", "ThreatModel"].map { "\(folder)/\($0).md" }
        + TestSupport.names(in: "\(packageRoot)/\(folder)/Guides").map { "\(folder)/Guides/\($0)" }

    @Test(
        "run as pasted, and print what the page shows",
        .needs(program: "/usr/bin/python3", of: "python3"),
        .timeLimit(.minutes(30)), arguments: pages)
    func run(page: String) {
        let programs = String(pushctl.path.dropLast("/pushctl".count))
        let script = "\(packageRoot)/Tests/Documentation/run.py"
        let result = Program(path: "/usr/bin/python3").run([script, "--programs", programs, page])
        #expect(result.end == .exited(0), "\(result.output)\(result.errors)")
        print(result.output)
    }

    @Test("the first page links to every other page", arguments: ["", "Guides", "Decisions"])
    func topics(folder: String) throws {
        let path = "\(packageRoot)/\(Self.folder)"
        let first = String(decoding: try #require(readFile("\(path)/Documentation.md")), as: UTF8.self)
        for page in TestSupport.names(in: "\(path)/\(folder)") where page.hasSuffix(".md") && page != "Documentation.md"
        {
            #expect(first.contains("<doc:\(page.dropLast(3))>"), "\(page)")
        }
    }

    @Test("the documentation is short: at most 24 pages, and 37,400 words without the two pages of figures")
    func words() {
        let path = "\(packageRoot)/\(Self.folder)"
        let pages = ["", "Guides/", "Decisions/"].flatMap { folder in
            TestSupport.names(in: "\(path)/\(folder)").filter { $0.hasSuffix(".md") }.map { "\(path)/\(folder)\($0)" }
        }
        let prose = pages.filter { !$0.hasSuffix("/Benchmarks.md") && !$0.hasSuffix("/Reliability.md") }
        let words = prose.map { (readFile($0) ?? []).split { $0 == 32 || $0 == 10 }.count }.reduce(0, +)
        #expect(pages.count <= 24)
        #expect(words <= 37_400, "cut as many words as you add")
    }

    @Test(
        "the pages of figures are those that the last run of Tests/Figures/figures.py gave",
        .needs(program: "/usr/bin/python3", of: "python3"))
    func figures() {
        let script = "\(packageRoot)/Tests/Figures/figures.py"
        let result = Program(path: "/usr/bin/python3").run([script, "pages", "--check"])
        #expect(result.end == .exited(0), "\(result.output)\(result.errors)")
    }

    @Test("the README is short: at most 120 lines")
    func length() throws {
        let readme = try #require(readFile("\(packageRoot)/README.md"))
        #expect(readme.count { $0 == UInt8(ascii: "\n") } <= 120)
    }
}
