import NIOCore
import TestEngine
import Testing
@testable import FeedFetching
@testable import TributaryEngine

@Suite(.timeLimit(.minutes(10))) struct ReadAheadTests {
    private struct Broken: Error {}

    private static func piece(_ number: Int, count: Int = 64 << 10) -> ByteBuffer {
        ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: count)
    }

    /// Counts the pieces that have been asked for.
    private static func pieces(_ count: Int, _ asked: Counter, thenThrows: Bool = false) -> some AsyncSequence<
        ByteBuffer, any Error
    > {
        AsyncThrowingStream {
            guard asked.total < count else {
                if thenThrows { throw Broken() }
                return nil
            }
            asked.enter()
            return piece(asked.total)
        }
    }

    @Test func everyPieceComesInOrder() async throws {
        let ahead = ReadAhead()
        async let filling: Void = ahead.fill(from: Self.pieces(100, Counter()))
        var bytes: [UInt8] = []
        while case let pieces = try await ahead.next(), !pieces.isEmpty {
            bytes += pieces.flatMap { $0.getBytes(at: 0, length: 1) ?? [] }
        }
        await filling
        #expect(bytes == (1...100).map(UInt8.init))
    }

    @Test func noMoreIsHeldThanItSays() async throws {
        let ahead = ReadAhead()
        let asked = Counter()
        let most = ReadAhead.capacity >> 16
        async let filling: Void = ahead.fill(from: Self.pieces(1000, asked))
        var taken = 0
        while case let pieces = try await ahead.next(), !pieces.isEmpty {
            taken += pieces.count
            #expect(pieces.count <= most && asked.total <= taken + most)
        }
        await filling
        #expect(taken == 1000)
    }

    @Test func whatCameBeforeAnErrorIsHandedOver() async throws {
        let ahead = ReadAhead()
        async let filling: Void = ahead.fill(from: Self.pieces(3, Counter(), thenThrows: true))
        var taken = 0
        await #expect(throws: Broken.self) {
            while case let pieces = try await ahead.next(), !pieces.isEmpty { taken += pieces.count }
        }
        await filling
        #expect(taken == 3)
    }

    /// A source that writes pieces from a thread of its own.
    private struct Blocking: BodySource {
        let count: Int
        let asked: Counter
        /// Finished when the reading has ended.
        var end: AsyncStream<Void>.Continuation?

        var size: Int? { nil }

        func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
            defer { end?.finish() }
            for number in 1...count {
                try check()
                asked.enter()
                try piece(number).withUnsafeReadableBytes(consume)
            }
            throw Broken()
        }
    }

    @Test func aSourceThatBlocksIsNoMoreAheadThanOthers() async throws {
        let asked = Counter()
        let exchange = Exchange.source(.at("file:///a"), Blocking(count: 1000, asked: asked))
        let most = 2 * (ReadAhead.capacity >> 16) + 1
        var taken = 0
        await #expect(throws: Broken.self) {
            try await exchange.forEachPiece { piece in
                taken += 1
                #expect(piece.count == 64 << 10 && piece[0] == UInt8(truncatingIfNeeded: taken))
                #expect(asked.total <= taken + most)
            }
        }
        #expect(taken == 1000)
    }

    @Test func aReaderThatFailsEndsTheThreadOfItsSource() async throws {
        struct Enough: Error {}
        let (ends, end) = AsyncStream<Void>.makeStream()
        let exchange = Exchange.source(.at("file:///a"), Blocking(count: .max, asked: Counter(), end: end))
        await #expect(throws: Enough.self) { try await exchange.forEachPiece { _ in throw Enough() } }
        for await _ in ends {}
    }

    /// Nobody takes the pieces any more: whoever fills must not wait for room for ever.
    @Test func aCancelledFillerEnds() async throws {
        let ahead = ReadAhead()
        let filling = Task { await ahead.fill(from: Self.pieces(1000, Counter())) }
        _ = try await ahead.next()
        filling.cancel()
        await filling.value
        await #expect(throws: CancellationError.self) {
            while case let pieces = try await ahead.next(), !pieces.isEmpty {}
        }
    }
}
