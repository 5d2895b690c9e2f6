import FerryBytes
public import FerryCodeSignature
public import FerryWeb

/// Completes a chain with the issuers that its certificates say where to get.
///
/// Each missing issuer is looked for in the cache, then at the "CA Issuers" address of the certificate that needs it
/// (RFC 5280 §4.2.2.1), then, for Apple's, where Apple publishes it. What comes counts only if its key verifies the
/// signature below it, so neither plain HTTP nor a cache that somebody else filled is a way in.
public struct IssuerSearch: Sendable {
    /// How many issuers are looked for: Apple's chains need two.
    public static let maximumSteps = 5
    /// How many addresses are asked for one chain.
    static let maximumQuestions = 10

    private let fetch: Fetch?
    private let cache: CertificateCache?

    /// Looks in `cache` and asks by `fetch`; `nil` leaves either out.
    public init(fetch: Fetch?, cache: CertificateCache? = nil) {
        self.fetch = fetch
        self.cache = cache
    }

    /// The chain as far up as issuers are found; an ``Outcome/shortfall`` says what is missing then.
    ///
    /// Throws `CancellationError` alone.
    public func complete(_ chain: CertificateChain) async throws -> Outcome {
        var chain = chain
        var asked: Set<String> = []
        for _ in 0..<Self.maximumSteps {
            guard let missing = chain.missing else { return Outcome(chain: chain, shortfall: nil) }
            let addresses = [missing.statedAddress, missing.publishedAddress].compactMap { $0 }
            if addresses.contains(where: { useCache(of: $0, &chain) }) { continue }
            var reasons: [String] = []
            var isFound = false
            for address in addresses where !isFound {
                guard let fetch else {
                    reasons.append("\(address) was not asked, as nothing may be asked on the web.")
                    continue
                }
                guard asked.count < Self.maximumQuestions, asked.insert(address).inserted else {
                    reasons.append("\(address) was asked already.")
                    continue
                }
                do {
                    let answer = try await fetch(FetchRequest(url: address))
                    isFound = take(answer, from: address, &chain, &reasons)
                } catch let error as CancellationError {
                    throw error
                } catch {
                    reasons.append((error as? any ExplainedError)?.message ?? "\(address): \(error)")
                }
            }
            if !isFound {
                if addresses.isEmpty, let stated = missing.needed.issuerURL {
                    reasons.append("Its address, \(stated), is not one of plain HTTP, so it was not asked.")
                }
                return Outcome(chain: chain, shortfall: missing.error(because: reasons))
            }
        }
        let shortfall = chain.missing?.error(because: ["\(Self.maximumSteps) issuers were fetched, and none is a root."]
        )
        return Outcome(chain: chain, shortfall: shortfall)
    }

    /// A chain, and why it is not whole.
    public struct Outcome: Sendable {
        /// As far up as issuers are known.
        public let chain: CertificateChain
        /// What is missing, why it was not got, and where people can get it; `nil` for a whole chain.
        public let shortfall: CodeSignatureError?
    }

    private func useCache(of address: String, _ chain: inout CertificateChain) -> Bool {
        guard let bytes = cache?.answer(of: address), let kept = try? Certificate.all(inPEM: bytes) else {
            return false
        }
        return chain.add(kept)
    }

    private func take(
        _ answer: [UInt8],
        from address: String,
        _ chain: inout CertificateChain,
        _ reasons: inout [String]
    ) -> Bool {
        guard let certificates = try? Certificate.all(inPEM: answer) else {
            reasons.append("\(address): what came is no certificate.")
            return false
        }
        guard chain.add(certificates) else {
            let names = certificates.prefix(3).map { "“\($0.commonName ?? $0.subject)”" }.joined(separator: ", ")
            reasons.append("\(address): what came, \(names), did not issue it.")
            return false
        }
        cache?.keep(answer, of: address)
        return true
    }
}
