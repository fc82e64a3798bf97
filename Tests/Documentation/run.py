#!/usr/bin/env python3
"""Runs the commands of documentation pages, as a reader would paste them, and compares what they print.

    Tests/Documentation/run.py --programs .build/debug README.md ...

The blocks `sh` of a page are run in their order by one shell, in the repository's directory, with the built programs
first in PATH. `/tmp/push` is a new directory. A block without a language just behind one is what that prints: a line
`...` stands for any lines, `...` in a line for any text; times and dates may differ. Blocks `python` must compile, and
each line of a block `json` must be JSON.

A comment of the page on the line before a block says otherwise:

    <!-- not run: REASON -->       it cannot be run here
    <!-- run by: PATH -->          that script runs it: it has all of its lines
    <!-- fails -->                 a command in it is expected to fail
"""
import argparse, json, os, re, shutil, signal, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OTHER = {"text", "yaml", "ini"}
SEPARATOR = "\x1e"
PATIENCE = 240  # seconds a page, never reached when all is well


class Block:
    def __init__(self, language, lines, number, marker, follows):
        self.language, self.lines, self.number = language, lines, number
        self.marker, self.follows = marker, follows  # follows: the block just before, with nothing between


def blocks(path):
    """The fenced blocks of a page, in order."""
    found, fence, language, start, lines = [], None, "", 0, []
    between, marker = [], None
    for number, line in enumerate(open(path, encoding="utf-8").read().split("\n"), 1):
        opening = re.match(r"( *)(`{3,})(\w*)\s*$", line)
        if fence is None and opening:
            fence, language, start, lines = opening.group(1) + opening.group(2), opening.group(3), number, []
            before = [text for text in between if text.strip()]
            comment = re.match(r"<!-- (.*) -->$", before[-1].strip()) if before else None
            marker = comment.group(1) if comment else None
            follows = found[-1] if found and not before else None
        elif fence is not None and line == fence:
            found.append(Block(language, lines, start, marker, follows))
            fence, between = None, []
        elif fence is not None:
            lines.append(line)
        else:
            between.append(line)
    return found


def shape(line):
    """A line without what differs from run to run."""
    line = re.sub(r"\d{4}-\d\d-\d\d", "DATE", line)
    line = re.sub(r"\d\d:\d\d(:\d\d)?(\.\d+)?( ?[+-]\d\d:\d\d|Z)?", "CLOCK", line)
    line = re.sub(r"\d+(\.\d+)? (ms|us|s)\b", "TIME", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(expected, printed):
    """Whether lines are as expected."""
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(matches(expected[1:], printed[n:]) for n in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part) for part in shape(expected[0]).split("..."))
    return re.fullmatch(pattern, shape(printed[0])) is not None and matches(expected[1:], printed[1:])


class Page:
    def __init__(self, path, programs):
        self.path, self.programs, self.problems = path, programs, []
        self.runs, self.elsewhere, self.unrun, self.outputs = [], [], [], 0

    def complain(self, block, message):
        self.problems.append(f"{self.path}:{block.number}: {message}")

    def sort(self):
        """Decides for each block what is to become of it; gives those that are run, with what they print."""
        for block in blocks(os.path.join(ROOT, self.path)):
            marker = block.marker or ""
            if block.language == "sh" and marker.startswith("not run: "):
                self.unrun.append((block, marker[len("not run: "):]))
            elif block.language == "sh" and marker.startswith("run by: "):
                self.elsewhere.append(block)
                self.find(block, marker[len("run by: "):])
            elif block.language == "sh":
                self.runs.append([block, None])
            elif block.language == "python":
                self.compile(block)
            elif block.language == "json":
                self.parse(block)
            elif block.language == "":
                if self.runs and block.follows is self.runs[-1][0]:
                    self.runs[-1][1] = block
                elif not (block.follows and block.follows.language == "sh"):
                    self.complain(block, "a block without a language is what the block before it prints; else say `text`")
            elif block.language not in OTHER:
                self.complain(block, f"nobody knows what to do with a block {block.language}")

    def find(self, block, script):
        text = open(os.path.join(ROOT, script), encoding="utf-8").read()
        for line in block.lines:
            command = re.sub(r"\s+#.*", "", line).strip()
            if command and command not in text:
                self.complain(block, f"{script} does not run: {command}")

    def compile(self, block):
        try:
            compile("\n".join(block.lines), self.path, "exec")
        except SyntaxError as error:
            self.complain(block, str(error))

    def parse(self, block):
        for line in block.lines:
            try:
                if line.strip():
                    json.loads(line)
            except ValueError as error:
                self.complain(block, f"{error}: {line}")

    def run(self):
        self.sort()
        if not self.runs:
            return
        directory = tempfile.mkdtemp(prefix="push-", dir="/tmp")
        # The blocks create this directory themselves.
        place = directory + "/push"
        script = [f"trap 'printf \"{SEPARATOR}%s\\n\" \"a command ended with $?: $BASH_COMMAND\"' ERR"]
        for number, (block, _) in enumerate(self.runs):
            script += [f"printf '{SEPARATOR}%s\\n' 'block {number}'"] + block.lines
        script += [f"printf '{SEPARATOR}%s\\n' end"]
        text = "\n".join(script).replace("/tmp/push", place) + "\n"
        names = ("CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "NOTIFY_SOCKET", "JOURNAL_STREAM")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        environment["PATH"] = self.programs + ":/usr/bin:/bin:/usr/sbin:/sbin"
        # A file, because processes in the background may keep it open.
        with open(directory + "/output", "w+b") as output:
            shell = subprocess.Popen(
                ["/bin/bash", "--noprofile", "--norc", "-c", text], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True)
            try:
                shell.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.problems.append(f"{self.path}: its commands did not end")
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            shell.wait()
            output.seek(0)
            printed = output.read().decode("utf-8", "replace").replace(place, "/tmp/push")
        shutil.rmtree(directory, ignore_errors=True)
        self.compare(printed)

    def compare(self, printed):
        current, lines, failures = None, {}, {}
        for line in printed.split("\n"):
            if SEPARATOR in line:
                rest, line = line.split(SEPARATOR, 1)
                if rest and current is not None:
                    lines[current].append(rest)
                if line.startswith("block "):
                    current = int(line.split()[1])
                    lines[current], failures[current] = [], []
                elif line == "end":
                    current = -1
                    lines[-1] = []
                elif current is not None:
                    failures[current].append(line)
            elif current is not None:
                lines[current].append(line)
        if -1 not in lines:
            self.problems.append(f"{self.path}: the shell ended early: {printed[-300:]}")
        for number, (block, expected) in enumerate(self.runs):
            if number not in lines:
                continue
            got = [line for line in lines[number] if line.strip()]
            if bool(failures[number]) != (block.marker == "fails"):
                reason = "; ".join(failures[number]) or "no command failed"
                self.complain(block, "\n    ".join([reason] + got[-8:]))
            if expected:
                self.outputs += 1
                if not matches([line for line in expected.lines if line.strip()], got):
                    self.complain(expected, "\n    ".join(["the page says otherwise; printed was:"] + got))


def main():
    parser = argparse.ArgumentParser(description="runs the commands of documentation pages")
    parser.add_argument("--programs", required=True, help="the directory of the built programs")
    parser.add_argument("pages", nargs="+", help="pages, relative to the repository")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.pages:
        page = Page(path, os.path.abspath(arguments.programs))
        page.run()
        print(
            f"{path}: {len(page.runs)} blocks run, {page.outputs} outputs compared,"
            f" {len(page.elsewhere)} run by other scripts, {len(page.unrun)} not run")
        for block, reason in page.unrun:
            print(f"{path}:{block.number}: not run: {reason}")
        for problem in page.problems:
            print(problem, file=sys.stderr)
        failed = failed or bool(page.problems)
    sys.exit(1 if failed else 0)


main()
