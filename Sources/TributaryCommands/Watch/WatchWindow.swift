import Foundation

/// The terminal while a command has its whole window: keys come as they are pressed, and what was there before comes back
/// at the end.
final class WatchWindow {
    enum Event {
        case keys([WatchScreen.Key])
        case resized
        case time
        /// A signal, or the end of the terminal.
        case end
    }

    private var former = termios()
    private var isEntered = false
    /// The ends of a pipe through which signals come.
    private var pipe: [Int32] = [-1, -1]
    private var signals: [any DispatchSourceSignal] = []

    /// Another screen, without a cursor and without breaking lines that are too long.
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// - Throws: ``Failure`` where there is no terminal; ``OutputError``.
    init() throws {
        guard tcgetattr(STDIN_FILENO, &former) == 0, Foundation.pipe(&pipe) == 0 else {
            throw Failure.usage("the terminal cannot be used: \(String(cString: strerror(errno)))")
        }
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] { trap(signal) }
        try resume()
    }

    private func trap(_ signal: Int32) {
        if signal != SIGWINCH { Foundation.signal(signal, SIG_IGN) }
        let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
        let end = pipe[1]
        source.setEventHandler {
            var byte = UInt8(truncatingIfNeeded: signal)
            write(end, &byte, 1)
        }
        source.resume()
        signals.append(source)
    }

    private func resume() throws {
        var raw = former
        // Ctrl-C and Ctrl-Z are keys like others.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        isEntered = true
        try Terminal.write(Array(Self.enter.utf8))
    }

    func leave() {
        guard isEntered else { return }
        isEntered = false
        // Where nobody reads it any more, nothing has to be restored.
        try? Terminal.write(Array(Self.leave.utf8))
        tcsetattr(STDIN_FILENO, TCSADRAIN, &former)
    }

    /// Gives the terminal back until the process goes on.
    func suspend() {
        leave()
        kill(getpid(), SIGSTOP)
        try? resume()
    }

    /// Waits for a key, for another size of the window, or until a time.
    func wait(until time: Date) throws -> Event {
        var descriptors = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = Int32(max(0, time.timeIntervalSinceNow * 1000).rounded(.up))
        let count = poll(&descriptors, 2, milliseconds)
        if count == 0 { return .time }
        guard count > 0 else { return .resized }
        var bytes = [UInt8](repeating: 0, count: 64)
        if descriptors[1].revents != 0 {
            let count = read(pipe[0], &bytes, bytes.count)
            return bytes.prefix(max(count, 0)).allSatisfy { $0 == UInt8(SIGWINCH) } ? .resized : .end
        }
        let read = read(STDIN_FILENO, &bytes, bytes.count)
        return read > 0 ? .keys(WatchScreen.keys(in: Array(bytes.prefix(read)))) : .end
    }

    deinit {
        leave()
        for source in signals { source.cancel() }
        for descriptor in pipe { close(descriptor) }
    }
}
