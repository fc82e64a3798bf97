@testable import PushViews

/// A folder of a module that holds several floors: it names types of the floors below it alone.
struct Floor {
    let folder: String
    /// The folders of the same module whose types it may name, beside its own.
    let below: Set<String>
    /// The modules that it may import; `nil`: all that its target may.
    let imports: Set<String>?

    init(_ folder: String, _ below: Set<String> = [], imports: Set<String>? = nil) {
        (self.folder, self.below, self.imports) = (folder, below, imports)
    }
}

/// The floors of a module. The compiler holds the borders between modules, the tests those between floors.
struct ModuleFloors {
    let module: String
    let floors: [Floor]

    /// The floor of a file: the one with the longest folder that holds it.
    func floor(of path: String) -> Floor? {
        floors.filter { path.hasPrefix($0.folder.isEmpty ? "\(module)/" : "\(module)/\($0.folder)/") }
            .max { $0.folder.count < $1.folder.count }
    }
}

/// The floors inside the modules; a floor with the name "" has the files that are in no other one.
let moduleFloors = [
    ModuleFloors(
        module: "Sources/Core/PushModel",
        floors: [Floor(""), Floor("Figures", [""]), Floor("Fleet", [""]), Floor("Settings", [""])]),
    ModuleFloors(
        module: "Sources/Core/PushRouter",
        floors: [
            Floor("Dispatch"), Floor("Tracking"), Floor("CustomData"),
            Floor("Routing", ["Dispatch", "Tracking", "CustomData"]),
        ]),
    ModuleFloors(
        module: "Sources/Core/PushSettings", floors: [Floor("", ["HTTPBridge"]), Floor("HTTPBridge"), Floor("Hosts")]),
    ModuleFloors(
        module: "Sources/Core/PushViews",
        floors: [
            Floor("Reporting"), Floor("Simulation", ["Reporting"]), Floor("PayloadForms"),
            Floor("Query", ["Reporting"]),
            Floor("Accidents", ["Simulation"]),
            Floor("Conform", ["Accidents", "Simulation", "Reporting"]),
            Floor("Reconcile", ["Query", "Reporting"]),
            Floor("Web", ["Accidents", "Query", "Reporting", "Simulation", "PayloadForms"]),
        ]),
    ModuleFloors(
        module: "Sources/System/LinuxSystem",
        floors: [
            Floor("Basics", imports: ["CLinux"]),
            Floor("Loop", ["Basics"], imports: ["CSystemd", "PushModel"]),
            Floor("Sockets", ["Basics"], imports: ["CLinux"]),
            Floor("Journal", ["Basics"], imports: ["CSystemd", "PushModel"]),
            Floor("SettingsFiles", ["Basics"], imports: ["PushModel", "PushRouter", "PushSettings"]),
            Floor("DaemonClient", ["Basics", "Sockets"], imports: ["PushModel"]),
            Floor("Service", ["Basics", "Loop", "Journal", "SettingsFiles"], imports: ["PushModel", "PushSettings"]),
        ]),
    ModuleFloors(module: "Sources/System/HTTPServer", floors: [Floor(""), Floor("Sockets", [""])]),
    ModuleFloors(module: "Sources/System/HTTPClient", floors: [Floor(""), Floor("Sending", [""])]),
    ModuleFloors(
        module: "Sources/Programs/pushrouter-forward",
        floors: [
            Floor("", ["Forwarding"]), Floor("Forwarding", imports: ["PushModel", "PushRouter", "PushSettings"]),
        ]),
]

extension ModuleFloors {
    /// Names of types that a file of the module takes from a floor that is not below its own, and imports that its
    /// floor does not allow.
    func problems(in files: [SourceFile]) -> [String] {
        let files = files.filter { $0.path.hasPrefix("\(module)/") }
        var homes: [String: Set<String>] = [:]
        for file in files {
            guard let floor = floor(of: file.path) else { continue }
            for name in file.declaredTypes { homes[name, default: []].insert(floor.folder) }
        }
        // A name that is also an inner type's or a generic parameter's tells nothing.
        for name in files.flatMap(\.innerTypes) { homes[name] = nil }
        return files.flatMap { file -> [String] in
            guard let floor = floor(of: file.path) else {
                return ["\(file.path): is on no floor of \(module); the floors are in Floors.swift"]
            }
            let imports = file.imports.filter { module, _ in
                floor.imports.map { !$0.contains(module) && !["Glibc", "Synchronization"].contains(module) } ?? false
            }
            let named = file.usedTypes.sorted().filter { name in
                // A name that is declared on several floors tells nothing.
                guard let homes = homes[name], homes.count == 1, let home = homes.first else { return false }
                return home != floor.folder && !floor.below.contains(home)
            }
            return imports.map { "\($1): the floor \"\(floor.folder)\" may not import \($0)" }
                + named.map { name in
                    "\(file.path): names \(name) of \"\(homes[name]?.first ?? "")\", which is not below "
                        + "\"\(floor.folder)\"; the floors are in Floors.swift"
                }
        }
    }
}

extension SourceFile {
    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "actor"]

    /// The types that are declared at the outer level of the file.
    var declaredTypes: [String] {
        lines.compactMap { line in
            guard let first = line.first, first.isLetter || first == "@" else { return nil }
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            // A private type is its file's alone.
            guard !words.contains("private"), !words.contains("fileprivate"),
                let kind = words.firstIndex(where: Self.kinds.contains), kind + 1 < words.count,
                words[..<kind].allSatisfy({ !["extension", "func", "var", "let"].contains($0) })
            else { return nil }
            return String(words[kind + 1])
        }
    }

    /// The types that are declared inside others, and generic parameters.
    var innerTypes: [String] {
        lines.flatMap { line -> [String] in
            let code = withoutTexts(line)
            let parameters = code.split(separator: "<").dropFirst().map { $0.prefix { $0.isLetter } }
            let isGeneric = Self.kinds.union(["func", "init", "extension"]).contains { code.contains("\($0) ") }
            let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            let kind = code.first == " " ? words.firstIndex(where: Self.kinds.contains) : nil
            return (isGeneric ? parameters.map(String.init) : [])
                + [kind.flatMap { $0 + 1 < words.count ? String(words[$0 + 1]) : nil }].compactMap(\.self)
        }
    }

    /// The words of the code that begin with a capital letter and are no members: names of types.
    var usedTypes: Set<String> {
        var names: Set<String> = []
        for line in lines {
            var word = ""
            var before: Character = " "
            var last: Character = " "
            for character in withoutTexts(line) + " " {
                if character.isLetter || character.isNumber || character == "_" {
                    if word.isEmpty { before = last }
                    word.append(character)
                } else if !word.isEmpty {
                    if word.first?.isUppercase == true, before != "." { names.insert(word) }
                    word = ""
                }
                last = character
            }
        }
        return names
    }
}

/// A line without its comment and the texts of its literals; what a text interpolates stays.
private func withoutTexts(_ line: Substring) -> String {
    var code = ""
    // The depth of parentheses at which each open interpolation began.
    var interpolations: [Int] = []
    var (depth, isText, last): (Int, Bool, Character) = (0, false, " ")
    for character in line {
        if isText {
            if character == "(", last == "\\" {
                interpolations.append(depth)
                (depth, isText) = (depth + 1, false)
            } else if character == "\"", last != "\\" {
                isText = false
            }
        } else if character == "\"" {
            isText = true
        } else {
            if character == "/", last == "/" { return code }
            if character == "(" { depth += 1 }
            if character == ")" {
                depth -= 1
                if interpolations.last == depth {
                    interpolations.removeLast()
                    isText = true
                }
            }
            code.append(character)
        }
        last = last == "\\" && character == "\\" ? " " : character
    }
    return code
}
