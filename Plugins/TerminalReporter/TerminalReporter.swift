public import FerryActivity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Shows installs in a terminal: a line with a bar for each, one for a batch, and a lasting line for each that ended.
///
/// What is no terminal gets a line for each fact, and now and then one for progress. Keys: `p` holds or releases
/// everything, `q` cancels everything. The cursor and the keyboard are as before when ``report(_:)`` returns or throws.
public struct TerminalReporter: Reporter {
    /// What somebody typed.
    public enum Command: Sendable, Hashable {
        /// Hold every install.
        case holdAll
        /// Let every install go on.
        case releaseAll
        /// End every install.
        case cancelAll
    }

    /// How many frames there are in a second, at most.
    public static let framesPerSecond = 12
    /// How many commands wait while one is carried out; what is typed beyond that is forgotten.
    static let maximumCommands = 4

    private let output: TerminalOutput
    private let input: TerminalInput?
    private let style: Style
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let onCommand: @Sendable (Command) async -> Void

    /// A reporter that has written nothing yet.
    ///
    /// - Parameters:
    ///   - output: Where lines go.
    ///   - input: Where keys come from; `nil` for none. Only a live style reads keys.
    ///   - style: What the terminal can show.
    ///   - clock: What frames are timed by.
    ///   - now: The date that the time left is counted from.
    ///   - onCommand: Called for each key, one after the other; drawing goes on meanwhile.
    public init(
        output: TerminalOutput,
        input: TerminalInput? = nil,
        style: Style,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date,
        onCommand: @escaping @Sendable (Command) async -> Void = { _ in }
    ) {
        self.output = output
        self.input = style.isLive ? input : nil
        self.style = style
        self.clock = clock
        self.now = now
        self.onCommand = onCommand
    }

    /// Reads and draws until the updates end.
    public func report(_ updates: ActivityUpdates) async throws {
        if style.isLive {
            try await draw(updates)
        } else {
            var lines = PlainLines(style: style)
            for await update in updates {
                let text = lines.lines(for: update).map { $0.text(style) + "\n" }.joined()
                if !text.isEmpty { try output.write(text) }
            }
        }
    }

    private func draw(_ updates: ActivityUpdates) async throws {
        let painter = Painter(output: output, style: style, hasKeys: input != nil, now: now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (commands, typed) = AsyncStream.makeStream(
                of: Command.self,
                bufferingPolicy: .bufferingOldest(Self.maximumCommands)
            )
            input?.begin()
            // Before the tasks are waited for: a command may take its time.
            defer { input?.end() }
            group.addTask { for await update in updates { await painter.take(update) } }
            group.addTask { for await command in commands { await onCommand(command) } }
            group.addTask {
                while (try? await clock.sleep(for: .seconds(1) / Self.framesPerSecond)) != nil {
                    let activity = await painter.activity
                    for command in Self.commands(input?.read() ?? [], activity) { typed.yield(command) }
                    try await painter.paint()
                }
            }
            do {
                // The end of the updates, or a frame that could not be written.
                try await group.next()
                group.cancelAll()
                try await painter.finish()
            } catch {
                group.cancelAll()
                try? await painter.restore()
                throw error
            }
        }
    }

    /// What typed letters mean. Anything after an escape belongs to a key that we do not know.
    static func commands(_ bytes: [UInt8], _ activity: Activity) -> [Command] {
        var isHeld = activity.isHeld
        return bytes.prefix { $0 != 0x1B }.compactMap { byte in
            switch byte {
            case UInt8(ascii: "p"), UInt8(ascii: "P"):
                isHeld.toggle()
                return isHeld ? .holdAll : .releaseAll
            case UInt8(ascii: "q"), UInt8(ascii: "Q"): return .cancelAll
            default: return nil
            }
        }
    }
}
