import Foundation

/// The control API of a server that signs and installs, to which the phone reports.
struct Server: Sendable {
    /// What a request came to.
    enum Answer: Sendable {
        /// The server took it.
        case taken
        /// The server will never take it: it says that the request is wrong.
        case refused(status: Int)
        /// Nobody answered, or the server asks for patience.
        case notNow
    }

    /// Where the API begins: `https://ferry.example.com/api/v1/`.
    let root: URL
    /// What this phone shows to be let in. A real app keeps it in the keychain.
    var password: String?

    /// The server that `FerryServer` in the Info.plist names; `nil` where it names none.
    static let ofTheApp: Server? = (Bundle.main.object(forInfoDictionaryKey: "FerryServer") as? String)
        .flatMap(URL.init(string:))
        .map { Server(root: $0.appending(path: "api/v1/")) }

    /// Asks the server to do something.
    func post(_ body: some Encodable & Sendable, to path: String) async -> Answer {
        var request = URLRequest(url: root.appending(path: path), timeoutInterval: 20)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let password { request.setValue("Bearer \(password)", forHTTPHeaderField: "Authorization") }
        request.httpBody = try? JSONEncoder().encode(body)
        guard let (_, response) = try? await URLSession.shared.data(for: request),
            let status = (response as? HTTPURLResponse)?.statusCode
        else { return .notNow }
        return switch status {
        case 200..<300: .taken
        case 408, 429, 500...: .notNow
        default: .refused(status: status)
        }
    }
}
