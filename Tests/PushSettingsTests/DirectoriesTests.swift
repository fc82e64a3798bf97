import Testing

@testable import PushSettings

@Suite("The directories of configuration, state and sockets")
struct DirectoriesTests {
    /// The directories with some variables, where `/home/anna/.pushrouter` is found.
    private func directories(
        configuration: String? = nil, state: String? = nil, runtime: String? = nil, _ variables: [String: String] = [:]
    ) -> Directories {
        Directories(
            configuration: configuration, state: state, runtime: runtime, environment: { variables[$0] },
            development: { "/home/anna/.pushrouter" })
    }

    @Test("are those of pushctl dev if nothing is named")
    func development() {
        let found = directories()
        #expect(found == Directories(development: "/home/anna/.pushrouter"))
        #expect(found.configuration == ["/home/anna/.pushrouter/config"])
        #expect(found.state == "/home/anna/.pushrouter/state" && found.runtime == "/home/anna/.pushrouter/run")
        #expect(found.gateway == "/home/anna/.pushrouter/gateway")
        #expect(found.gatewaySocket == "/home/anna/.pushrouter/run/gateway.sock")
        #expect(directories(["STATE_DIRECTORY": ""]).development != nil, "an empty variable names nothing")
    }

    @Test("are never those of pushctl dev together with one that an option or a variable names")
    func named() {
        let all = [
            directories(configuration: "/c"), directories(state: "/s"), directories(runtime: "/r"),
            directories(["CONFIGURATION_DIRECTORY": "/c"]), directories(["STATE_DIRECTORY": "/s"]),
            directories(["RUNTIME_DIRECTORY": "/r:/r2"]),
        ]
        for one in all {
            #expect(one.development == nil)
            let all = one.configuration + [one.state, one.runtime, one.gateway]
            #expect(!all.contains { $0.contains(".pushrouter") }, "\(one)")
            #expect(one.gatewaySocket == Directories.standardGatewaySocket)
        }
        #expect(all[5].runtime == "/r", "the first of several")
        #expect(all[0].configuration == ["/c"])
        #expect(all[3].configuration == ["/c", "/run/pushrouterd", "/usr/lib/pushrouterd"])
    }

    @Test("are those of the run of pushctl dev that a variable names, whatever else the environment has")
    func variable() {
        let variables = ["PUSHROUTER_DIRECTORY": "/tmp/dev", "STATE_DIRECTORY": "/s"]
        #expect(directories(variables) == Directories(development: "/tmp/dev"))
        #expect(directories(runtime: "/r", variables).state == "/s", "an option names a daemon that is none of dev's")
        #expect(directories(["PUSHROUTER_DIRECTORY": ""]).development == "/home/anna/.pushrouter")
    }

    @Test("are the service's without any")
    func service() {
        let service = Directories(environment: { _ in nil })
        #expect(service.configuration == ["/etc/pushrouterd", "/run/pushrouterd", "/usr/lib/pushrouterd"])
        #expect(service.state == "/var/lib/pushrouterd" && service.runtime == "/run/pushrouterd")
    }
}
