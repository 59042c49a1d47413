#!/usr/bin/env python3
"""Mutation testing of the rules: breaks each comparison, branch and statement of Sources/Assertions/Rules in turn, and
tells which of these mutants no test notices.

    Scripts/mutate.py [--only HR14] [--scratch FOLDER] [--results FILE] [--resume FILE] [--list] [--seconds 60]
                      [--jobs N] [--debug]

All mutants are compiled at once, in a copy of the sources and with optimisation: each place asks at run time whether it
is the one that is broken (HANDOFF_MUTANT=number), so that there is one build and not one a mutant. A comparison becomes
an operator of its own, `<` in place 17 for instance the operator `<⊕⊖`, which is `<` unless mutant 17 runs. The order
of a sort (`$0.time < $1.time`) is left alone: `<=` differs from `<` there only among equals.

First each suite of AssertionsTests runs once by itself, unbroken, and writes down which places it reaches
(HANDOFF_MUTANT_TRACE=file) and how long it took. A mutant then meets suites that reach its place: those named after its
rule first, then those that speak of the rule, from the quickest to the slowest, until a test fails. (What all rules
share meets all suites. That some other rule's suite stumbles over a mutant is no proof that its rule is tested.) A
suite that takes HEAVY times as long as the median one is asked only about places that no lighter one reaches.

--debug builds without optimisation, which is sooner done and runs slower: for a rule or two. With --scratch the next
run builds only what changed since.

A run that does not end is a dead mutant: its time is --seconds, and unbroken no suite may take a third of that.
Survivors are printed with file, line and what was changed; exit status 1 when there are any that
Scripts/mutants-equivalent.txt does not explain. --results writes the fate of each mutant, a line each, as it is known.
--resume reads such a file of an earlier run: what was killed then counts as killed and does not run again, and what
lived then comes last. It trusts that what the mutant's line does, and the tests that killed it, did not change since: a
line that was edited is another mutant, but what stands around it is not compared.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RULES = "Sources/Assertions/Rules"
GLYPHS = "⊕⊖⊗⊘⊙⊚⊛"
FLIPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
PRECEDENCE = {"&&": "LogicalConjunctionPrecedence", "||": "LogicalDisjunctionPrecedence"}
STATEMENT = re.compile(
    r"^(\s*)((?:judgement|session)\.(?:violation|doubt\w*|assume\w*|information|exercised|looked)\()")
HEAVY = 4  # times the median suite
BATCH = 4  # times the median suite
EXPLAINED = os.path.join(HERE, "mutants-equivalent.txt")


class Mutant:
    def __init__(self, number, path, line, change, text, repeat):
        self.number, self.path, self.line, self.change, self.text = number, path, line, change, text
        self.repeat = f" ({repeat})" if repeat > 1 else ""

    def rule(self):
        """The rule that it is of; none for what all rules share."""
        found = re.match(r"(HR|HC)\d+", os.path.basename(self.path))
        return found.group(0) if found else None

    def key(self):
        """Stable over edits elsewhere: the file, what was changed, the line's text, and which of several alike."""
        return f"{os.path.basename(self.path)} | {self.change}{self.repeat} | {self.text}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.change}{self.repeat}: {self.text}"


class Mutation:
    """Mutants of some files, and the Swift declarations that they need."""

    def __init__(self):
        self.mutants, self.declarations, self.alike = [], [], collections.Counter()

    def add(self, path, line, change, text):
        self.alike[path, change, text.strip()] += 1
        repeat = self.alike[path, change, text.strip()]
        mutant = Mutant(len(self.mutants) + 1, path, line, change, text.strip(), repeat)
        self.mutants.append(mutant)
        return mutant.number

    def operator(self, number, operator):
        glyphs, rest = "", number
        while rest:
            glyphs += GLYPHS[rest % len(GLYPHS)]
            rest //= len(GLYPHS)
        name, flipped = operator + glyphs, FLIPS[operator]
        precedence = PRECEDENCE.get(operator, "ComparisonPrecedence")
        self.declarations.append(f"infix operator {name}: {precedence}")
        if operator in PRECEDENCE:
            self.declarations.append(
                f"func {name}(a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool {{"
                f" try Mutants.isOn({number}) ? a {flipped} b() : a {operator} b() }}")
            return name
        bound = "Equatable" if operator in ("==", "!=") else "Comparable"
        for size in (2, 3):  # tuples conform to nothing
            letters = "ABC"[:size]
            parameters, tuple_ = ", ".join(f"{letter}: {bound}" for letter in letters), ", ".join(letters)
            self.declarations.append(
                f"func {name}<{parameters}>(a: ({tuple_}), b: ({tuple_})) -> Bool {{"
                f" Mutants.isOn({number}) ? a {flipped} b : a {operator} b }}")
        if operator in ("==", "!="):
            self.declarations.append(
                f"func {name}<T: Equatable>(a: T, b: T) -> Bool {{"
                f" Mutants.isOn({number}) ? a {flipped} b : a {operator} b }}")
            self.declarations.append(
                f"func {name}<T>(a: T?, b: _OptionalNilComparisonType) -> Bool {{"
                f" Mutants.isOn({number}) ? a {flipped} b : a {operator} b }}")
        else:
            self.declarations.append(
                f"func {name}<T: Comparable>(a: T, b: T) -> Bool {{"
                f" Mutants.isOn({number}) ? a {flipped} b : a {operator} b }}")
        return name

    def file(self, path, source):
        lines, result, index = source.split("\n"), [], 0
        while index < len(lines):
            line = lines[index]
            statement = STATEMENT.match(line)
            end = statement_end(lines, index) if statement else index
            # One that a brace follows is part of a condition.
            if statement and not lines[end + 1].strip().startswith("{"):
                text = " ".join(part.strip() for part in lines[index:end + 1])[:100]
                number = self.add(path, index + 1, "statement deleted", text)
                body = [self.line(path, index + offset, part, keep_words=True)
                        for offset, part in enumerate(lines[index:end + 1])]
                body[0] = f"{statement.group(1)}if !Mutants.isOn({number}) {{ {body[0].lstrip()}"
                body[-1] += " }"
                result += body
                index = end + 1
                continue
            result.append(self.line(path, index, line))
            index += 1
        return "\n".join(result)

    def line(self, path, index, line, keep_words=False):
        if line.lstrip().startswith(("//", "case ", "@", "static let description", "import", "internal import")):
            return line
        code, strings = mask_strings(line)
        code = re.sub(r"//.*$", "", code)
        tail = line[len(code):] if len(code) < len(line) else ""
        out, last = "", 0
        for match in re.finditer(r"(?<= )(<=|>=|==|!=|<|>|&&|\|\|)(?= )", code):
            if match.group(1) in "<>" and code[match.end():].lstrip(" (").startswith("$1"):
                continue
            number = self.add(path, index + 1, f"{match.group(1)} for {FLIPS[match.group(1)]}", line)
            out += line[last:match.start()] + self.operator(number, match.group(1))
            last = match.end()
        # An operator may also end or begin a line.
        out += line[last:len(code)] + tail
        if keep_words:
            return out
        branch = re.match(r"^(\s*(?:\} else )?(?:if|guard)) (?!#|case\b|!Mutants)", out)
        if branch and "#if" not in out:
            word = "branch never taken" if "if" in branch.group(1) else "guard always leaves"
            number = self.add(path, index + 1, word, line)
            out = f"{branch.group(1)} !Mutants.isOn({number}), " + out[branch.end():]
        literal = re.match(r"^(\s*return )(true|false)(\s*\}?)$", out)
        if literal:
            number = self.add(path, index + 1, f"{literal.group(2)} negated", line)
            value = f"!Mutants.isOn({number})" if literal.group(2) == "true" else f"Mutants.isOn({number})"
            out = literal.group(1) + value + literal.group(3)
        return out

    def support(self):
        return SUPPORT.replace("COUNT", str(len(self.mutants) + 1)) + "\n".join(self.declarations) + "\n"


SUPPORT = """import Glibc
enum Mutants {
    static let active = getenv("HANDOFF_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
    /// A byte for each place, 1 once it was reached; written to HANDOFF_MUTANT_TRACE at the end.
    nonisolated(unsafe) static let reached: UnsafeMutablePointer<UInt8>? = {
        guard getenv("HANDOFF_MUTANT_TRACE") != nil else { return nil }
        atexit {
            let file = fopen(getenv("HANDOFF_MUTANT_TRACE"), "w")
            fwrite(Mutants.reached, 1, COUNT, file)
            fclose(file)
        }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: COUNT)
        bytes.initialize(repeating: 0, count: COUNT)
        return bytes
    }()
    @inline(never) static func isOn(_ number: Int) -> Bool {
        if let reached { reached[number] = 1 }
        return active == number
    }
}
"""


def mask_strings(line):
    """The line with the content of string literals blotted out, and whether there was any."""
    out, inside, index = "", False, 0
    while index < len(line):
        character = line[index]
        if inside and character == "\\" and index + 1 < len(line):
            out += "~~"
            index += 2
            continue
        if character == '"':
            inside = not inside
            out += '"'
        else:
            out += "~" if inside else character
        index += 1
    return out, '"' in line


def statement_end(lines, start):
    """The last line of a call that begins on line `start`: where its parentheses balance."""
    depth = 0
    for index in range(start, len(lines)):
        code, _ = mask_strings(lines[index])
        depth += code.count("(") + code.count("{") - code.count(")") - code.count("}")
        if depth <= 0:
            return index
    return start


def write(path, text):
    """Writes a file, unless it holds that already: what is the same is not built again."""
    if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def mirror(source, copy, own):
    """Makes `copy` like `source`, but for the files `own`; what is the same stays as it is."""
    for place, folders, files in os.walk(source):
        folder = os.path.join(copy, os.path.relpath(place, source))
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            mine = os.path.normpath(os.path.join(folder, name))
            if name not in files and os.path.isfile(mine) and mine not in own:
                os.remove(mine)
        for name in files:
            original, mine = os.path.join(place, name), os.path.normpath(os.path.join(folder, name))
            same = os.path.exists(mine) and os.stat(mine).st_mtime == os.stat(original).st_mtime
            if not same and mine not in own:
                shutil.copy2(original, mine)


def manifest(text):
    """The package with what the rules and their tests need, and nothing else, the tests without optimisation: it builds
    in a fraction of the time."""
    needed = {"SessionTrace", "ContentCodings", "Crypto", "Assertions", "AssertionsTests"}
    kept, lines, index = [], text.split("\n"), 0
    while index < len(lines):
        block = [lines[index]]
        if re.match(r"        (tests|library|\.executableTarget)\(", lines[index]):
            while sum(line.count("(") - line.count(")") for line in block) > 0:
                index += 1
                block.append(lines[index])
            if re.search(r'"(\w+)"', "\n".join(block)).group(1) not in needed:
                block = []
        if not (block and block[0].strip().startswith("products:")):
            kept += block
        index += 1
    return re.sub(r"(\.testTarget\(.*swiftSettings: strict)", r'\1 + [.unsafeFlags(["-Onone"])]', "\n".join(kept))


def earlier_fates(path):
    """The fate of each mutant, by its key, as an earlier run wrote it."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return {fields[1]: fields[0] for fields in lines if len(fields) > 1}


def explained():
    if not os.path.exists(EXPLAINED):
        return {}
    known, reason = {}, ""
    for line in open(EXPLAINED, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("#"):
            reason = line[1:].strip()
        elif line.strip():
            known[line.strip()] = reason
    return known


class Suites:
    """The suites of AssertionsTests: how long each takes, and which places it reaches."""

    def __init__(self, bundle, folder, seconds):
        self.bundle, self.folder, self.seconds = bundle, folder, seconds
        self.times, self.reaching = {}, {}
        self.rules = collections.defaultdict(set)  # which rules a suite speaks of
        for path in glob.glob(f"{ROOT}/Tests/AssertionsTests/**/*.swift", recursive=True):
            for part in re.split(r"^(?=@Suite|struct )", open(path, encoding="utf-8").read(), flags=re.MULTILINE):
                name = re.search(r"struct (\w+)", part)
                if name:
                    words = re.findall(r"(HR|HC)-?(\d\d)", part)
                    self.rules["AssertionsTests." + name.group(1)].update(map("".join, words))

    def start(self, arguments, **environment):
        return subprocess.Popen(
            [self.bundle, "--testing-library", "swift-testing"] + arguments, cwd=self.folder,
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no", **environment), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")

    def passes(self, names, **environment):
        """Whether all tests of some suites pass; ends them at the first that fails, and when their time is over."""
        suites = "|".join(name.split(".")[1] for name in names)
        with self.start(["--filter", f"^AssertionsTests\\.({suites})/"], **environment) as process:
            timer = threading.Timer(self.seconds, process.kill)
            timer.start()
            for line in process.stdout:
                if "recorded an issue" in line:
                    process.kill()
            timer.cancel()
        return process.returncode == 0

    def learn(self, mutants, jobs):
        """Runs each suite that may be asked about some mutant, unbroken; names those that fail or take too long."""
        rules = {mutant.rule() for mutant in mutants}
        with self.start(["--list-tests"]) as process:
            listed = process.stdout.read()
        names = sorted(set(re.findall(r"^(AssertionsTests\.\w+)/", listed, re.MULTILINE)))
        names = [name for name in names if None in rules or rules & self.rules[name]]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return [name for name, fine in zip(names, pool.map(self.learn_one, names)) if not fine]

    def learn_one(self, name):
        trace, begun = os.path.join(self.folder, f"{name}.trace"), time.monotonic()
        fine = self.passes([name], HANDOFF_MUTANT_TRACE=trace)
        self.times[name] = time.monotonic() - begun
        if os.path.exists(trace):  # a suite that never enters a rule writes none
            for number, byte in enumerate(open(trace, "rb").read()):
                if byte:
                    self.reaching.setdefault(number, []).append(name)
            os.remove(trace)
        return fine and self.times[name] < self.seconds / 3

    def batches(self, mutant):
        """The suites that are to notice the mutant, in groups to be run one after the other."""
        reaching = self.reaching.get(mutant.number, [])
        median = statistics.median(self.times.values())
        reaching = [name for name in reaching if self.times[name] < HEAVY * median] or reaching
        rule = mutant.rule()
        own = [name for name in reaching if rule and rule in name]
        others = [name for name in reaching if name not in own and (not rule or rule in self.rules[name])]
        groups, total = [own], 0.0
        for name in sorted(others, key=self.times.get):
            if total == 0.0 or total > BATCH * median:
                groups, total = groups + [[]], 0.0
            groups[-1].append(name)
            total += self.times[name]
        return [group for group in groups if group]

    def notice(self, mutant):
        """The group of suites of which some test failed, crashed or did not end; None when the mutant lives."""
        for group in self.batches(mutant):
            if not self.passes(group, HANDOFF_MUTANT=str(mutant.number)):
                return group
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only mutants of files whose names hold this (a regular expression)")
    parser.add_argument("--scratch", help="a folder to build in, kept for the next run")
    parser.add_argument("--list", action="store_true", help="list the mutants and end")
    parser.add_argument("--seconds", type=float, default=60, help="longest run of some suites")
    parser.add_argument("--results", help="a file for the fate of each mutant")
    parser.add_argument("--resume", help="a file of an earlier run's fates: what it killed is not run again")
    parser.add_argument("--debug", action="store_true", help="build without optimisation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    mutation, changed = Mutation(), {}
    for name in sorted(os.listdir(os.path.join(ROOT, RULES))):
        if name.endswith(".swift"):
            path = f"{RULES}/{name}"
            changed[path] = mutation.file(path, open(os.path.join(ROOT, path), encoding="utf-8").read())
    mutants = [mutant for mutant in mutation.mutants if re.search(options.only, os.path.basename(mutant.path))]
    earlier = earlier_fates(options.resume) if options.resume else {}
    dead = [mutant for mutant in mutants if earlier.get(mutant.key()) == "killed"]
    mutants = [mutant for mutant in mutants if earlier.get(mutant.key()) != "killed"]
    mutants.sort(key=lambda mutant: mutant.key() in earlier)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.number}\t{mutant}")
        return 0

    folder = options.scratch or tempfile.mkdtemp(prefix="handoff-mutants.")
    os.makedirs(folder, exist_ok=True)
    changed[f"{RULES}/Mutants.swift"] = mutation.support()
    own = {os.path.normpath(os.path.join(folder, path)): text for path, text in changed.items()}
    for part in ("Sources", "Tests"):
        mirror(os.path.join(ROOT, part), os.path.join(folder, part), own)
    own[os.path.join(folder, "Package.swift")] = manifest(open(f"{ROOT}/Package.swift", encoding="utf-8").read())
    for path, text in own.items():
        write(path, text)
    print(f"{len(mutation.mutants)} mutants in {len(changed) - 1} files; building …", flush=True)
    kind = "debug" if options.debug else "release"
    testable = [] if options.debug else ["-Xswiftc", "-enable-testing"]
    built = subprocess.run(
        ["swift", "build", "-c", kind, "--build-tests", *testable, "-Xswiftc", "-use-ld=lld"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    if built.returncode != 0:
        print("\n".join(line for line in built.stdout.splitlines() if "error:" in line) or built.stdout[-3000:])
        return 2
    suites = Suites(os.path.join(folder, f".build/{kind}/handoffPackageTests.xctest"), folder, options.seconds)
    broken = suites.learn(mutants, options.jobs)
    if broken or not suites.times:
        print("without a mutant these fail or take too long: " + (", ".join(broken) or "no suite was found"))
        return 2
    print(f"{len(suites.times)} suites, together {sum(suites.times.values()):.0f} s; "
          f"{len(suites.reaching)} places are reached", flush=True)

    known, survivors = explained(), []
    results = open(options.results, "w", encoding="utf-8") if options.results else None
    for mutant in dead if results else []:
        print(f"killed\t{mutant.key()}\t{mutant.path}:{mutant.line}", file=results, flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutant, group in zip(mutants, pool.map(suites.notice, mutants)):
            if not group:
                survivors.append(mutant)
            fate = "killed" if group else "lives" if mutant.number in suites.reaching else "unreached"
            if results:
                print(f"{fate}\t{mutant.key()}\t{mutant.path}:{mutant.line}", file=results, flush=True)
    unexplained = [mutant for mutant in survivors if mutant.key() not in known]
    for mutant in unexplained:
        print(f"survived: {mutant}\n    {mutant.key()}")
    for mutant in survivors:
        if mutant.key() in known:
            print(f"equivalent: {mutant}: {known[mutant.key()]}")
    total = len(dead) + len(mutants)
    print(f"{total - len(survivors)} of {total} mutants killed ({len(dead)} of them earlier), "
          f"{len(survivors) - len(unexplained)} equivalent, {len(unexplained)} survived")
    if not options.scratch:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
