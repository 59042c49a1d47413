/// Words that tell what a treatment is for: an image's path must not hold them (HR-45).
enum TreatmentWords {
    /// Substances, brands and conditions, in lower case and without separators.
    static let listed: Set<String> = [
        "semaglutide", "tirzepatide", "liraglutide", "ozempic", "wegovy", "mounjaro", "zepbound", "saxenda", "glp1",
        "weightloss", "obesity", "sildenafil", "tadalafil", "viagra", "cialis", "erectile", "impotence", "finasteride",
        "minoxidil", "hairloss", "testosterone", "trt", "menopause", "estradiol", "contraception", "contraceptive",
        "birthcontrol", "depression", "anxiety", "sertraline", "insomnia", "herpes", "valacyclovir", "chlamydia", "hiv",
        "acne", "tretinoin", "isotretinoin", "migraine", "diabetes", "metformin", "adhd", "fertility",
    ]

    /// Words of a title that say nothing about what is treated.
    private static let plain: Set<String> = [
        "programme", "program", "treatment", "therapy", "health", "medical", "online", "service", "services", "support",
        "consultation", "personal", "personalized", "personalised", "prescription", "continue", "doctor", "clinic",
        "month", "months", "monthly", "weekly", "daily", "visit", "package", "bundle", "starter", "basic", "standard",
        "premium", "first", "product", "products", "assets", "thumbnail", "thumb", "small", "medium", "large",
        "default",
        "placeholder", "public", "media", "files", "static", "content", "upload", "uploads", "square", "cover",
        "catalog", "catalogue", "about", "start", "today", "your", "with", "from", "image", "images", "photo", "chia",
    ]

    /// The words of a title, five letters or more, that tell what it is for.
    static func telling(in title: String) -> Set<String> {
        Set(words(of: title.prefix(200)).filter { $0.utf8.count >= 5 && !plain.contains($0) }.prefix(12))
    }

    /// The first word of a path that tells the treatment: a listed one, or one of the item's title.
    static func naming(path: String, titleWords: Set<String>) -> String? {
        let words = words(of: path.prefix(2_000))
        for (index, word) in words.enumerated() {
            if listed.contains(word) || titleWords.contains(word) { return word }
            // `weight-loss`, `glp-1`.
            if index + 1 < words.count, listed.contains(word + words[index + 1]) { return word + words[index + 1] }
        }
        return nil
    }

    private static func words(of text: Substring) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber) }.map(String.init)
    }
}
