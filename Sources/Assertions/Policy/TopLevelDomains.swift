/// Top-level domains: those of countries, and of the others the older ones and those that sites are commonly found under. A
/// name of one label that is none of them is nobody's registry.
enum TopLevelDomains {
    static func contains(_ label: String) -> Bool {
        // Those of other scripts begin so in the DNS (RFC 5890), and nothing else of one label does.
        label.hasPrefix("xn--") || known.contains(Substring(label))
    }

    private static let known: Set<Substring> = Set((countries + " " + generic).split(separator: " "))

    private static let countries =
        "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd "
        + "cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb "
        + "gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp "
        + "ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms "
        + "mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro "
        + "rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr "
        + "tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"

    private static let generic =
        "academy accountant accountants actor agency apartments app apple architect army arpa art asia associates attorney "
        + "auction audio auto aws axa baby band bank bar bargains basketball bayern beauty beer berlin best bet bible bid "
        + "bike bingo bio biz black blog blue boats book boston boutique box broker build builders business buy cab cafe "
        + "camera camp capital car cards care career careers cars casa cash casino cat catering center ceo channel charity "
        + "chat cheap christmas church city claims cleaning click clinic clothing cloud club coach codes coffee college "
        + "cologne com community company computer condos construction consulting contact contractors cooking cool coop "
        + "country coupons courses cpa credit creditcard cricket cruises cymru dance data date dating day deal deals "
        + "degree delivery democrat dental dentist desi design dev diamonds diet digital direct directory discount dnp docs "
        + "doctor dog domains download earth eco edu education email energy engineer engineering enterprises equipment "
        + "esq estate events exchange expert exposed express fail faith family fan fans farm fashion feedback finance "
        + "financial fish fishing fit fitness flights florist flowers foo football forex forsale forum foundation free fun "
        + "fund furniture futbol fyi gallery game games garden gay gift gifts gives giving glass global gmbh gold golf "
        + "google gov graphics gratis green gripe group guide guitars guru hair hamburg haus health healthcare help hiphop "
        + "hiv hockey holdings holiday homes horse hospital host hosting hotels house how icu immo immobilien inc "
        + "industries info ing ink institute insurance insure int international investments irish jetzt jewelry jobs "
        + "juegos kaufen kids kim kitchen kiwi koeln land lat law lawyer lease legal lgbt life lighting limited limo link "
        + "live living llc llp loan loans lol london lotto love ltd luxe luxury maison makeup management map market "
        + "marketing markets mba med media meet melbourne meme memorial men menu miami mil mobi mobile moda moe mom money "
        + "monster mortgage motorcycles mov movie museum music nagoya name navy net network new news ngo ninja now nrw nyc "
        + "observer okinawa one ong onl online ooo open org organic osaka paris partners parts party pay pet pharmacy "
        + "phd phone photo photography photos physio pics pictures pink pizza place plumbing plus poker porn post press "
        + "prime pro prod productions prof promo properties property protection pub quebec quest racing radio realestate "
        + "realtor realty recipes red rehab reise reisen rent rentals repair report republican rest restaurant review "
        + "reviews rich rip rocks rodeo room rugby ruhr run saarland safe sale salon sarl save school schule science scot "
        + "search secure security select services sex sexy shoes shop shopping show singles site ski skin soccer social "
        + "software solar solutions spa space spot store stream studio study style sucks supplies supply support surf "
        + "surgery sydney systems taipei talk tattoo tax taxi team tech technology tel tennis theater theatre tickets "
        + "tienda tips tires today tokyo tools top tours town toys trade trading training travel trust tube university uno "
        + "vacations vegas ventures vet viajes video villas vin vip vision vodka vote voting voyage wales watch weather web "
        + "webcam website wedding wiki win wine work works world wtf xxx xyz yachts yoga you youtube zero zip zone zuerich"
}
