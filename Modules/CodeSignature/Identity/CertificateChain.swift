/// A certificate and its issuers, as far up as they are known.
///
/// An issuer is picked by its name, and by its key's identifier where both say one; it counts only if its key verifies the
/// signature below it. So certificates of whatever origin may be added.
public struct CertificateChain: Sendable, Hashable {
    /// A chain that is longer is a loop of cross-signed certificates.
    public static let longest = 10
    /// How many signatures are verified at the most.
    static let maximumVerifications = 200

    /// Where it starts.
    public let leaf: Certificate
    /// The issuers above the leaf, its own first; the root is last if ``isWhole``.
    public private(set) var issuers: [Certificate] = []
    private var known: [Certificate]

    /// Starts at `leaf` and goes up as far as `certificates` lead.
    public init(of leaf: Certificate, from certificates: [Certificate]) {
        self.leaf = leaf
        known = certificates
        climb()
    }

    /// Whether it reaches a certificate that issued itself.
    public var isWhole: Bool { last.isSelfIssued }

    /// The uppermost certificate that is known.
    public var last: Certificate { issuers.last ?? leaf }

    /// Goes on with these; gives whether it is longer, or whole, now.
    @discardableResult
    public mutating func add(_ certificates: [Certificate]) -> Bool {
        let new = certificates.filter { !known.contains($0) }
        guard !new.isEmpty, !isWhole else { return false }
        let before = issuers
        known += new
        climb()
        return issuers != before
    }

    /// Which certificate comes next, and where it can be had; `nil` where nothing is missing.
    public var missing: MissingIssuer? { isWhole ? nil : MissingIssuer(of: last) }

    private mutating func climb() {
        issuers = Search(known: known).path(from: leaf)
    }

    /// Looks for the shortest way to a root: more than one certificate may have the wanted name and key.
    private struct Search {
        let known: [Certificate]

        /// The issuers on the way to the nearest root; without one, on the longest way that there is.
        func path(from leaf: Certificate) -> [Certificate] {
            var queue: [[Certificate]] = [[leaf]]
            var reached: Set<Certificate> = [leaf]
            var longest = [leaf]
            var verifications = 0
            var next = 0
            while next < queue.count {
                let path = queue[next]
                next += 1
                guard let last = path.last else { break }
                if last.isSelfIssued { return Array(path.dropFirst()) }
                if path.count > longest.count {
                    longest = path
                }
                guard path.count <= CertificateChain.longest else { continue }
                for candidate in candidates(for: last) where !reached.contains(candidate) {
                    guard verifications < CertificateChain.maximumVerifications else { break }
                    verifications += 1
                    guard last.isIssued(by: candidate) else { continue }
                    reached.insert(candidate)
                    queue.append(path + [candidate])
                }
            }
            return Array(longest.dropFirst())
        }

        /// Those with the issuer's name: first with its key's identifier, then roots, then the one that lasts longest.
        private func candidates(for certificate: Certificate) -> [Certificate] {
            let wanted = certificate.authorityKeyIdentifier
            let named = known.filter { $0.subjectDER == certificate.issuerDER && $0.isAuthority }
            let rated = named.map { candidate in
                (candidate, fits: wanted != nil && candidate.subjectKeyIdentifier == wanted)
            }
            return rated.sorted { one, other in
                if one.fits != other.fits { return one.fits }
                if one.0.isSelfIssued != other.0.isSelfIssued { return one.0.isSelfIssued }
                return one.0.notAfter > other.0.notAfter
            }.map(\.0)
        }
    }
}

/// A certificate that a chain lacks.
public struct MissingIssuer: Sendable, Hashable {
    /// The issuer on one line: `Apple Worldwide Developer Relations Certification Authority G3`.
    public let name: String
    /// The certificate that it issued.
    public let needed: Certificate
    /// The "CA Issuers" address in that certificate, if it is one of `http:`; RFC 5280 §4.2.2.1 wants it plain, because
    /// HTTPS would need a chain to fetch a chain.
    public let statedAddress: String?
    /// Where Apple publishes it, if it is one of Apple's.
    public let publishedAddress: String?

    init(of certificate: Certificate) {
        needed = certificate
        let issuer = certificate.issuerName
        name = issuer.short ?? certificate.issuer
        statedAddress = certificate.issuerURL.flatMap { $0.lowercased().hasPrefix("http://") ? $0 : nil }
        publishedAddress = AppleAuthorities.address(of: issuer)
    }

    /// Says what is missing, why it was not got, and where people can get it.
    public func error(because reasons: [String] = []) -> CodeSignatureError {
        let place = publishedAddress ?? statedAddress ?? needed.issuerURL
        let get = place.map { "Get “\(name)” from \($0) and pass it by --chain FILE" } ?? "Pass it by --chain FILE"
        return CodeSignatureError(
            .chainIncomplete,
            (["the certificate of the issuer “\(needed.issuer)” is missing, which “\(needed.subject)” needs."] + reasons)
                .joined(separator: " "),
            remedy: get + ", or export the .p12 with its whole chain."
        )
    }
}
