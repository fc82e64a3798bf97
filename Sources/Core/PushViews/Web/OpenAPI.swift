import PushModel

/// The description of the API for programs, made of the routes.
enum OpenAPI {
    /// OpenAPI 3.0.
    static let document: [UInt8] = {
        let members = PushMember.allCases.map {
            let nullable = $0.isOptional ? #""nullable":true,"# : ""
            return #""\#($0.rawValue)":{"type":"\#($0.type)",\#(nullable)\#(described($0.meaning))}"#
        }
        let names = PushMember.allCases.map { "\"\($0.rawValue)\"" }
        let push = #"{"type":"object","properties":{\#(list(members))},"required":[\#(list(names))]}"#
        let info = #"{"title":"pushrouter-web","version":"\#(pushrouterdVersion)"}"#
        let whole =
            #"{"openapi":"3.0.3","info":\#(info),"paths":{\#(paths)},"components":{"schemas":{"Push":\#(push)}}}"#
        return Array(whole.utf8)
    }()

    private static func list(_ parts: [String]) -> String { parts.joined(separator: ",") }

    private static func described(_ meaning: String) -> String { "\"description\":\(meaning.asJSON)" }

    /// The routes of the API, those of one address together.
    private static var paths: String {
        let routes = WebRoute.all.filter { $0.kind == .api || $0.kind == .stream }
        let patterns = routes.map(\.pattern).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return list(
            patterns.map { pattern in
                let own = routes.filter { $0.pattern == pattern }
                return #""\#(pattern)":{\#(list(own.map { #""\#($0.method.lowercased())":\#(operation($0))"# }))}"#
            })
    }

    private static func operation(_ route: WebRoute) -> String {
        var parameters: [String] = []
        func add(_ place: String, _ one: WebRoute.Parameter) {
            let schema = #""schema":{"type":"\#(one.type)"}"#
            parameters.append(
                #"{"name":"\#(one.name)","in":"\#(place)",\#(described(one.meaning)),"required":\#(one.isRequired),\#(schema)}"#
            )
        }
        let isAct = route.method != "GET"
        if route.path.contains(WebRoute.number) {
            add("path", .init("seq", "the number of the request", "integer", isRequired: true))
        }
        if isAct {
            add("header", .init("X-Pushrouter", "any value: a form of a foreign page cannot send it", isRequired: true))
        } else {
            for one in route.parameters { add("query", one) }
        }
        let body = isAct && !route.parameters.isEmpty ? #""requestBody":\#(body(route.parameters)),"# : ""
        let canWait = route.parameters.contains { $0.name == "wait" }
        let none = canWait ? #""204":{\#(described("nothing matched in that time"))},"# : ""
        let answers =
            #""200":{\#(described("done"))},\#(none)"default":{\#(described("an error: {\"error\":{\"message\":…}}"))}"#
        return
            #"{"summary":\#(route.meaning.asJSON),"parameters":[\#(list(parameters))],\#(body)"responses":{\#(answers)}}"#
    }

    private static func body(_ parameters: [WebRoute.Parameter]) -> String {
        let required = parameters.filter(\.isRequired).map { "\"\($0.name)\"" }
        let properties = parameters.map { one in
            let items = one.type == "array" ? #""items":{"type":"integer"},"# : ""
            return #""\#(one.name)":{"type":"\#(one.type)",\#(items)\#(described(one.meaning))}"#
        }
        let needed = required.isEmpty ? "" : #","required":[\#(list(required))]"#
        let schema = #"{"type":"object","properties":{\#(list(properties))}\#(needed)}"#
        return #"{"required":\#(!required.isEmpty),"content":{"application/json":{"schema":\#(schema)}}}"#
    }
}
