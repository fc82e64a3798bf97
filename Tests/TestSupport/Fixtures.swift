import Glibc

/// The files below `Tests/Fixtures`. A file that is not there is a mistake in the test: it traps, naming the path.
public enum Fixture {
    private static let root: String = {
        let here = #filePath
        guard let end = here.range(ofLast: "/TestSupport/") else {
            preconditionFailure("\(here) is not in TestSupport")
        }
        return here[..<end] + "/Fixtures/"
    }()

    /// The bytes of a file.
    /// The path is relative to `Tests/Fixtures`: `payloads/braze-ios/unity-doc.json`.
    public static func bytes(_ path: String) -> [UInt8] {
        let descriptor = open(root + path, O_RDONLY | O_CLOEXEC)
        precondition(descriptor >= 0, "cannot open \(root + path): \(String(cString: strerror(errno)))")
        defer { close(descriptor) }
        var status = stat()
        precondition(fstat(descriptor, &status) == 0, "cannot stat \(root + path): \(String(cString: strerror(errno)))")
        let size = Int(status.st_size)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = read(descriptor, buffer.baseAddress, size)
            precondition(count == size, "read \(count) of the \(size) bytes of \(root + path)")
        }
    }

    /// The paths of the files in a folder, sorted, as `bytes` takes them.
    /// - Parameters:
    ///   - folder: relative to `Tests/Fixtures`; its subfolders are not looked into.
    ///   - suffix: how the names end.
    /// - Returns: the paths, each beginning with `folder`.
    public static func list(_ folder: String, suffix: String) -> [String] {
        names(in: root + folder).filter { $0.hasSuffix(suffix) }.map { "\(folder)/\($0)" }
    }
}

extension String {
    /// Where the last occurrence of `text` begins.
    fileprivate func range(ofLast text: String) -> Index? {
        indices.last { self[$0...].hasPrefix(text) }
    }
}
