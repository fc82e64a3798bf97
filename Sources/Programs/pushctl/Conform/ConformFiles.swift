import PushModel
import PushRouter
import PushSettings
import PushViews

/// A file of cases or results: JSON lines, of which each error has its place.
struct ConformFiles {
    /// The most lines of a file.
    private static let linesMax = 100_000

    private let file: InputFile

    private init(_ path: String) throws(Failure) { file = try InputFile(path) }

    /// The place of the last line, for messages.
    private var place: String { "\(file.name):\(file.lineNumber)" }

    /// Reads the next line that is not empty; `nil` at the end.
    private func next<Value>(_ read: (JSONNode) throws(ConformError) -> Value) throws(Failure) -> Value? {
        while let line = try file.nextLine() {
            guard line.contains(where: { !$0.isJSONWhiteSpace }) else { continue }
            guard file.lineNumber <= Self.linesMax else {
                throw Failure(.badData, "\(place): more than \(Self.linesMax) lines")
            }
            let root: JSONNode
            do { root = try JSONDocument(scanning: line).root } catch {
                throw Failure(.badData, "\(place): not JSON: \(error.message)")
            }
            guard root.kind == .object else {
                throw Failure(.badData, "\(place): \(root.kind.name): a line is an object")
            }
            do { return try read(root) } catch { throw Failure(.badData, "\(place): \(error.field): \(error.message)") }
        }
        return nil
    }

    private func heading() throws(Failure) -> ConformHeading {
        guard let heading = try next(ConformHeading.init) else {
            throw Failure(.badData, "\(file.name): no cases: make them with pushctl conform cases")
        }
        return heading
    }

    /// Decides the cases of a file again, and prints what has changed.
    static func check(_ path: String, _ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        let lines = try ConformFiles(path)
        let heading = try lines.heading()
        let settings = try session.settings(arguments, usual: heading.providers)
        let present = try ConformCases.heading(session, arguments.providers ?? heading.providers)
        let facts = [(heading.model, present.model), (heading.configuration, present.configuration)]
        for (was, now) in facts where was != now { session.output.note("the file was made by \(was), this is \(now)") }
        var (count, changed) = (0, 0)
        while let one = try lines.next({ (line) throws(ConformError) in
            try ConformCase.changes(in: line, by: settings.routing)
        }) {
            count += 1
            guard !one.changes.isEmpty else { continue }
            changed += 1
            session.output.print(
                "\(lines.place): \(one.name.showingControls())\n"
                    + one.changes.map { "  \($0.showingControls())\n" }.joined()
                    + one.why.map { "  why: \($0.showingControls())\n" }.joined())
        }
        session.output.print("\(counted(count, "case")), \(changed) changed\n")
        return changed == 0 ? .done : .no
    }

    /// Judges the results of a team's tests.
    static func judge(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        guard arguments.operands.count == 2 else { throw arguments.usageFailure("judge takes one file: RESULTS") }
        guard let path = arguments[.cases] else { throw arguments.usageFailure("--cases FILE is missing") }
        let file = try ConformFiles(path)
        let heading = try file.heading()
        var (cases, names): ([JudgedCase], Set<String>) = ([], [])
        while let one = try file.next(JudgedCase.init) {
            guard names.insert(one.name).inserted else {
                throw Failure(.badData, "\(file.place): name: a second case \(one.name.showingControls())")
            }
            cases.append(one)
        }
        let lines = try ConformFiles(arguments.operands[1])
        var results: [String: ConformResult] = [:]
        while let result = try lines.next(ConformResult.init) {
            guard names.contains(result.name) else {
                let near = suggestion(for: result.name, among: names)
                throw Failure(
                    .badData, "\(lines.place): name: \(path) has no case \(result.name.showingControls())\(near)")
            }
            guard results.updateValue(result, forKey: result.name) == nil else {
                throw Failure(.badData, "\(lines.place): name: a second line for \(result.name.showingControls())")
            }
        }
        let judgement = ConformJudgement(
            heading, cases, results, known: try arguments[.known].map(known) ?? [])
        switch arguments.word(.format, ConformFormat.self) ?? .text {
        case .text: session.output.print(judgement.lines)
        case .junit: session.output.write(judgement.junit.utf8)
        case .json: session.output.write(document: judgement.json)
        }
        return judgement.isAsExpected ? .done : .no
    }

    private static func known(_ path: String) throws(Failure) -> [KnownFault] {
        let file = try InputFile(path)
        var entries: [KnownFault] = []
        while let line = try file.nextLine() {
            let place = "\(file.name):\(file.lineNumber)"
            guard entries.count < linesMax else { throw Failure(.badData, "\(place): more than \(linesMax) lines") }
            do {
                let entry = try KnownFault(String(decoding: line, as: UTF8.self), at: place)
                entries += [entry].compactMap(\.self)
            } catch { throw Failure(.badData, "\(place): \(error.field): \(error.message)") }
        }
        return entries
    }
}
