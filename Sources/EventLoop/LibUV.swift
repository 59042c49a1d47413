internal import CUV
internal import Glibc
internal import SessionTrace

/// The only file that knows libuv: one `uv_loop_t` with its timers, signals and resolver, embedded into a loop of ours
/// (`uv_backend_fd`, `uv_backend_timeout`).
///
/// What enters: times, signal numbers, names. What leaves: calls of the closures given, always on the thread that runs the
/// loop, to which every method belongs.
final class LibUV {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    /// Timers at rest, kept for the next who needs one: a `uv_timer_t` costs a malloc and a closing callback.
    private var idleTimers: [LibUVTimer] = []
    private var isClosed = false
    /// A handle was started or closed, which libuv takes up in its next turn only.
    private var isChanged = true
    /// Most timers kept at rest.
    static let idleTimerLimit = 256

    /// The thread pool that resolves names; libuv reads the variable once, before the first request.
    private static let threadPool: Void = {
        let least = 16
        if let text = getenv("UV_THREADPOOL_SIZE"), let count = Int(String(cString: text)),
            count >= least
        {
            return
        }
        setenv("UV_THREADPOOL_SIZE", String(least), 1)
    }()

    init() throws(EventLoopError) {
        Self.threadPool
        loop = .allocate(capacity: 1)
        let status = uv_loop_init(loop)
        guard status == 0 else {
            loop.deallocate()
            throw EventLoopError(code: -status, operation: "uv_loop_init")
        }
    }

    /// The descriptor that is readable when `turn` has something to do other than a due timer.
    var descriptor: Int32 { uv_backend_fd(loop) }

    /// Milliseconds until `turn` must be called; −1: only when the descriptor says so.
    var waitingTime: Int32 {
        if isChanged { return 0 }
        // Without a handle libuv would end its own loop, and says 0.
        guard uv_loop_alive(loop) != 0 else { return -1 }
        uv_update_time(loop)
        return uv_backend_timeout(loop)
    }

    /// Calls what is due, without waiting.
    func turn() {
        isChanged = false
        uv_run(loop, UV_RUN_NOWAIT)
    }

    /// Closes all handles and frees the loop; nothing may be used afterwards.
    func close() {
        isClosed = true
        uv_walk(
            loop,
            { handle, _ in
                guard let handle, uv_is_closing(handle) == 0 else { return }
                uv_close(handle, nil)
            }, nil)
        // Closing callbacks come in the next turn; only a look-up that a thread of the pool is busy with takes longer. Then
        // the loop's memory is left to it: waiting for a name server would hold up the end of the process.
        for _ in 0..<4 where uv_run(loop, UV_RUN_NOWAIT) == 0 { break }
        guard uv_loop_close(loop) == 0 else { return }
        idleTimers.removeAll()
        loop.deallocate()
    }

    // MARK: - Timers

    /// Calls `action` once, not before `milliseconds` have passed; `cancel` takes it back.
    func startTimer(milliseconds: UInt64, action: @escaping () -> Void) -> LibUVTimer {
        let timer = idleTimers.popLast() ?? LibUVTimer(loop: loop)
        timer.action = action
        // The loop's clock stands still during a turn; a timer counted from a stale one would ring early.
        uv_update_time(loop)
        uv_timer_start(
            timer.handle,
            { handle in
                guard let data = handle?.pointee.data else { return }
                let timer = Unmanaged<LibUVTimer>.fromOpaque(data).takeUnretainedValue()
                let action = timer.action
                timer.action = nil
                action?()
            }, milliseconds, 0)
        return timer
    }

    /// Stops `timer` if it has not rung and takes it back; it must not be used afterwards.
    func recycle(_ timer: LibUVTimer) {
        // After the end of the loop the handle is closed already, and only its memory is left.
        guard !isClosed else { return }
        uv_timer_stop(timer.handle)
        timer.action = nil
        if idleTimers.count < Self.idleTimerLimit {
            idleTimers.append(timer)
        } else {
            isChanged = true
            timer.close()
        }
    }

    // MARK: - Signals

    /// Calls `action` for each arrival of signal `number`, until the returned watch is closed.
    func watchSignal(_ number: Int32, action: @escaping () -> Void) throws(EventLoopError)
        -> LibUVSignal
    {
        isChanged = true
        let signal = LibUVSignal(loop: loop, action: action)
        let status = uv_signal_start(
            signal.handle,
            { handle, _ in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<LibUVSignal>.fromOpaque(data).takeUnretainedValue().action()
            }, number)
        guard status == 0 else {
            signal.close()
            throw EventLoopError(code: -status, operation: "uv_signal_start")
        }
        return signal
    }

    // MARK: - Names

    /// Looks `name` up on the thread pool and calls `done` once; the request can be cancelled while it waits for a thread.
    func resolve(
        _ name: String, family: Resolver.Family,
        done: @escaping (Result<[IPAddress], ResolverError>) -> Void
    ) -> LibUVResolution {
        isChanged = true
        let request = LibUVResolution(done: done)
        var hints = addrinfo()
        hints.ai_family =
            switch family {
            case .any: AF_UNSPEC
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            }
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let status = uv_getaddrinfo(
            loop, request.request,
            { request, status, list in
                guard let data = request?.pointee.data else { return }
                let resolution = Unmanaged<LibUVResolution>.fromOpaque(data).takeRetainedValue()
                resolution.finish(status: status, list: list)
            }, name, nil, &hints)
        if status == 0 {
            request.isRunning = true
            // Balanced by the callback, which libuv calls exactly once, cancelled or not.
            request.request.pointee.data = Unmanaged.passRetained(request).toOpaque()
        } else {
            request.finish(status: status, list: nil)
        }
        return request
    }
}

/// A `uv_timer_t` that is used again and again.
final class LibUVTimer {
    fileprivate let handle = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    fileprivate var action: (() -> Void)?

    /// It has not rung yet.
    var isRunning: Bool { action != nil }

    fileprivate init(loop: UnsafeMutablePointer<uv_loop_t>) {
        uv_timer_init(loop, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    fileprivate func close() {
        // libuv holds the handle until its closing callback; this object with it.
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let plain = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        uv_close(plain) { handle in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<LibUVTimer>.fromOpaque(data).release()
        }
    }

    deinit {
        handle.deallocate()
    }
}

/// A `uv_signal_t`.
final class LibUVSignal {
    fileprivate let handle = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
    fileprivate let action: () -> Void
    private var isClosed = false

    fileprivate init(loop: UnsafeMutablePointer<uv_loop_t>, action: @escaping () -> Void) {
        self.action = action
        uv_signal_init(loop, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Stops watching; the signal gets its default meaning back when nobody else watches it.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let plain = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        uv_close(plain) { handle in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<LibUVSignal>.fromOpaque(data).release()
        }
    }

    deinit {
        handle.deallocate()
    }
}

/// A `uv_getaddrinfo_t` on its way.
final class LibUVResolution {
    fileprivate let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    fileprivate var done: ((Result<[IPAddress], ResolverError>) -> Void)?
    fileprivate var isRunning = false

    fileprivate init(done: @escaping (Result<[IPAddress], ResolverError>) -> Void) {
        self.done = done
    }

    /// Answers with "cancelled" at once; a look-up that has a thread already ends unheard.
    func cancel() {
        if isRunning {
            let plain = UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self)
            uv_cancel(plain)
        }
        let done = self.done
        self.done = nil
        done?(.failure(.cancelled))
    }

    fileprivate func finish(status: Int32, list: UnsafeMutablePointer<addrinfo>?) {
        isRunning = false
        defer { if let list { uv_freeaddrinfo(list) } }
        guard let done else { return }
        self.done = nil
        guard status == 0 else {
            switch status {
            case UV_ECANCELED.rawValue: done(.failure(.cancelled))
            case UV_EAI_NONAME.rawValue, UV_EAI_NODATA.rawValue, UV_EAI_ADDRFAMILY.rawValue:
                done(.failure(.notFound))
            case UV_EAI_AGAIN.rawValue: done(.failure(.tryAgain))
            default: done(.failure(.failed(String(cString: uv_strerror(status)))))
            }
            return
        }
        var found: [IPAddress] = []
        var entry = list
        while let here = entry {
            if let address = here.pointee.ai_addr, let endpoint = Endpoint(address),
                !found.contains(endpoint.address)
            {
                found.append(endpoint.address)
            }
            entry = here.pointee.ai_next
        }
        done(found.isEmpty ? .failure(.notFound) : .success(found))
    }

    deinit {
        request.deallocate()
    }
}
