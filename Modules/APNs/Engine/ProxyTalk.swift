import FerryBytes

/// What is said to a proxy, and how its answer is read (RFC 9110 §9.3.6, RFC 7617).
enum ProxyTalk {
    /// What a proxy answered.
    enum Answer: Equatable {
        case incomplete
        case connected
        /// Why not, what to do, and whether another attempt would end the same way.
        case refused(String, remedy: String?, isFinal: Bool)
    }

    /// The request to connect us to `endpoint`.
    static func request(to endpoint: APNsEndpoint, _ proxy: ProxyAddress) -> String {
        var text = "CONNECT \(endpoint) HTTP/1.1\r\nHost: \(endpoint)\r\n"
        if let credentials = proxy.credentials {
            text += "Proxy-Authorization: Basic \(Base64.encode(Array(credentials.revealed.utf8)))\r\n"
        }
        return text + "\r\n"
    }

    /// Reads what came so far.
    static func answer(_ bytes: [UInt8], limit: Int) -> Answer {
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))
        guard end != nil || bytes.count <= limit else {
            return .refused("its answer is too long", remedy: nil, isFinal: true)
        }
        guard let end else { return .incomplete }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\r") }.prefix(200), as: UTF8.self).printable
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3, let status = Int(words[1])
        else {
            return .refused("it does not speak HTTP", remedy: "Check the proxy's address.", isFinal: true)
        }
        switch status {
        case 200..<300:
            guard end.upperBound == bytes.count else {
                return .refused("it sent more than its answer", remedy: nil, isFinal: true)
            }
            return .connected
        case 407:
            return .refused(
                "it wants a user and a password (\(line))",
                remedy: "Give those of the proxy.",
                isFinal: true
            )
        case 500...:
            return .refused("it could not connect (\(line))", remedy: nil, isFinal: false)
        default:
            return .refused(
                "it does not let us through (\(line))",
                remedy: "Have the proxy allow CONNECT to this host and port.",
                isFinal: true
            )
        }
    }
}
