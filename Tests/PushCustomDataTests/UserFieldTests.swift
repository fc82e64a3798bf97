import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Checks of user attributes")
struct UserFieldTests {
    private func reasons(_ attributes: String) throws -> [String] {
        var bench = CustomDataBench()
        return try bench.log(.userAttributes, #"{"attributes":\#(attributes)}"#).map { $0.problem.text }
    }

    @Test(
        "accepts the values of the field",
        arguments: [
            ("email", #""name@company.com""#), ("first_name", #""Ada""#), ("last_name", #""""#),
            ("home_city", #""S\u00e3o Paulo""#), ("phone", #""+4915112345678""#), ("phone", #""0151 123-456 78""#),
            ("phone_number", #""+1 (212) 555-0100""#), ("dob", #""2000-02-29""#), ("country", #""DE""#),
            ("country", #""de""#), ("language", #""pt""#), ("gender", #""M""#), ("gender", #""P""#),
            ("time_zone", #""Europe/Berlin""#), ("time_zone", #""America/Argentina/Buenos_Aires""#),
            ("time_zone", #""Etc/GMT+5""#), ("time_zone", #""UTC""#), ("email_subscribe", #""opted_in""#),
            ("push_subscribe", #""unsubscribed""#), ("push_subscribe", #""subscribed""#),
            ("current_location", #"{"longitude":-180,"latitude":90.0}"#),
            ("subscription_groups", #"[{"subscription_group_id":"g1","subscription_state":"subscribed"}]"#),
        ])
    func right(name: String, value: String) throws { #expect(try reasons(#"{"\#(name)":\#(value)}"#) == []) }

    @Test(
        "refuses other values, and names their type",
        arguments: [
            ("email", #""company.com""#, "must be an address such as name@company.com, or null"),
            ("email", #""a@b@c""#, "must be an address such as name@company.com, or null"),
            ("email", #""@c""#, "must be an address such as name@company.com, or null"),
            ("email", #""a b@c""#, "must be an address such as name@company.com, or null"),
            ("email", "5", "must be a string or null, not a number"),
            ("first_name", #"["Ada"]"#, "must be a string or null, not an array"),
            ("first_name", #""\#(letters(256))""#, "a text has at most 255 characters; this one has 256"),
            ("phone", #""12""#, "must be a number of 3 to 15 digits, best such as +4915112345678, or null"),
            (
                "phone", #""1234567890123456""#,
                "must be a number of 3 to 15 digits, best such as +4915112345678, or null"
            ),
            ("phone", #""call me 123""#, "must be a number of 3 to 15 digits, best such as +4915112345678, or null"),
            ("phone_number", #""123+""#, "must be a number of 3 to 15 digits, best such as +4915112345678, or null"),
            ("dob", #""1999-02-29""#, "must be a date such as 1980-12-31 that exists, or null"),
            ("dob", #""12/31/1980""#, "must be a date such as 1980-12-31 that exists, or null"),
            ("dob", #""1980-12-31T00:00:00Z""#, "must be a date such as 1980-12-31 that exists, or null"),
            ("country", #""DEU""#, "must be a country's two letters (ISO 3166-1) such as DE, or null"),
            ("country", #""é""#, "must be a country's two letters (ISO 3166-1) such as DE, or null"),
            ("language", #""d1""#, "must be a language's two letters (ISO 639-1) such as de, or null"),
            ("gender", #""m""#, "must be M, F, O, N, P or null"),
            ("time_zone", #""Berlin""#, "must be the name of a zone such as Europe/Berlin, or null"),
            ("time_zone", #""Europe/""#, "must be the name of a zone such as Europe/Berlin, or null"),
            ("time_zone", #""+01:00""#, "must be the name of a zone such as Europe/Berlin, or null"),
            ("email_subscribe", "true", "must be a string or null, not true or false"),
            ("push_subscribe", #""yes""#, "must be opted_in, subscribed, unsubscribed or null"),
            (
                "current_location", #"{"latitude":1}"#,
                "must be an object with the numbers longitude and latitude and nothing else, or null"
            ),
            ("push_tokens", "[]", "is a field of the profile that apps cannot set"),
            ("favourite_colour", #""red""#, "is not a field of the profile; log it with the custom attributes"),
            ("Email", #""a@b""#, "is not a field of the profile; log it with the custom attributes"),
            ("external_id", #""u2""#, "identifies the profile or controls the request; it is not an attribute"),
            ("subscription_groups", "null", "must be an array of groups, at least one"),
            ("subscription_groups", "[]", "must be an array of groups, at least one"),
        ])
    func wrong(name: String, value: String, expected: String) throws {
        #expect(try reasons(#"{"\#(name)":\#(value)}"#) == ["attributes.\(name): \(expected)"])
    }

    @Test(
        "names the path within a field",
        arguments: [
            (
                #"{"current_location":{"longitude":180.1,"latitude":0}}"#,
                "attributes.current_location.longitude: must be from -180 to 180"
            ),
            (
                #"{"current_location":{"longitude":0,"latitude":-91}}"#,
                "attributes.current_location.latitude: must be from -90 to 90"
            ),
            (
                #"{"subscription_groups":["g1"]}"#,
                "attributes.subscription_groups[0]: must be an object with subscription_group_id and "
                    + "subscription_state, not a string"
            ),
            (
                #"{"subscription_groups":[{"subscription_state":"subscribed"}]}"#,
                "attributes.subscription_groups[0].subscription_group_id: must be the id of the group, a string"
            ),
            (
                #"{"subscription_groups":[{"subscription_group_id":"g","subscription_state":"opted_in"}]}"#,
                "attributes.subscription_groups[0].subscription_state: must be subscribed or unsubscribed"
            ),
        ])
    func places(attributes: String, expected: String) throws { #expect(try reasons(attributes) == [expected]) }

    @Test("null clears a user attribute")
    func null() throws {
        let fields = [
            "email", "first_name", "last_name", "phone", "phone_number", "dob", "country", "home_city", "language",
            "gender", "time_zone", "current_location", "email_subscribe", "push_subscribe",
        ]
        for field in fields { #expect(try reasons(#"{"\#(field)":null}"#) == [], "\(field)") }
    }

    @Test("phone and phone_number together: one of them counts, the other is rejected")
    func phoneTwice() throws {
        var bench = CustomDataBench()
        let rejections = try bench.log(.userAttributes, #"{"attributes":{"phone_number":"111","phone":"222"}}"#)
        #expect(rejections.map(\.problem.message) == ["is the same as phone, which is given too"])
        #expect(bench.text(1) == #"{"phone":"222"}"#)
    }
}
