import Testing

@testable import PushModel
@testable import PushViews

@Suite("The profile of a user")
struct UserProfileTests {
    @Test("a push opened in both ways counts as opened directly, in either order")
    func both() throws {
        for kinds in [[.open, .influencedOpen], [.influencedOpen, .open]] as [[AnalyticsEvent.Kind]] {
            var profile = UserProfile(of: "anna")
            for kind in [.received] + kinds { profile.add(event(kind, user: "anna")) }
            let root = try JSONDocument(scanning: profile.json).root
            #expect(root["last_pushes"]?.elements.map { $0["opened"]?.string } == ["direct"])
            #expect(root["total_opens"]?.int64 == 1)
        }
    }
}
