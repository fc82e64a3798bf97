import Glibc

/// The root of the package: this file is in `Tests/ArchitectureTests`.
let root = String(#filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 })

/// The names in a folder of the package, sorted; hidden ones are left out.
func names(in folder: String) -> [String] {
    guard let directory = opendir("\(root)/\(folder)") else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { bytes in
            bytes.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
}

/// The text of a file of the package; `nil` if it cannot be read, like a folder.
func text(of path: String) -> String? {
    guard let file = fopen("\(root)/\(path)", "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        guard count > 0 else { return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
        bytes += chunk[..<count]
    }
}

/// All Swift files below a folder of the package, in the order of their paths.
func swiftFiles(below folder: String) -> [SourceFile] { files(below: folder, ending: [".swift"]) }

/// The files below a folder of the package whose names have one of the endings, in the order of their paths.
func files(below folder: String, ending endings: [String]) -> [SourceFile] {
    names(in: folder).flatMap { name -> [SourceFile] in
        let path = "\(folder)/\(name)"
        guard endings.contains(where: { name.hasSuffix($0) }) else { return files(below: path, ending: endings) }
        return text(of: path).map { [SourceFile(path: path, text: $0)] } ?? []
    }
}
