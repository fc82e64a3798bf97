import PushModel

/// The description of the API for programs, made of the routes.
enum OpenAPI {
    /// OpenAPI 3.0.
    static let document: [UInt8] = {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("openapi", "3.0.3")
            writer.member(
                "info",
                object: {
                    $0.member("title", "pushrouter-web")
                    $0.member("version", pushrouterdVersion)
                })
            writer.member("paths", object: paths)
            writer.member("components", object: { $0.member("schemas", object: { $0.member("Push", object: push) }) })
        }
        return writer.bytes
    }()

    /// The routes of the API, those of one address together.
    private static var routes: [(pattern: String, routes: [WebRoute])] {
        var found: [(pattern: String, routes: [WebRoute])] = []
        for route in WebRoute.all where route.kind == .api || route.kind == .stream {
            if let place = found.firstIndex(where: { $0.pattern == route.pattern }) {
                found[place].routes.append(route)
            } else {
                found.append((route.pattern, [route]))
            }
        }
        return found
    }

    private static func paths(_ writer: inout JSONWriter) {
        for (pattern, routes) in routes {
            writer.member(
                pattern,
                object: { writer in
                    for route in routes { writer.member(route.method.lowercased(), object: { operation(route, &$0) }) }
                })
        }
    }

    private static func operation(_ route: WebRoute, _ writer: inout JSONWriter) {
        writer.member("summary", route.meaning)
        let isAct = route.method != "GET"
        writer.member(
            "parameters",
            array: { list in
                if route.path.contains(WebRoute.number) {
                    list.object {
                        parameter("seq", "path", "the number of the request", "integer", isRequired: true, &$0)
                    }
                }
                if isAct {
                    list.object {
                        parameter(
                            "X-Pushrouter", "header", "any value: a form of a foreign page cannot send it", "string",
                            isRequired: true, &$0)
                    }
                } else {
                    for one in route.parameters {
                        list.object {
                            parameter(one.name, "query", one.meaning, one.type, isRequired: one.isRequired, &$0)
                        }
                    }
                }
            })
        if isAct, !route.parameters.isEmpty { writer.member("requestBody", object: { body(route, &$0) }) }
        writer.member(
            "responses",
            object: { writer in
                writer.member("200", object: { $0.member("description", "done") })
                if route.parameters.contains(where: { $0.name == "wait" }) {
                    writer.member("204", object: { $0.member("description", "nothing matched in that time") })
                }
                writer.member("default", object: { $0.member("description", "an error: {\"error\":{\"message\":…}}") })
            })
    }

    private static func parameter(
        _ name: String, _ place: String, _ meaning: String, _ type: String, isRequired: Bool, _ writer: inout JSONWriter
    ) {
        writer.member("name", name)
        writer.member("in", place)
        writer.member("description", meaning)
        writer.member("required", isRequired)
        writer.member("schema", object: { $0.member("type", type) })
    }

    private static func body(_ route: WebRoute, _ writer: inout JSONWriter) {
        let required = route.parameters.filter(\.isRequired)
        writer.member("required", !required.isEmpty)
        writer.member(
            "content",
            object: {
                $0.member(
                    "application/json",
                    object: {
                        $0.member(
                            "schema",
                            object: { schema in
                                schema.member("type", "object")
                                schema.member(
                                    "properties",
                                    object: { properties in
                                        for one in route.parameters {
                                            properties.member(
                                                one.name,
                                                object: {
                                                    $0.member("type", one.type)
                                                    if one.type == "array" {
                                                        $0.member("items", object: { $0.member("type", "integer") })
                                                    }
                                                    $0.member("description", one.meaning)
                                                })
                                        }
                                    })
                                if !required.isEmpty {
                                    schema.member(
                                        "required", array: { list in required.forEach { list.string($0.name) } })
                                }
                            })
                    })
            })
    }

    private static func push(_ writer: inout JSONWriter) {
        writer.member("type", "object")
        writer.member(
            "properties",
            object: { properties in
                for member in PushMember.allCases {
                    properties.member(
                        member.rawValue,
                        object: {
                            $0.member("type", member.type)
                            if member.isOptional { $0.member("nullable", true) }
                            $0.member("description", member.meaning)
                        })
                }
            })
        writer.member("required", array: { list in PushMember.allCases.forEach { list.string($0.rawValue) } })
    }
}
