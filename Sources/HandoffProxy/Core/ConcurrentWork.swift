internal import EventLoop

/// Several things at once on one connection's loop.
extension ProxiedConnection {
    /// A piece of work. It runs where it is called: on this actor.
    typealias Work = nonisolated(nonsending) () async -> Void

    /// Work on its way into a child task of the same actor.
    private struct Pinned: @unchecked Sendable {
        // Sendable: made by a method of this actor and called by `run(_:)` of the same actor alone, so whatever the closure
        // holds is only ever touched on its loop.
        let work: Work
    }

    private func run(_ pinned: Pinned) async {
        await pinned.work()
    }

    /// Runs all at once; returns when all have ended. Cancellation reaches each.
    func together(_ works: Work...) async {
        let pinned = works.map(Pinned.init)
        await withDiscardingTaskGroup { group in
            for work in pinned { group.addTask(executorPreference: loop) { await self.run(work) } }
        }
    }

    /// Runs all at once; the first to end cancels the others, and all have ended on return.
    func race(_ works: Work...) async {
        let pinned = works.map(Pinned.init)
        await withTaskGroup(of: Void.self) { group in
            for work in pinned { group.addTask(executorPreference: loop) { await self.run(work) } }
            await group.next()
            group.cancelAll()
            await group.waitForAll()
        }
    }

    /// Runs `work`, cancelled when `duration` is over. False when it was.
    func within(_ duration: Duration, _ work: @escaping Work) async -> Bool {
        let outcome = Outcome()
        await race(
            {
                await work()
                if !outcome.isOver { outcome.isDone = true }
            },
            {
                if (try? await LoopTimer.sleep(duration)) != nil, !outcome.isDone { outcome.isOver = true }
            })
        return !outcome.isOver
    }

    /// What a race came to; confined to the actor.
    private final class Outcome {
        var isDone = false
        var isOver = false
    }
}
