import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Descriptors", .timeLimit(.minutes(30)))
struct DescriptorTests {
    /// Returns the link targets of a process's descriptors.
    private func descriptors(of process: Int32) -> [String] {
        guard let directory = opendir("/proc/\(process)/fd") else { return [] }
        defer { closedir(directory) }
        var links: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var link = [UInt8](repeating: 0, count: 4096)
            let length = readlink("/proc/\(process)/fd/\(name)", &link, link.count)
            guard length > 0 else { continue }
            // Targets of sockets and pipes have numbers. Segments are left out, because the log adds files as it fills.
            let kind = String(decoding: link[..<length].prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            if !kind.contains("/log/segment-") { links.append(kind) }
        }
        return links.sorted()
    }

    @Test("are closed, however handlers end and clients leave")
    func givenBack() throws {
        let installation = Installation()
        let endings = [
            ("well", "exit 0"), ("badly", "exit 1"), ("killed", "kill -KILL $$"), ("closed", "exec >&- <&-"),
            ("left", "sleep 60 & exit 0"), ("loud", "head -c 200000 /dev/zero"),
        ]
        for (name, script) in endings { installation.addJob(name, script) }
        installation.addJob("slow", "sleep 60", route: "Deadline=20ms")
        installation.addHandler("gone", "Exec=/nonexistent/program")
        installation.addRoute("50-gone", to: "gone", match: "Data=job gone")
        let jobs = endings.map(\.0) + ["slow", "gone"]
        let daemon = try DaemonProcess.ready(installation)
        func round() throws {
            let client = try installation.injectClient()
            for job in jobs { try client.send(line: Requests.deliver(job: job)) }
            for _ in 0..<jobs.count * 2 { _ = try client.next() }
            // Some clients leave in the middle of a line, some without reading their replies.
            let others = try (0..<4).map { _ in try installation.injectClient() }
            try others[0].send(Array(#"{"op":"deliver""#.utf8))
            try others[1].send(line: Requests.deliver(job: "well"))
            try others[2].send(line: "nonsense")
            try others[3].leave()
            try client.leave()
        }
        func settle() throws {
            try waitUntil("nothing runs") { children(of: daemon.processID).isEmpty }
            try waitUntil("the clients are gone") {
                try DaemonStatus(of: installation).number("inject_connections") == 0
            }
        }
        try round()
        try settle()
        let before = descriptors(of: daemon.processID)
        for _ in 0..<40 { try round() }
        try settle()
        // A connection that has ended may still have been open at the count before.
        try waitUntil("there are no more than before: \(before)") {
            descriptors(of: daemon.processID).count <= before.count
        }
    }
}
