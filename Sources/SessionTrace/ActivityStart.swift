/// The start of an Android activity, as a log of the system tells it: which component a URL was handed to.
public struct ActivityStart: Hashable, Sendable {
    /// When, on the reference clock.
    public var span: TimeSpan
    /// `PACKAGE/CLASS`, such as `com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity`.
    public var component: String
    /// The intent's action (`android.intent.action.VIEW`), where the log tells.
    public var action: String?
    /// The host of the address in the intent, where the log tells.
    public var host: HostName?
    /// File and line that it comes from, for people.
    public var origin: String

    /// Makes a record of a start.
    public init(span: TimeSpan, component: String, action: String? = nil, host: HostName? = nil, origin: String) {
        self.span = span
        self.component = component
        self.action = action
        self.host = host
        self.origin = origin
    }

    /// Whether it was started to open an address.
    public var opensAddress: Bool { action == "android.intent.action.VIEW" && host != nil }
}
