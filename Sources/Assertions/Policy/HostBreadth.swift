internal import SessionTrace

/// Whether a host of the policy is one site's, or stands for hosts of everybody.
///
/// A top-level domain and a name under which anybody registers (`com`, `co.uk`) cover every site below them: no role is
/// meant for all of these, and what was meant is half a name. The public suffix list is not part of this program; what is
/// known here are the registries' common forms and the best known hosting platforms.
enum HostBreadth: Equatable {
    /// An address, a name of somebody's own, or one that only a lab can have.
    case oneSite
    /// One label that is no top-level domain: a container of a lab, or a word misspelt.
    case singleLabel
    /// Anybody registers under it.
    case registry
    /// One kind of organisation has its names under it, and one of them perhaps its site there (`nhs.uk`, `gov.uk`).
    case sector
    /// A hosting platform gives its customers names under it.
    case platform

    init(of pattern: HostPattern) {
        let name = pattern.domain.text
        let labels = name.split(separator: ".")
        switch labels.count {
        case _ where pattern.domain.address != nil: self = .oneSite
        case 1 where name == "localhost": self = .oneSite
        case 1 where Self.labDomains.contains(name): self = pattern.subdomainsOnly ? .oneSite : .singleLabel
        case 1: self = TopLevelDomains.contains(name) ? .registry : .singleLabel
        case 2 where Self.registries[String(labels[0])]?.contains(labels[1]) ?? false: self = .registry
        case 2 where Self.sectors[String(labels[0])]?.contains(labels[1]) ?? false: self = .sector
        default: self = Self.platforms.contains(name) ? .platform : .oneSite
        }
    }

    /// Names that no registry gives away (RFC 6761, RFC 6762, RFC 2606, ICANN's resolutions of 2018 on `home` and `corp` and
    /// of 2024 on `internal`), and `lan`, which is none either and many a home router's.
    private static let labDomains: Set<String> = [
        "test", "example", "invalid", "localhost", "local", "internal", "lan", "home", "corp",
    ]

    /// Second labels under which registries of countries register for anybody, and where they do.
    private static let registries: [String: Set<Substring>] = [
        "co": places("ao at bw ck cr fk gg hu id il im in je jp ke kr ls ma mz nz pn rs th tz ug uk uz ve vi za zm zw"),
        "com": places(
            "af ag ai al ar au az ba bb bd bh bn bo br by bz ci cn co cu cy do ec eg es et fj fr ge gh gi gl gn gp gr gt "
                + "hk hn hr ht im iq jm jo kg kh kw ky kz la lb lc lk lv ly mg mk ml mo ms mt mu mv mx my na nf ng ni "
                + "np nr om pa pe pf pg ph pk pl pr ps pt py qa re ro sa sb sc sd sg sl sn so sv sy tj tm tn to tr tt "
                + "tw ua ug uy uz vc ve vi vn vu ws ye"),
        "net": places("au br cn co hk id il in mx my nz ph pl sg th tr tw ua uk vn za"),
        "org": places("ar au br cn co hk il in mx my nz ph pl sg tr tw ua uk vn za"),
        "or": places("at id jp ke kr th tz"),
        "ne": places("jp ke kr tz"), "ltd": places("uk"), "plc": places("uk"), "me": places("uk"),
        "nom": places("br co es fr"),
    ]

    /// Second labels of countries that are kept for one kind of organisation.
    private static let sectors: [String: Set<Substring>] = [
        "gov": places("au br cn il in it my ph pl pt sg tr tw ua uk vn za"),
        "edu": places("ar au br cn co hk mx my ph pl sg tr tw ua vn"),
        "ac": places("at cn id il in jp ke kr nz th tz uk za"),
        "gob": places("ar cl ec es gt mx pe ve"), "go": places("id jp ke kr th tz"), "sch": places("uk id"),
        "nhs": places("uk"),
    ]

    private static func places(_ text: String) -> Set<Substring> { Set(text.split(separator: " ")) }

    /// Best known names under which platforms give names to customers.
    private static let platforms: Set<String> = [
        "github.io", "gitlab.io", "herokuapp.com", "azurewebsites.net", "azureedge.net", "azurefd.net", "cloudapp.net",
        "windows.net", "cloudfront.net", "amazonaws.com", "awsapprunner.com", "elasticbeanstalk.com", "amplifyapp.com",
        "appspot.com", "run.app", "web.app", "firebaseapp.com", "cloudfunctions.net", "googleapis.com",
        "googleusercontent.com", "vercel.app", "netlify.app", "pages.dev", "workers.dev", "r2.dev", "fly.dev",
        "onrender.com", "railway.app", "ngrok.io", "ngrok.app", "ngrok-free.app", "loca.lt", "trycloudflare.com",
        "akamaized.net", "akamaihd.net", "edgekey.net", "edgesuite.net", "fastly.net", "b-cdn.net", "cdn77.org",
        "digitaloceanspaces.com", "ondigitalocean.app", "myshopify.com", "wordpress.com", "blogspot.com",
    ]
}

extension HostPattern {
    /// Whether everything that `other` covers is covered by this one.
    func coversAll(of other: HostPattern) -> Bool {
        other.domain.isWithin(domain) && !(subdomainsOnly && other.domain == domain && !other.subdomainsOnly)
    }
}
