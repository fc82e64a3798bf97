import Glibc

/// The files below `Tests/Fixtures`. A file that is not there is a mistake in the test: it traps, naming the path.
public enum Fixture {
    private static let root: String = {
        let here = #filePath
        guard let end = here.range(ofLast: "/TestSupport/") else { preconditionFailure("\(here) is not in TestSupport") }
        return here[..<end] + "/Fixtures/"
    }()

    /// The bytes of a file.
    /// - Parameter path: relative to `Tests/Fixtures`: `payloads/braze-ios/unity-doc.json`.
    public static func bytes(_ path: String) -> [UInt8] {
        let descriptor = open(root + path, O_RDONLY | O_CLOEXEC)
        precondition(descriptor >= 0, "cannot open \(root + path): \(String(cString: strerror(errno)))")
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let start = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: 1 << 16))
            let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress?.advanced(by: start), 1 << 16) }
            precondition(count >= 0, "cannot read \(root + path): \(String(cString: strerror(errno)))")
            bytes.removeLast(1 << 16 - count)
            if count == 0 { return bytes }
        }
    }

    /// The paths of the files in a folder, sorted, as `bytes` takes them.
    /// - Parameters:
    ///   - folder: relative to `Tests/Fixtures`; its subfolders are not looked into.
    ///   - suffix: how the names end.
    /// - Returns: the paths, each beginning with `folder`.
    public static func list(_ folder: String, suffix: String) -> [String] {
        guard let directory = opendir(root + folder) else {
            preconditionFailure("cannot open \(root + folder): \(String(cString: strerror(errno)))")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(suffix) { names.append("\(folder)/\(name)") }
        }
        return names.sorted()
    }
}

extension String {
    /// Where the last occurrence of `text` begins.
    fileprivate func range(ofLast text: String) -> Index? {
        indices.last { self[$0...].hasPrefix(text) }
    }
}
