import Dispatch
import FerryBytes
import Foundation
import TestKit
import Testing

@testable import ferry

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite struct `A password` {
    private func source(file: String?, environment: [String: String] = [:]) -> PasswordSource {
        PasswordSource(file: file, environment: environment, prompt: nil)
    }

    @Test(
        arguments: [
            ("secret\n", "secret"), ("secret", "secret"), ("secret\r\nmore\n", "secret"), ("", ""), ("\n", ""),
            (" a b \n", " a b "), ("pässwörd\n", "pässwörd"),
        ]
    )
    func `is the first line of its file`(text: String, password: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), to: "password")
        #expect(try await source(file: path).password(of: "x.p12").revealed == password)
    }

    @Test func `comes from the file before the environment`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("file".utf8), to: "password")
        let environment = ["FERRY_P12_PASSWORD": "environment"]
        #expect(try await source(file: path, environment: environment).password(of: "x.p12").revealed == "file")
        #expect(try await source(file: nil, environment: environment).password(of: "x.p12").revealed == "environment")
    }

    @Test func `may be empty`() async throws {
        #expect(
            try await source(file: nil, environment: ["FERRY_P12_PASSWORD": ""]).password(of: "x.p12").revealed == ""
        )
    }

    @Test func `that nobody gave is an error that says how`() async {
        let error = await #expect(throws: PasswordError.self) { try await source(file: nil).password(of: "x.p12") }
        #expect(error?.message == "x.p12: its password is not given, and there is no terminal to ask on.")
        #expect(error?.remedy?.contains("--password-file FILE") == true)
        #expect(error?.remedy?.contains("FERRY_P12_PASSWORD") == true)
    }

    @Test(
        arguments: [([UInt8](repeating: 65, count: 4097), .tooLong), ([0xFF, 0xFE], .notText)]
            as [([UInt8], PasswordError.Code)]
    )
    func `is not taken from the wrong file`(bytes: [UInt8], code: PasswordError.Code) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes, to: "password")
        let error = await #expect(throws: PasswordError.self) { try await source(file: path).password(of: "x.p12") }
        #expect(error?.code == code)
    }

    @Test func `in a file that is not there is told with its path`() async {
        let error = await #expect(throws: FileFailure.self) {
            try await source(file: "/nowhere/pw").password(of: "x.p12")
        }
        #expect(error?.path == "/nowhere/pw")
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A prompt` {
    /// A terminal of our own: what a person sees and types at, and the path of what the program opens.
    private final class Terminal: Sendable {
        let person: Int32
        let program: Int32
        let path: String

        init() throws {
            var ends: (person: Int32, program: Int32) = (-1, -1)
            var name = [CChar](repeating: 0, count: 128)
            try #require(openpty(&ends.person, &ends.program, &name, nil, nil) == 0)
            (person, program) = ends
            path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        deinit {
            close(program)
            close(person)
        }

        /// Whether what is typed shows.
        var isEchoing: Bool {
            var state = termios()
            tcgetattr(program, &state)
            return state.c_lflag & tcflag_t(ECHO) != 0
        }

        func type(_ text: String) {
            let bytes = Array(text.utf8)
            _ = write(person, bytes, bytes.count)
        }

        /// Waits for text to appear, on a thread that is no task's, and gives all that was seen.
        func see(_ wanted: String) async -> String {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [person] in
                    var seen: [UInt8] = []
                    var buffer = [UInt8](repeating: 0, count: 256)
                    while !seen.contains(wanted.utf8) {
                        let count = read(person, &buffer, buffer.count)
                        guard count > 0 else { break }
                        seen += buffer[..<count]
                    }
                    continuation.resume(returning: String(decoding: seen, as: UTF8.self))
                }
            }
        }
    }

    @Test(arguments: [("hunter2", "hunter2"), ("", ""), ("wrong\u{15}right", "right"), ("abc\u{7F}d", "abd")])
    func `reads a line that does not show`(typed: String, password: String) async throws {
        let terminal = try Terminal()
        let prompt = PasswordPrompt(terminal: terminal.path)
        async let answer = prompt.ask("Password: ")
        #expect(await terminal.see("Password: ") == "Password: ")
        #expect(!terminal.isEchoing)
        terminal.type(typed + "\n")
        #expect(try await answer?.revealed == password)
        #expect(await terminal.see("\n") == "\r\n")
        #expect(terminal.isEchoing)
    }

    @Test func `leaves the terminal as it was when the task is cancelled`() async throws {
        let terminal = try Terminal()
        let prompt = PasswordPrompt(terminal: terminal.path)
        let task = Task { try await prompt.ask("Password: ") }
        _ = await terminal.see("Password: ")
        #expect(!terminal.isEchoing)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(terminal.isEchoing)
    }

    @Test func `takes the end of input for no answer`() async throws {
        let terminal = try Terminal()
        let prompt = PasswordPrompt(terminal: terminal.path)
        let task = Task { try await prompt.ask("Password: ") }
        _ = await terminal.see("Password: ")
        terminal.type("\u{04}")
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(terminal.isEchoing)
    }

    @Test func `asks nobody where there is no terminal`() async throws {
        #expect(try await PasswordPrompt(terminal: "/dev/null").ask("Password: ") == nil)
        #expect(try await PasswordPrompt(terminal: "/nowhere/tty").ask("Password: ") == nil)
    }
}
