internal import Assertions
internal import HandoffProxy
internal import Reports
internal import SessionTrace

/// What `record` says first: where the device finds us and what to do on it.
struct RecordGreeting {
    let session: RecordSession

    func show(on display: LiveDisplay) async {
        let addresses = session.proxy.addresses
        let configuration = session.settings.configuration
        display.say("Recording to \(session.settings.path). The policy's partner hosts: \(partners).")
        for (address, asked) in zip(addresses, configuration.listeners) {
            let kind =
                asked.isTransparent ? "transparent (TPROXY)" : "HTTP and SOCKS5 proxy, redirected connections too"
            display.say("  \(address)  \(kind)")
        }
        if let page = addresses.first {
            // A listener on all addresses is reached at the one that this host has on the network.
            let isOnAll = page.address.description == "0.0.0.0" || page.address.description == "::"
            let address = isOnAll ? HostAddress.onNetwork ?? LocalAddresses.lan() ?? page.address : page.address
            let url = "http://\(Endpoint(address: address, port: page.port))/"
            display.say("On the device: set the proxy to one of these, then open \(url) to install the certificate.")
            if display.console.talkIsTerminal, !address.isLoopback, let code = QRCode(url) {
                display.console.talk(code.terminalText(setsColours: display.style.usesColour))
            }
        }
        display.say("Marks: \(session.control.markAddress)?kind=tap&target=share")
        if let control = await session.controlAddress {
            display.say("Control API: http://\(control)/ (token in \(session.controlFilePath ?? "no file"))")
            if let path = session.controlFilePath, path != configuration.controlTokenPath {
                display.say("Another recorder runs here: mark this one with handoff mark --control \(path)")
            }
        }
        switch configuration.chiaJourney {
        case .heads: display.say("The person's visit to Chia is not recorded, but for request heads (--chia-journey).")
        case .record:
            display.say("The person's visit to Chia IS RECORDED (--chia-journey=record): synthetic personas only.")
        }
        if display.console.talkIsTerminal { display.say(MarkKeys.help) }
    }

    private var partners: String {
        let hosts = session.settings.policy.hosts.partner
        return hosts.isEmpty ? "none named, they will be inferred" : hosts.map(\.description).joined(separator: ", ")
    }
}
