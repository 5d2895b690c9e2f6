import FerryCodeSignature

/// What a device asks of the signers' certificates.
struct SignerRules {
    let code: [ArchiveVerifier.CodeFile]
    /// The app or file that they are about.
    let place: String
    /// In seconds since 1970.
    let now: Int64

    /// Checks that each signer's own certificate is valid.
    func validityFaults() -> [Fault] {
        Set(code.flatMap { $0.images.compactMap(\.report.message?.signer) }).filter { !$0.isValid(at: now) }.map {
            signer in
            Fault(
                .certificateExpired,
                at: place,
                "The signer's certificate “\(signer.commonName ?? signer.subject)” is "
                    + (signer.notAfter < now ? "no longer valid." : "not valid yet."),
                remedy: "Sign the archive again with a valid certificate."
            )
        }
    }

    /// Checks the certificates above each signer's own, each chain once.
    func faults() -> [Fault] {
        var seen: Set<Certificate> = []
        var faults: [Fault] = []
        for message in code.lazy.flatMap(\.images).compactMap(\.report.message) {
            guard seen.insert(message.signer).inserted else { continue }
            let chain = CertificateChain(of: message.signer, from: message.certificates)
            let above = chain.isWhole ? chain.issuers.dropLast() : chain.issuers[...]
            faults += above.filter { !$0.isValid(at: now) }.map(expired)
            // Where the chain is not whole, that is a fault of the image.
            if chain.isWhole, !chain.last.isAppleRoot { faults.append(foreign(message.signer, chain.last)) }
        }
        return faults
    }

    private func expired(_ issuer: Certificate) -> Fault {
        Fault(
            .certificateExpired,
            at: place,
            "The issuer's certificate “\(issuer.commonName ?? issuer.subject)” is "
                + (issuer.notAfter < now ? "no longer valid." : "not valid yet."),
            remedy: "Sign the archive again with a certificate that has a valid issuer."
        )
    }

    private func foreign(_ signer: Certificate, _ root: Certificate) -> Fault {
        Fault(
            .foreignAuthority,
            at: place,
            "The signer “\(signer.commonName ?? signer.subject)” has its certificate from "
                + "“\(root.commonName ?? root.subject)”, which is no root of Apple's.",
            remedy:
                "A device takes it only if it was made to trust this root. Sign with an identity of Apple's otherwise.",
            isWarning: true
        )
    }
}
