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
