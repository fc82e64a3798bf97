import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Instances that end repeatedly while programs are started", .timeLimit(.minutes(30)))
struct EndingInstancesTests {
    private let installation = Installation()

    /// The kind of instance that ends after each answer.
    enum Kind: CaseIterable { case worker, closingService, singleUseService }

    @Test("leave no delivery unhandled, and the daemon keeps running", arguments: Kind.allCases)
    func end(_ kind: Kind) throws {
        let path = installation.root + "/service.sock"
        var service: ClosingService?
        switch kind {
        case .worker:
            let script =
                "IFS= read -r line; id=${line#*:}; echo \"{\\\"id\\\":${id%%,*},\\\"status\\\":\\\"handled\\\"}\""
            writeFile(script, to: installation.root + "/worker.sh")
            write("Type=worker\nExec=/bin/sh \(installation.root)/worker.sh\nPipeline=1\nInstances=4\n")
        case .closingService:
            service = try ClosingService(path: path)
            write("Type=socket\nConnect=\(path)\nPipeline=1\nInstances=4\n")
        case .singleUseService:
            service = try ClosingService(path: path)
            write("Type=socket\nConnect=\(path)\nOneInvocation=yes\n")
        }
        installation.addRoute("50-ends", to: "ends", match: "Data=job ends")
        installation.addHandler("exec", "Exec=/bin/true\n")
        installation.addRoute("50-exec", to: "exec", match: "Data=job exec")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        // A window of requests, so that a start and an end always overlap.
        let (total, window) = (200, 12)
        var (sent, decided) = (0, 0)
        while decided < total {
            while sent < total, sent - decided < window {
                try client.send(line: Requests.deliver(job: sent.isMultiple(of: 2) ? "exec" : "ends"))
                sent += 1
            }
            let line = try client.next()
            guard !line.isReply else { continue }
            decided += 1
            #expect(line.outcome == "handled", "\(line)")
        }
        #expect(try daemon.stop() == .exited(0))
        withExtendedLifetime(service) {}
    }

    private func write(_ lines: String) { installation.write("handlers.d/ends.handler", "[Handler]\n" + lines) }
}
