import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct ControlSiteTests {
    static let site = ControlSite(token: ControlSecret(text: "t0ken"))

    static func request(
        _ method: String, _ path: String, host: String? = "127.0.0.1:4775",
        _ fields: [String: String] = ["Authorization": "Bearer t0ken"], body: String = ""
    ) -> LocalRequest {
        var request = LocalRequest(method: method, target: path, authority: host)
        for (name, value) in fields { request.fields.append(name, value) }
        request.body = Array(body.utf8)
        return request
    }

    private static func status(_ request: LocalRequest) -> Int? {
        guard case .response(let response) = site.answer(request) else { return nil }
        return response.status
    }

    @Test func everyRequestNeedsTheToken() {
        for fields in [
            [:], ["Authorization": "t0ken"], ["Authorization": "Basic t0ken"], ["Authorization": "Bearer t0kem"],
            ["X-Handoff-Token": ""], ["Authorization": "Bearer t0ken2"], ["Cookie": "token=t0ken"],
        ] {
            for path in ["/marks", "/status", "/events", "/stop", "/faults", "/nothing"] {
                #expect(Self.status(Self.request("GET", path, fields)) == 401, "\(fields) \(path)")
            }
        }
        #expect(Self.site.answer(Self.request("GET", "/status", ["X-Handoff-Token": "t0ken"])) == .status)
        #expect(Self.site.answer(Self.request("GET", "/status", ["Authorization": "bearer t0ken"])) == .status)
    }

    @Test func webPagesAreRefusedBeforeTheTokenIsLookedAt() {
        let good = ["Authorization": "Bearer t0ken"]
        for host in ["evil.example", "mark.handoff.test", "", nil] {
            #expect(Self.status(Self.request("GET", "/status", host: host, good)) == 421)
        }
        for host in ["localhost:4775", "[::1]:4775", "10.0.0.1"] {
            #expect(Self.site.answer(Self.request("GET", "/status", host: host, good)) == .status)
        }
        for fields in [["Origin": "null"], ["Origin": "http://127.0.0.1:4775"], ["Sec-Fetch-Site": "same-origin"]] {
            let all = good.merging(fields) { $1 }
            #expect(Self.status(Self.request("GET", "/status", all)) == 403)
        }
    }

    @Test func pathsAndMethods() {
        #expect(Self.site.answer(Self.request("POST", "/stop")) == .stop)
        #expect(Self.site.answer(Self.request("GET", "/events")) == .events(after: nil))
        let resumed = ["Authorization": "Bearer t0ken", "Last-Event-ID": "12"]
        #expect(Self.site.answer(Self.request("GET", "/events", resumed)) == .events(after: 12))
        #expect(Self.site.answer(Self.request("GET", "/faults")) == .listFaults)
        #expect(Self.site.answer(Self.request("DELETE", "/faults")) == .removeFaults)
        #expect(Self.status(Self.request("GET", "/marks")) == 405)
        #expect(Self.status(Self.request("GET", "/stop")) == 405)
        #expect(Self.status(Self.request("PUT", "/faults")) == 405)
        #expect(Self.status(Self.request("GET", "/")) == 404)
    }

    @Test func marksComeAloneOrTogether() {
        let one = #"{"kind":"tap"}"#
        #expect(Self.site.answer(Self.request("POST", "/marks", body: one)) == .marks([Array(one.utf8)], isList: false))
        #expect(
            Self.site.answer(Self.request("POST", "/marks", body: "[\(one)]"))
                == .marks([Array(one.utf8)], isList: true))
        #expect(
            Self.site.answer(Self.request("POST", "/marks", body: "\(one)\n\(one)\n"))
                == .marks([Array(one.utf8), Array(one.utf8)], isList: true))
        #expect(Self.status(Self.request("POST", "/marks")) == 400)
    }

    @Test func faultsAreTextOrJSON() {
        #expect(
            Self.site.answer(Self.request("POST", "/faults", body: "POST /a: 503 once\n\nGET /b: reset\n"))
                == .addFaults(["POST /a: 503 once", "GET /b: reset"]))
        let json = ["Authorization": "Bearer t0ken", "Content-Type": "application/json"]
        #expect(
            Self.site.answer(Self.request("POST", "/faults", json, body: #"{"rule":"GET /: 500"}"#))
                == .addFaults(["GET /: 500"]))
        #expect(Self.status(Self.request("POST", "/faults", body: "\n")) == 400)
        #expect(Self.status(Self.request("POST", "/faults", json, body: "[]")) == 400)
        let many = String(repeating: "GET /: 500\n", count: ControlSite.faultLimit + 1)
        #expect(Self.status(Self.request("POST", "/faults", body: many)) == 400)
    }

    @Test func secretsAreComparedWholeAndNeverPrinted() throws {
        let secret = ControlSecret(text: "abc")
        #expect(secret.matches("abc"))
        for other in ["", "ab", "abcd", "abd", "ABC"] { #expect(!secret.matches(other)) }
        #expect(!ControlSecret(text: "").matches(""))
        #expect(!"\(secret)\(String(reflecting: secret))".contains("abc"))
        let first = try ControlSecret.random()
        let second = try ControlSecret.random()
        #expect(first.text.utf8.count == 43 && first.text != second.text)
    }
}
