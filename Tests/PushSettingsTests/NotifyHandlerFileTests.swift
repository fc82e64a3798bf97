import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("A handler file with Type=notify")
struct NotifyHandlerFileTests {
    private func handler(_ lines: String) -> (handler: Handler?, diagnostics: [String]) {
        let loaded = load(
            handlers: ["desk": "[Handler]\nType=notify\n\(lines)"], routes: ["99-default": "[Route]\nHandler=desk"])
        return (loaded.settings?.routing.handlers["desk"], loaded.diagnostics)
    }

    @Test("needs only its type: then it uses the session bus, with 16 notifications at once")
    func defaults() {
        let (handler, diagnostics) = handler("")
        #expect(diagnostics == [])
        #expect(handler == Handler(name: "desk", kind: .notify(NotificationRules()), maxConcurrent: 16))
    }

    @Test("sets bus, app, icon, and the time that a notification stays")
    func everything() {
        let (handler, diagnostics) = handler(
            "Bus=unix:path=/run/bus\nAppName=Shop\nIcon=shop\nDesktopEntry=com.shop.App\nExpire=30s\nLocalImages=yes\n"
                + "MaxConcurrent=2")
        #expect(diagnostics == [])
        let rules = NotificationRules(
            bus: .address("unix:path=/run/bus"), appName: "Shop", icon: "shop", desktopEntry: "com.shop.App",
            expires: .seconds(30), takesLocalImages: true)
        #expect(handler == Handler(name: "desk", kind: .notify(rules), maxConcurrent: 2))
    }

    @Test("may name a desktop file of 256 bytes, and no longer one")
    func longestEntry() {
        let name = String(repeating: "a", count: 256)
        #expect(handler("DesktopEntry=\(name)").handler?.kind.notificationRules?.desktopEntry == name)
        #expect(handler("DesktopEntry=\(name)a").handler == nil)
    }

    @Test("without an expiry has an expiry of zero")
    func never() { #expect(handler("Expire=infinity").handler?.kind.notificationRules?.expires == .zero) }

    @Test(
        "refuses buses that would run a program or wait for a name server, and malformed names",
        arguments: [
            "Bus=unixexec:path=/bin/sh", "Bus=tcp:host=example.com,port=1", "Bus=unix:path=/a;unixexec:path=/bin/sh",
            "Bus=/run/bus", "DesktopEntry=com.shop.App.desktop", "DesktopEntry=a/b", "Expire=0",
        ])
    func wrong(line: String) {
        let (handler, diagnostics) = handler(line)
        #expect(handler == nil)
        #expect(diagnostics.count == 1)
        #expect(diagnostics.first?.hasPrefix("handlers.d/desk.handler:3: error: ") == true, "\(diagnostics)")
    }

    @Test("a handler file with Type=notify takes no Exec=")
    func useless() {
        #expect(
            handler("Exec=/bin/true").diagnostics == [
                "handlers.d/desk.handler:3: warning: Exec= has no effect with Type=notify, which shows notifications "
                    + "and runs no program"
            ])
    }
}
