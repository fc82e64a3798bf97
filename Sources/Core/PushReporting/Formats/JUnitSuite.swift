/// A suite of test cases in JUnit XML.
struct JUnitSuite {
    /// One case; without a failure it passes.
    struct Case {
        let name: String
        /// How long it took; `nil` where that says nothing.
        let microseconds: Int64?
        let failure: Failure?
    }

    /// Why a case fails.
    struct Failure {
        let kind: String
        /// In one line.
        let message: String
        /// In many.
        let lines: [String]
    }

    let name: String
    let properties: [(name: String, value: String)]
    let cases: [Case]

    /// How many cases fail.
    var failures: Int { cases.count { $0.failure != nil } }

    /// The document of suites.
    static func document(_ name: String, _ suites: [JUnitSuite]) -> String {
        let cases = suites.reduce(0) { $0 + $1.cases.count }
        let failures = suites.reduce(0) { $0 + $1.failures }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<testsuites name=\"\(name)\" tests=\"\(cases)\" failures=\"\(failures)\" errors=\"0\">\n"
            + suites.map(\.text).joined() + "</testsuites>\n"
    }

    /// The element, with its line feed.
    var text: String {
        let properties = properties.map { "      <property name=\"\($0.name)\" value=\"\(markup($0.value))\"/>\n" }
        return "  <testsuite name=\"\(name)\" tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\" "
            + "skipped=\"0\">\n    <properties>\n\(properties.joined())    </properties>\n"
            + cases.map(text).joined() + "  </testsuite>\n"
    }

    private func text(_ one: Case) -> String {
        let time = one.microseconds.map { " time=\"\(decimal($0, scale: 6))\"" } ?? ""
        let head = "    <testcase classname=\"pushrouterd.\(name)\" name=\"\(markup(one.name))\"\(time)"
        guard let failure = one.failure else { return head + "/>\n" }
        return head + ">\n      <failure type=\"\(failure.kind)\" message=\"\(markup(failure.message))\">"
            + failure.lines.map(markup).joined(separator: "\n") + "</failure>\n    </testcase>\n"
    }
}
