import Glibc
import TestSupport
import Testing

@Suite("The files of packaging/generate.sh")
struct GeneratedFilesTests: ~Copyable {
    private let directory = TemporaryDirectory()

    @Test("are in the tree as the programs declare them")
    func files() {
        let made = Program(path: "/bin/bash")
            .run([packageRoot + "/packaging/generate.sh", Program(product: "pushctl").path, directory.path])
        #expect(made.end == .exited(0), "\(made.errors)")
        let files = Program(path: "/usr/bin/find").run([directory.path, "-type", "f", "-printf", "%P\\n"]).lines
            .filter { !$0.isEmpty }
        #expect(files.count >= 6, "\(files)")
        for file in files {
            let difference = Program(path: "/usr/bin/diff").run(["\(packageRoot)/\(file)", "\(directory.path)/\(file)"])
            #expect(difference.end == .exited(0), "run packaging/generate.sh: \(file)\n\(difference.output)")
        }
    }
}
