import NIOCore
import NIOEmbedded
import Testing

@testable import TributaryWeb

/// Clients that do not read.
@Suite struct StalledClientTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: StalledClientHandler(.seconds(30)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func set(_ channel: EmbeddedChannel, isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    @Test func oneThatReadsNothingIsGivenUp() throws {
        let channel = try channel()
        set(channel, isWritable: false)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func oneThatReadsSlowlyIsServed() throws {
        let channel = try channel()
        for _ in 0..<10 {
            set(channel, isWritable: false)
            channel.embeddedEventLoop.advanceTime(by: .seconds(20))
            set(channel, isWritable: true)
            channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        }
        #expect(channel.isActive)
        _ = try channel.finish()
    }
}
