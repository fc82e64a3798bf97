/// A Swift file: its path from the root of the package, and its lines.
struct SourceFile {
    let path: String
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
        // A text that ends with a line feed has no line after it.
        lines = parts.last?.isEmpty == true ? parts.dropLast() : parts
    }

    private func place(_ index: Int) -> String { "\(path):\(index + 1)" }

    /// The imports in the file, each with its place.
    var imports: [(module: String, place: String)] {
        lines.enumerated().compactMap { index, line in importedModule(line).map { ($0, place(index)) } }
    }

    /// The imports that break the rule of the target.
    func forbiddenImports(for rule: TargetRule) -> [String] {
        imports.compactMap { module, place in
            guard !rule.imports.contains(module), !rule.systemModules.contains(module) else {
                return nil
            }
            return "\(place): \(rule.name) (\(rule.layer)) may not import \(module); the layers are in Layers.swift"
        }
    }

    /// Imports of any part of Foundation.
    var foundationImports: [String] {
        imports.compactMap { module, place in
            module.hasPrefix("Foundation") ? "\(place): \(module) is not used in this project" : nil
        }
    }

    /// Uses of an escape in a file without an entry in the list, or without a comment directly above.
    func unprovenEscapes(listed: [(text: String, files: Set<String>)]) -> [String] {
        var problems: [String] = []
        for (index, line) in lines.enumerated() {
            for escape in listed where code(of: line).contains(escape.text) {
                if !escape.files.contains(path) {
                    problems.append(
                        "\(place(index)): \(escape.text): find another way, or list the file in Layers.swift")
                } else if index == 0 || !trimmed(lines[index - 1]).hasPrefix("//") {
                    problems.append("\(place(index)): \(escape.text) without a comment directly above that proves it")
                }
            }
        }
        return problems
    }

    /// The comment lines that begin with a clause where a noun should stand.
    var clausesForNouns: [String] {
        lines.enumerated().compactMap { index, line in
            let line = trimmed(line)
            guard let mark = ["/// ", "// ", "# "].first(where: line.hasPrefix) else { return nil }
            let word = line.dropFirst(mark.count).prefix { $0.isLetter }
            let clauses: Set<Substring> = ["Who", "Whoever", "What", "Whatever", "Where", "Else", "Such"]
            return clauses.contains(word) ? "\(place(index)): begin with the noun that acts, or with a verb" : nil
        }
    }

    /// Comparisons with one platform: a platform that is new would compile without an answer there.
    var platformComparisons: [String] {
        lines.enumerated().compactMap { index, line in
            let code = code(of: line)
            guard ["platform == .", "platform != ."].contains(where: code.contains) else { return nil }
            return "\(place(index)): ask a property of Platform, whose switch names every platform"
        }
    }

    /// Conditions of tests that would not fail with `PUSH_TEST_ALL=1`.
    var silentConditions: [String] {
        lines.enumerated().compactMap { index, line in
            let code = code(of: line)
            guard [".enabled(" + "if:", ".disabled" + "("].contains(where: code.contains) else { return nil }
            return "\(place(index)): name what the test needs: .needs and the others of TestSupport/TestAll.swift"
        }
    }

    /// Conditions of preconditions that do something: a build without checks would leave it out.
    ///
    /// A call of C is what does something here; those that only look are named.
    var workingPreconditions: [String] {
        let looking: Set<String> = ["pthread_equal", "pthread_self"]
        return lines.enumerated().compactMap { index, line in
            let code = code(of: line)
            guard let begin = code.firstRange(of: "precondition(")?.upperBound else { return nil }
            let end = code[begin...].firstRange(of: ", \"")?.lowerBound ?? code.endIndex
            let calls = code[begin..<end].split { !($0.isLetter || $0.isNumber || "_.(".contains($0)) }
                .compactMap { word in word.split(separator: "(", omittingEmptySubsequences: false).dropLast().last }
            let working = calls.first { name in
                name.contains("_") && name.allSatisfy { !$0.isUppercase && $0 != "." }
                    && !looking.contains(String(name))
                    || ["write", "read", "sigaddset", "close"].contains(name)
            }
            return working.map { "\(place(index)): call \($0) before, and check its result" }
        }
    }

    /// Links of DocC, and citations of decisions by folder and name, that name no page.
    func danglingLinks(pages: Set<String>, decisions: Set<String>) -> [String] {
        lines.enumerated().flatMap { (index, line) -> [String] in
            let links = names(in: line, after: "<doc:").filter { !pages.contains($0) }
            let citations = names(in: line, after: "Decisions/").filter { !decisions.contains($0) }
            return (links + citations).map { "\(place(index)): the documentation has no page \($0)" }
        }
    }

    /// The file, if it is longer than a file may be.
    func excessLength(over limit: Int) -> [String] {
        lines.count > limit
            ? ["\(path):\(limit + 1): \(lines.count) lines; a file has one subject and \(limit) at most"] : []
    }
}

/// The module that a line imports; `nil` for any other line.
private func importedModule(_ line: Substring) -> String? {
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor"]
    var words = code(of: line).split { $0 == " " || $0 == "\t" || $0 == ";" }[...]
    while let word = words.first, word != "import" {
        guard word.hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(word) else {
            return nil
        }
        words.removeFirst()
    }
    words = words.dropFirst()
    if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
    return words.first.map { String($0.prefix { $0 != "." }) }
}

/// A line without its comment.
private func code(of line: Substring) -> Substring {
    guard let start = line.indices.first(where: { line[$0...].hasPrefix("//") }) else { return line }
    return line[..<start]
}

/// The names of letters, digits and hyphens in a line that stand directly behind a text.
private func names(in line: Substring, after text: String) -> [String] {
    guard line.contains(text) else { return [] }
    return line.indices.compactMap { start in
        guard line[start...].hasPrefix(text) else { return nil }
        let name = line[start...].dropFirst(text.count).prefix { $0.isLetter || $0.isNumber || $0 == "-" }
        return name.isEmpty ? nil : String(name)
    }
}

private func trimmed(_ line: Substring) -> Substring { line.drop { $0 == " " || $0 == "\t" } }
