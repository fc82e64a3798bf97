import Glibc
import TestSupport
import Testing

@Suite("The manual pages of the package")
struct ManualPageTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private static let groff = "/usr/bin/groff"

    @Test("there is one for each command and each kind of file; groff accepts all, and nests no quotes")
    func pages() {
        let script = packageRoot + "/packaging/man-pages.sh"
        let made = Program(path: "/bin/bash").run([script, Program(product: "pushctl").path, directory.path])
        #expect(made.end == .exited(0), "\(made.errors)")
        let names = Program(path: "/bin/ls").run([directory.path]).lines
        #expect(names.count { $0.hasPrefix("pushctl-") } >= 23, "\(names)")
        for kind in ["handler", "provider", "route", "track"] { #expect(names.contains("pushrouterd.\(kind).5")) }
        #expect(names.contains("pushctl-run-handler.1"))
        guard access(Self.groff, X_OK) == 0 else { return leaveUntested("\(Self.groff) is not installed") }
        for name in names where !name.isEmpty {
            let result = Program(path: Self.groff)
                .run(["-ww", "-mandoc", "-Tutf8", "-P-cbou", directory.path + "/" + name])
            #expect(result.errors.isEmpty, "\(name): \(result.errors)")
            // groff nests the quotes of a line such as ".Pq Ql a , Ql b".
            #expect(result.lines.filter { $0.contains("’’") } == [], "\(name)")
        }
    }
}
