import Glibc
import PushModel
import TestSupport
import Testing

/// The command line under test.
let pushctl = Program(product: "pushctl")

/// The directory of the package.
let packageRoot: String = {
    let here = #filePath
    guard let end = here.indices.last(where: { here[$0...].hasPrefix("/Tests/") }) else {
        preconditionFailure("\(here) is not below Tests")
    }
    return String(here[..<end])
}()

/// The configuration as shipped: everything goes to the journal.
let shippedConfiguration = packageRoot + "/etc/pushrouterd"

/// Writes a file for a test; traps when that fails. Folders that are missing are made.
func writeFile(_ text: String, to path: String) {
    for (index, character) in zip(path.indices, path) where character == "/" && index != path.startIndex {
        mkdir(String(path[..<index]), 0o755)
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    precondition(descriptor >= 0, "open \(path): \(String(cString: strerror(errno)))")
    defer { close(descriptor) }
    let count = write(descriptor, text, text.utf8.count)
    precondition(count == text.utf8.count, "write \(path): \(String(cString: strerror(errno)))")
}

/// The JSON value of a line; the test ends when it is none.
func json(_ text: some StringProtocol) throws -> JSONNode {
    try #require(try? JSONDocument(scanning: Array(text.utf8)), "not JSON: \(text)").root
}

extension JSONNode {
    /// The texts of an array.
    var strings: [String] { elements.compactMap(\.string) }

    /// The value as it came.
    var text: String { String(decoding: rawBytes, as: UTF8.self) }
}
