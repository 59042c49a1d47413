import Foundation
import Testing

/// A recorder that has no descriptor left: it says so once, and serves again when there are some.
@Suite(
    .enabled(
        if: ToolRun.handoff != nil && ToolRun.find("/usr/bin/python3") != nil, "needs the built command and Python"))
struct DescriptorShortageTests {
    /// Runs `record` with 64 descriptors at most, opens more connections than that, closes them, and asks for the set-up
    /// page. Prints its status line, and how often the shortage was told.
    private static let script = """
        import re, resource, signal, socket, subprocess, sys, threading, time
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            # The thread that runs a test has signals blocked, and a child inherits that.
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
        handoff, folder = sys.argv[1:3]
        child = subprocess.Popen(
            [handoff, "record", "--listen", "127.0.0.1:0", "--control", "none", "--marks", "none",
             "--ca-dir", folder + "/ca", "--out", folder + "/trace.pcapng"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
        try:
            lines, port = [], None
            def read():
                for line in child.stderr: lines.append(line)
            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            def wait(pattern):
                end = time.monotonic() + 30
                while time.monotonic() < end:
                    for line in list(lines):
                        found = re.search(pattern, line)
                        if found: return found
                    time.sleep(0.02)
                sys.exit("not said: " + pattern + "".join(lines))
            port = int(wait(r"127\\.0\\.0\\.1:(\\d+)  HTTP").group(1))
            clients = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(70)]
            wait("No descriptor is left")
            # The shortage is met again every 100 ms.
            time.sleep(0.5)
            for client in clients: client.close()
            end = time.monotonic() + 30
            while True:
                try:
                    client = socket.create_connection(("127.0.0.1", port), 20)
                    client.settimeout(20)
                    client.sendall(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:%d\\r\\n\\r\\n" % port)
                    answer = client.recv(12)
                    if answer: break
                except OSError: pass
                if time.monotonic() > end: sys.exit("not served again")
                time.sleep(0.1)
            child.send_signal(signal.SIGINT)
            child.wait(30)
            reader.join(10)
            print(answer.decode(), sum("No descriptor is left" in line for line in lines))
        finally:
            if child.poll() is None: child.kill()
        """

    @Test func itIsToldOnceAndPasses() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let python = try #require(ToolRun.find("/usr/bin/python3"))
        let handoff = try #require(ToolRun.handoff)
        let run = try ToolRun(
            python, ["-c", Self.script, handoff, scratch.folder.path],
            environment: ["XDG_DATA_HOME": scratch.path("data"), "SSLKEYLOGFILE": ""], seconds: 120)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "HTTP/1.1 200 1\n")
    }
}
