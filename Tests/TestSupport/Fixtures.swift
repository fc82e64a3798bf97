import Glibc

// A build without tests builds this target, too, and has no module Testing.
#if canImport(Testing)
    public import Testing
#endif

/// The files below `Tests/Fixtures`. A missing file is an error of the test and traps with its path.
public enum Fixture {
    private static let root: String = {
        let here = #filePath
        guard let end = here.range(ofLast: "/TestSupport/") else {
            preconditionFailure("\(here) is not in TestSupport")
        }
        return here[..<end] + "/Fixtures/"
    }()

    /// Returns the bytes of a file. The path is relative to `Tests/Fixtures`: `payloads/braze-ios/unity-doc.json`.
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

    /// Replaces a file, for a test that a person asks to write what it found.
    public static func write(_ text: String, to path: String) {
        let descriptor = open(root + path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        precondition(descriptor >= 0, "cannot open \(root + path): \(String(cString: strerror(errno)))")
        defer { close(descriptor) }
        let written = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        precondition(written == text.utf8.count, "wrote \(written) bytes of \(root + path)")
    }

    /// Returns the paths of the files in a folder, sorted, in the form that `bytes` takes.
    /// - Parameters:
    ///   - folder: relative to `Tests/Fixtures`, without subfolders.
    ///   - suffix: the ending of the names.
    /// - Returns: the paths, each beginning with `folder`.
    public static func list(_ folder: String, suffix: String) -> [String] {
        names(in: root + folder).filter { $0.hasSuffix(suffix) }.map { "\(folder)/\($0)" }
    }
}

#if canImport(Testing)
    extension Fixture {
        /// Compares the lines that a test found with those of a file. With `PUSH_TEST_WRITE=1` it writes the file before;
        /// read the difference before you commit it.
        public static func expect(
            _ found: [String], in path: String, _ place: SourceLocation = #_sourceLocation
        ) {
            if getenv("PUSH_TEST_WRITE") != nil { write(found.joined(separator: "\n") + "\n", to: path) }
            let wanted = String(decoding: bytes(path), as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).dropLast().map(String.init)
            let (new, gone) = (Set(found).subtracting(wanted).sorted(), Set(wanted).subtracting(found).sorted())
            #expect(found == wanted, "\(path): found \(new) in place of \(gone)", sourceLocation: place)
        }
    }
#endif

extension String {
    /// Returns the start of the last occurrence of `text`.
    fileprivate func range(ofLast text: String) -> Index? {
        indices.last { self[$0...].hasPrefix(text) }
    }
}
