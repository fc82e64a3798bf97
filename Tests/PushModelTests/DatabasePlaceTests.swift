import Testing

@testable import PushModel

@Suite("The place of a database")
struct DatabasePlaceTests {
    @Test(
        "may be another one unless a number that both know differs",
        arguments: [
            (nil, nil, nil, nil, true), (1, nil, nil, 2, true), (1, 2, 1, 2, true), (1, 2, 3, 2, false),
            (1, 2, 1, 3, false), (nil, 2, 1, 3, false), (1, nil, 3, nil, false), (nil, 2, 1, 2, true),
            (1, 2, nil, 2, true), (1, nil, 1, 2, true), (1, 2, 1, nil, true),
        ] as [(Int64?, Int64?, Int64?, Int64?, Bool)])
    func admits(_ cluster: Int64?, _ database: Int64?, _ otherCluster: Int64?, _ otherDatabase: Int64?, _ admits: Bool)
    {
        let place = DatabasePlace(cluster: cluster, database: database)
        #expect(place.admits(DatabasePlace(cluster: otherCluster, database: otherDatabase)) == admits)
    }
}
