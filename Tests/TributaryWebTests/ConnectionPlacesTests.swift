import NIOCore
import NIOEmbedded
import Testing

@testable import TributaryWeb

/// Which connection is closed where there are too many.
@Suite struct ConnectionPlacesTests {
    private func connect(_ places: ConnectionPlaces, _ count: Int) throws -> [EmbeddedChannel] {
        try (0..<count).map { _ in
            let channel = EmbeddedChannel(handler: ConnectionPlaces.Handler(places))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            return channel
        }
    }

    private func isOpen(_ channel: EmbeddedChannel) -> Bool {
        channel.embeddedEventLoop.run()
        return channel.isActive
    }

    @Test func theOneThatWasIdleForTheLongestTimeIsClosed() throws {
        let places = ConnectionPlaces(limit: 3)
        let first = try connect(places, 3)
        try first[0].writeInbound("a request")
        try first[0].writeOutbound("its answer")
        let more = try connect(places, 1)
        #expect(first.map(isOpen) == [true, false, true] && isOpen(more[0]))
        let last = try connect(places, 2)
        #expect((first + more).map(isOpen) == [false, false, false, true])
        #expect(last.allSatisfy(isOpen) && places.count == 3)
    }

    @Test func whoeverWaitsForAnAnswerStays() throws {
        let places = ConnectionPlaces(limit: 2)
        var asking: [EmbeddedChannel] = []
        for _ in 0..<4 {
            asking += try connect(places, 1)
            try asking.last?.writeInbound("a request")
        }
        // All of twice as many wait: the next one is not let in.
        let late = try connect(places, 1)
        #expect(asking.allSatisfy(isOpen) && !isOpen(late[0]))
        try asking[1].writeOutbound("its answer")
        let next = try connect(places, 1)
        #expect(asking.map(isOpen) == [true, false, true, true] && isOpen(next[0]))
    }
}
