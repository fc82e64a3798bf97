import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushSettings

@Suite("A handler that the service's sandbox keeps from working")
struct ServiceReloadTests {
    private let installation = Installation()
    private let now = WallTime(milliseconds: 1)

    private func configuration(_ service: ServiceFacts) -> Configuration {
        Configuration(
            directories: [installation.configuration], state: installation.state, isRequired: true, service: service)
    }

    @Test("is refused at a reload with file and reason, and at the start gives a warning while others run")
    func users() throws {
        var service = ServiceFacts()
        service.canChangeUser = false
        installation.addHandler("crm", "Exec=/bin/true\nUser=nobody")
        var started = configuration(service)
        mkdir(installation.state, 0o700)
        let warnings = try started.start().warnings
        #expect(warnings.contains { $0.contains("crm.handler: error: User=nobody") })
        let refusal = #expect(throws: StartFailure.self) { _ = try started.reload(at: now) }
        #expect(refusal?.lines.count == 1 && refusal?.lines.first?.contains("crm.handler: error: User=nobody") == true)
        #expect(refusal?.lines.first?.contains("handler-users.conf") == true)

        var free = configuration(ServiceFacts())
        _ = try free.start()
        _ = try free.reload(at: now)
    }
}
