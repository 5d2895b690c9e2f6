public import FerryBytes
public import FerryCodeSignature
public import FerryWeb

/// Asks the authorities of a chain whether its certificates were revoked (RFC 6960).
public struct RevocationCheck: Sendable {
    /// What was found out about one certificate.
    public enum Finding: Sendable {
        /// The authority's word.
        case status(RevocationStatus)
        /// There is no word, and why.
        case failure(any ExplainedError)
        /// The certificate says nobody to ask, or its issuer is not known.
        case notAskable
    }

    private let fetch: Fetch
    private let now: @Sendable () -> Int64
    private let nonce: @Sendable () -> [UInt8]?

    /// Asks by `fetch`.
    ///
    /// - Parameter now: the date, in seconds since 1970.
    /// - Parameter nonce: random bytes for each question; `nil` for none. Apple's responders repeat none.
    public init(
        fetch: @escaping Fetch,
        now: @escaping @Sendable () -> Int64,
        nonce: @escaping @Sendable () -> [UInt8]? = { (0..<16).map { _ in UInt8.random(in: 0...255) } }
    ) {
        self.fetch = fetch
        self.now = now
        self.nonce = nonce
    }

    /// Asks about the leaf and each issuer but the root, which nobody vouches for; in that order.
    ///
    /// Throws `CancellationError` alone.
    public func findings(about chain: CertificateChain) async throws -> [Finding] {
        let all = [chain.leaf] + chain.issuers
        var findings: [Finding] = []
        for (index, certificate) in all.enumerated() where !certificate.isSelfIssued {
            findings.append(
                try await finding(about: certificate, issuedBy: index + 1 < all.count ? all[index + 1] : nil)
            )
        }
        return findings
    }

    private func finding(about certificate: Certificate, issuedBy issuer: Certificate?) async throws -> Finding {
        guard let issuer, let url = certificate.revocationURL else { return .notAskable }
        guard url.lowercased().hasPrefix("http://") else {
            return .failure(FetchError(.badURL, "\(url): this is not an address of plain HTTP, so it was not asked."))
        }
        do {
            let question = try RevocationQuestion(about: certificate, issuedBy: issuer, nonce: nonce())
            let answer = try await fetch(
                FetchRequest(url: url, body: question.bytes, contentType: "application/ocsp-request")
            )
            return .status(try question.status(in: answer, at: now()))
        } catch let error as CancellationError {
            throw error
        } catch let error as CodeSignatureError {
            return .failure(FetchError(.refused, "\(url): \(error.message)", remedy: error.remedy))
        } catch {
            return .failure((error as? any ExplainedError) ?? FetchError(.connection, "\(url): \(error)"))
        }
    }
}
