import Testing

@testable import HandlerProcess
@testable import HandlerRuns
@testable import PushRouter

@Suite("The confinement of a handler's program")
struct ConfinementTests {
    @Test("has no new privileges with a user, unless its file says otherwise")
    func privileges() {
        var confinement = Handler.Confinement()
        #expect(!ProcessConfinement(confinement).hasNoNewPrivileges)
        confinement.user = "crm"
        #expect(ProcessConfinement(confinement).hasNoNewPrivileges)
        confinement.noNewPrivileges = false
        #expect(!ProcessConfinement(confinement).hasNoNewPrivileges)
        (confinement.user, confinement.noNewPrivileges) = (nil, true)
        #expect(ProcessConfinement(confinement).hasNoNewPrivileges)
    }
}
