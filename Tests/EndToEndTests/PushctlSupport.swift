import TestSupport
import Testing

@testable import PushModel

/// The command line under test.
let pushctl = Program(product: "pushctl")

/// Runs the command line in a directory.
func pushctl(in directory: String, _ words: String..., environment: [String: String] = [:]) -> Program.Result {
    pushctl(in: directory, words, environment: environment)
}

/// Runs the command line in a directory.
func pushctl(in directory: String, _ words: [String], environment: [String: String] = [:]) -> Program.Result {
    Program(path: "/bin/sh").run(
        ["-c", "cd \"$0\" && exec \"$@\"", directory, pushctl.path] + words, environment: environment)
}

/// The directory of the package.
let packageRoot: String = {
    let here = #filePath
    guard let end = here.indices.last(where: { here[$0...].hasPrefix("/Tests/") }) else {
        preconditionFailure("\(here) is not below Tests")
    }
    return String(here[..<end])
}()

/// The shipped configuration, which routes everything to the journal.
let shippedConfiguration = packageRoot + "/etc/pushrouterd"

/// Returns the JSON value of a line; fails the test if it is not JSON.
func json(_ text: some StringProtocol) throws -> JSONNode {
    try #require(try? JSONDocument(scanning: Array(text.utf8)), "not JSON: \(text)").root
}

extension JSONNode {
    /// The strings of an array.
    var strings: [String] { elements.compactMap(\.string) }

    /// The value's text, unchanged.
    var text: String { String(decoding: rawBytes, as: UTF8.self) }
}
