import Foundation
import FoundationXML
import Testing

@testable import CommandLine

/// The JUnit report, read back by an XML parser: its structure as the common `junit.xsd` wants it, its counts, and which
/// verdict becomes which element.
@Suite struct JUnitReportTests {
    struct Case {
        var name: String
        var children: [String]
        var message: String?
    }

    struct Suite {
        var attributes: [String: String]
        var properties: [String: String] = [:]
        var cases: [Case] = []

        func count(_ element: String) -> Int { cases.count { $0.children.contains(element) } }
        func first(_ id: String) -> Case? { cases.first { $0.name.hasPrefix(id) } }
    }

    /// Reads a document; `faults` are departures from the structure.
    final class Reader: NSObject, XMLParserDelegate {
        var suites: [Suite] = []
        var faults: [String] = []
        private var open: [String] = []
        /// Element → what it may lie in, its attributes, and of these the ones that must be there.
        private static let structure: [String: (parents: [String], attributes: [String], required: [String])] = [
            "testsuites": ([""], ["name", "tests", "failures", "errors", "skipped", "time"], []),
            "testsuite": (
                ["testsuites"], ["name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"],
                ["name", "tests", "failures", "errors", "skipped", "time"]
            ),
            "properties": (["testsuite"], [], []),
            "property": (["properties"], ["name", "value"], ["name", "value"]),
            "testcase": (["testsuite"], ["name", "classname", "time"], ["name", "classname", "time"]),
            "failure": (["testcase"], ["type", "message"], ["type", "message"]),
            "error": (["testcase"], ["type", "message"], ["type", "message"]),
            "skipped": (["testcase"], ["message"], ["message"]),
            "system-out": (["testcase"], [], []),
        ]

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            if let rule = Self.structure[name] {
                if !rule.parents.contains(open.last ?? "") { faults.append("\(name) in \(open.last ?? "nothing")") }
                for key in attributes.keys where !rule.attributes.contains(key) { faults.append("\(name) has \(key)") }
                for key in rule.required where attributes[key]?.isEmpty ?? true {
                    faults.append("\(name) lacks \(key)")
                }
                if let time = attributes["time"], Double(time) == nil { faults.append("time \(time)") }
            } else {
                faults.append("unknown element \(name)")
            }
            open.append(name)
            let last = suites.count - 1
            switch name {
            case "testsuite": suites.append(Suite(attributes: attributes))
            case "property": suites[last].properties[attributes["name"] ?? ""] = attributes["value"]
            case "testcase":
                suites[last].cases.append(Case(name: attributes["name"] ?? "", children: [], message: nil))
            case "failure", "error", "skipped", "system-out":
                let place = suites[last].cases.count - 1
                suites[last].cases[place].children.append(name)
                suites[last].cases[place].message = attributes["message"]
            default: break
            }
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            open.removeLast()
        }
    }

    static func read(_ words: [String]) throws -> (suites: [Suite], run: CommandRun) {
        let paths = words.map { $0.hasPrefix("--") ? $0 : Places.recordings.appending(path: $0).path }
        let run = CommandRun(["check"] + paths + ["--report", "junit=-"])
        let reader = Reader()
        let parser = XMLParser(data: Data(run.result.utf8))
        parser.delegate = reader
        #expect(parser.parse())
        #expect(reader.faults.isEmpty)
        for suite in reader.suites {
            #expect(suite.attributes["tests"] == "\(suite.cases.count)")
            #expect(suite.attributes["failures"] == "\(suite.count("failure"))")
            #expect(suite.attributes["errors"] == "\(suite.count("error"))")
            #expect(suite.attributes["skipped"] == "\(suite.count("skipped"))")
            // At most one of them a case, and each names its reason.
            for test in suite.cases {
                #expect(test.children.count <= 1)
                #expect(test.children.isEmpty || test.children == ["system-out"] || test.message?.isEmpty == false)
            }
        }
        return (reader.suites, run)
    }

    @Test func aViolationIsAFailure() throws {
        let suite = try #require(try Self.read(["url-in-crash-report.pcapng"]).suites.first)
        #expect(suite.first("HR-46")?.children == ["failure"])
        #expect(suite.first("HR-46")?.message?.contains("sentry") == true)
        #expect(suite.first("HR-01")?.children.contains("failure") == false)
        #expect(suite.count("failure") == 2)
        #expect(suite.count("error") == 0)
        #expect(suite.first("HR-13")?.children == ["skipped"])
        #expect(suite.properties["gate"]?.contains("HR-46") == true)
        #expect(suite.properties["complete"] == "true")
    }

    @Test func onlyAGatedDoubtIsAnError() throws {
        let suite = try #require(try Self.read(["hole-in-the-middle.pcapng"]).suites.first)
        #expect(suite.first("HR-46")?.children == ["error"])
        #expect(suite.first("HC-06")?.children == ["skipped"])
        #expect(suite.first("HC-06")?.message?.contains("tcp-hole") == true)
        // Strict gates the coverage rules too.
        let strict = try #require(try Self.read(["hole-in-the-middle.pcapng", "--strict"]).suites.first)
        #expect(strict.first("HC-06")?.children == ["error"])
    }

    @Test func anUnreadableTraceIsAnErrorOfItsOwnSuite() throws {
        let (suites, run) = try Self.read(["no-such-file.pcapng", "conforming-share.pcapng"])
        // The last one is that of the rules over all traces.
        #expect(suites.count == 3)
        #expect(suites.first?.cases.map(\.name) == ["readable"])
        #expect(suites.first?.count("error") == 1)
        #expect(run.status == .unreadable)
        // What stands in the report is said on standard error too.
        #expect(run.talk.contains("no-such-file.pcapng: No such file or directory"))
    }

    @Test func allRecordingsGiveAWholeDocument() throws {
        let (suites, _) = try Self.read(RecordingsTests.files)
        // One suite a trace, and one for the rules over all of them.
        #expect(suites.count == RecordingsTests.files.count + 1)
    }
}
