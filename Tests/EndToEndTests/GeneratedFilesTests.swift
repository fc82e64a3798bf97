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

    @Test("and the guides of the package, which names no path of the sources that an installed machine lacks")
    func guides() {
        let made = Program(path: "/bin/bash").run([packageRoot + "/packaging/guides.sh", directory.path])
        #expect(made.end == .exited(0), "\(made.errors)")
        let paths = ["-rE", "(^|[^/])etc/pushrouterd|packaging/examples", directory.path]
        #expect(Program(path: "/bin/grep").run(paths).end == .exited(1), "found, or grep failed")
        let copies = ["-rq", "cp -r /usr/lib/pushrouterd", directory.path]
        #expect(Program(path: "/bin/grep").run(copies).end == .exited(0))
    }
}
