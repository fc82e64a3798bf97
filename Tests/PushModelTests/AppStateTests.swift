import PushModel
import Testing

@Suite("The state of an app")
struct AppStateTests {
    @Test("ends the app's process if it is terminated, quit or stopped")
    func endsProcess() {
        let ended = AppState.allCases.filter(\.endsProcess)
        #expect(ended == [.terminated, .forceQuit, .forceStopped])
    }
}
