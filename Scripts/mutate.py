#!/usr/bin/env python3
"""Mutation testing of the rules: breaks each comparison, branch and statement of Sources/Assertions/Rules in turn, and
tells which of these mutants no test notices.

    Scripts/mutate.py [--only HR14] [--scratch FOLDER] [--list] [--seconds 120] [--jobs N]

All mutants are compiled at once, in a copy of the sources: each place asks at run time whether it is the one that is
broken (HANDOFF_MUTANT=number), so that there is one build and not one a mutant. A comparison becomes an operator of its
own, `<` in place 17 for instance the operator `<⊕⊖`, which is `<` unless mutant 17 runs.

Each mutant first meets the suites whose names hold the rule's id (HR14…), then, if it survives, all of AssertionsTests.
Survivors are printed with file, line and what was changed; exit status 1 when there are any that
Scripts/mutants-equivalent.txt does not explain.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RULES = "Sources/Assertions/Rules"
GLYPHS = "⊕⊖⊗⊘⊙⊚⊛"
FLIPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
PRECEDENCE = {"&&": "LogicalConjunctionPrecedence", "||": "LogicalDisjunctionPrecedence"}
STATEMENT = re.compile(
    r"^(\s*)((?:judgement|session)\.(?:violation|doubt\w*|assume\w*|information|exercised|looked)\()")
EXPLAINED = os.path.join(HERE, "mutants-equivalent.txt")


class Mutant:
    def __init__(self, number, path, line, change, text):
        self.number, self.path, self.line, self.change, self.text = number, path, line, change, text

    def key(self):
        """Stable over edits elsewhere: the file, what was changed, and the line's text."""
        return f"{os.path.basename(self.path)} | {self.change} | {self.text}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.change}: {self.text}"


class Mutation:
    """Mutants of some files, and the Swift declarations that they need."""

    def __init__(self):
        self.mutants, self.declarations = [], []

    def add(self, path, line, change, text):
        mutant = Mutant(len(self.mutants) + 1, path, line, change, text.strip())
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
        elif operator in ("==", "!="):
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
            if statement:
                end = statement_end(lines, index)
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
        return "\n".join([
            "import Glibc",
            "enum Mutants {",
            '    static let active = getenv("HANDOFF_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0',
            "    @inline(never) static func isOn(_ number: Int) -> Bool { active == number }",
            "}",
        ] + self.declarations) + "\n"


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


def mirror(source, copy):
    """Makes `copy` like `source`; what is the same stays as it is, so that little has to be built again."""
    for place, folders, files in os.walk(source):
        own = os.path.join(copy, os.path.relpath(place, source))
        os.makedirs(own, exist_ok=True)
        for name in os.listdir(own):
            if name not in files and os.path.isfile(os.path.join(own, name)):
                os.remove(os.path.join(own, name))
        for name in files:
            original, mine = os.path.join(place, name), os.path.join(own, name)
            if not os.path.exists(mine) or os.stat(mine).st_mtime != os.stat(original).st_mtime:
                shutil.copy2(original, mine)


def manifest(text):
    """The package with what the rules and their tests need, and nothing else: it builds in a fraction of the time."""
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
    return "\n".join(kept)


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


def run(bundle, folder, number, filter_, seconds):
    """True when some test failed, crashed or did not end: the mutant is dead."""
    environment = dict(os.environ, HANDOFF_MUTANT=str(number), SWIFT_BACKTRACE="enable=no")
    try:
        done = subprocess.run(
            [bundle, "--testing-library", "swift-testing", "--filter", filter_], cwd=folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, errors="replace")
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="files whose names hold this")
    parser.add_argument("--scratch", help="a folder to build in, kept for the next run")
    parser.add_argument("--list", action="store_true", help="list the mutants and end")
    parser.add_argument("--seconds", type=float, default=120, help="longest run of one mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    mutation, changed = Mutation(), {}
    for name in sorted(os.listdir(os.path.join(ROOT, RULES))):
        if not name.endswith(".swift") or options.only not in name:
            continue
        path = f"{RULES}/{name}"
        changed[path] = mutation.file(path, open(os.path.join(ROOT, path), encoding="utf-8").read())
    if options.list:
        for mutant in mutation.mutants:
            print(f"{mutant.number}\t{mutant}")
        return 0

    folder = options.scratch or tempfile.mkdtemp(prefix="handoff-mutants.")
    os.makedirs(folder, exist_ok=True)
    for part in ("Sources", "Tests"):
        mirror(os.path.join(ROOT, part), os.path.join(folder, part))
    with open(f"{folder}/Package.swift", "w", encoding="utf-8") as file:
        file.write(manifest(open(f"{ROOT}/Package.swift", encoding="utf-8").read()))
    for path, text in changed.items():
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(folder, RULES, "Mutants.swift"), "w", encoding="utf-8") as file:
        file.write(mutation.support())
    print(f"{len(mutation.mutants)} mutants in {len(changed)} files; building …", flush=True)
    built = subprocess.run(
        ["swift", "build", "--build-tests", "-Xswiftc", "-use-ld=lld"], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, errors="replace")
    if built.returncode != 0:
        print("\n".join(line for line in built.stdout.splitlines() if "error:" in line) or built.stdout[-3000:])
        return 2
    bundle = os.path.join(folder, ".build/debug/handoffPackageTests.xctest")
    if run(bundle, folder, 0, "^AssertionsTests\\.", options.seconds):
        print("the tests fail without a mutant")
        return 2

    def judge(mutant):
        rule = re.match(r"(HR|HC)\d+", os.path.basename(mutant.path))
        if rule and run(bundle, folder, mutant.number, rule.group(0), options.seconds):
            return None
        return None if run(bundle, folder, mutant.number, "^AssertionsTests\\.", options.seconds) else mutant

    known = explained()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        survivors = [mutant for mutant in pool.map(judge, mutation.mutants) if mutant]
    unexplained = [mutant for mutant in survivors if mutant.key() not in known]
    for mutant in unexplained:
        print(f"survived: {mutant}\n    {mutant.key()}")
    for mutant in survivors:
        if mutant.key() in known:
            print(f"equivalent: {mutant}: {known[mutant.key()]}")
    killed = len(mutation.mutants) - len(survivors)
    print(f"{killed} of {len(mutation.mutants)} mutants killed, {len(survivors) - len(unexplained)} equivalent, "
          f"{len(unexplained)} survived")
    if not options.scratch:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
