public import Crypto

/// The authority's certificate in the forms that devices take.
public struct CertificateDownloads: Sendable {
    /// Its name, as a phone shows it.
    public var name: String
    /// SHA-256 of the DER form, in pairs of hexadecimal digits with colons.
    public var fingerprint: String
    /// PEM.
    public var pem: [UInt8]
    /// DER.
    public var der: [UInt8]
    /// An Apple configuration profile.
    public var mobileconfig: [UInt8]
    /// PEM as Android's system store has it.
    public var android: [UInt8]
    /// The name of the file in Android's system store: `HASH.0`.
    public var androidName: String

    /// What devices may have of an authority.
    public init(_ authority: CertificateAuthority) {
        self.init(
            name: authority.certificate.subject, fingerprint: authority.certificate.fingerprint,
            pem: authority.export(.pem), der: authority.export(.der), mobileconfig: authority.export(.mobileconfig),
            android: authority.export(.android), androidName: authority.fileName(.android))
    }

    /// Makes the set.
    public init(
        name: String, fingerprint: String, pem: [UInt8], der: [UInt8], mobileconfig: [UInt8], android: [UInt8],
        androidName: String
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.pem = pem
        self.der = der
        self.mobileconfig = mobileconfig
        self.android = android
        self.androidName = androidName
    }
}
