"""Mutants of host code: the objects with a change are compiled and linked beside a finished build, and judged by its
test programs."""
import collections, concurrent.futures, functools, json, os, pathlib, re, shlex, shutil, subprocess, time

from mutation.commands import Broken, run_command, run_tests
from mutation.mutants import ROOT


# ---- tests that cover a file ----------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=None)
def likely(path):
    """{program: how likely it notices a change of a file}, judged by names; at least 3: it is about the file."""
    top, stem = path.split("/")[0], pathlib.Path(path).stem.removesuffix("-inl")
    words = set(stem.split("_")) | set(pathlib.Path(path).parent.name.split("_"))
    scored = {}
    for test in sorted((ROOT / "tests").glob("*/*_test.cpp")):
        folder, name = test.parent.name, test.stem.removesuffix("_test")
        common = words & set(name.split("_")) - {"gpu", "fft", "nufft", "cpu"}
        score = 4 * (name == stem) + 3 * len(common) / len(words)
        text = test.read_text()
        score += 3 * (re.sub(r"\.\w+$", ".h", path) in text)
        if "/emulated/" in path:
            near = "emulated" in name
        else:
            near = folder == top
            score += near
            # CUDA text is covered by the tests that run it.
            score += (top == "generator" and stem.startswith("emit")) * ("emulated" in name)
        if near or score >= 3:
            scored[f"{folder}_{test.stem}"] = score, -len(text)
    return {program: score for program, (score, _) in sorted(scored.items(), key=lambda item: item[1], reverse=True)}


class Coverage:
    """Which test programs execute a line, in a build with gcc's --coverage."""

    def __init__(self, folder, each):
        self.folder = pathlib.Path(folder).resolve()
        programs = sorted(p.name for p in self.folder.glob("bin/*_test"))
        cache = self.folder / "lines.json"
        if not programs:
            raise Broken(f"{folder} has no test programs; cmake --preset coverage and cmake --build {folder} make them")
        self.made = max((self.folder / "bin" / program).stat().st_mtime for program in programs)
        if not cache.exists() or cache.stat().st_mtime < self.made:
            cache.write_text(json.dumps(self.measure(programs, each)))
        known = json.loads(cache.read_text())
        self.programs, self.lines = known["programs"], known["lines"]

    def measure(self, programs, each):
        """{file: {line: mask of the programs that execute it}}; every program counts in a separate folder, in eight
        parts at once, since a few of them take minutes."""
        start, parts, folders = time.monotonic(), 8, [self.folder / "counts" / p for p in programs]
        waiting = [(program, part) for program in programs for part in range(parts)]
        shutil.rmtree(self.folder / "counts", ignore_errors=True)

        def work(number):
            while waiting:
                program, part = waiting.pop()
                if run_tests(self.folder, self.folder / "bin" / program, 600, self.folder / "counts" / f"home{number}",
                             GCOV_PREFIX=str(self.folder / "counts" / program), GTEST_TOTAL_SHARDS=str(parts),
                             GTEST_SHARD_INDEX=str(part)) is None:
                    print(f"note: {program} takes too long with --coverage; what it runs is not known", flush=True)
        each(work)
        lines = collections.defaultdict(lambda: collections.defaultdict(int))
        with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for bit, covered in enumerate(pool.map(lines_of, folders, [self.folder / "tests"] * len(folders))):
                for file, executed in covered.items():
                    for number, ran in executed.items():
                        lines[file][number] |= ran << bit
        if not lines:
            raise Broken(f"gcov tells nothing of {self.folder}; it must be of the compiler's version")
        shutil.rmtree(self.folder / "counts", ignore_errors=True)
        print(f"{len(programs)} test programs ran with --coverage in {time.monotonic() - start:.0f} s", flush=True)
        return {"programs": programs, "lines": lines}

    def running(self, file, line):
        """Names of the programs that execute a line; None: nothing of the file is in them."""
        if (ROOT / file).stat().st_mtime > self.made:
            raise Broken(f"{file} is newer than {self.folder}; cmake --build makes it again")
        of_file = self.lines.get(file)
        if of_file is None:
            return None
        mask = of_file.get(str(line))
        if mask is None or file.endswith("-inl.h"):  # no code, or vector code: gcc merges lines it inlines
            mask = functools.reduce(lambda a, b: a | b, of_file.values())
        return {program for bit, program in enumerate(self.programs) if mask >> bit & 1}


def lines_of(counts, tests):
    """{file of ours: {line: whether it was executed}} of the objects, except those in `tests`, that left counts."""
    objects = [path for path in counts.rglob("*.gcda") if f"{counts}{tests}" not in str(path)]
    for path in objects:  # gcov wants both files in one folder
        notes = path.with_suffix(".gcno")
        notes.symlink_to("/" / notes.relative_to(counts))
    if not objects:
        return {}
    out = subprocess.run(["gcov", "--json-format", "--stdout", "--relative-only", "--source-prefix", str(ROOT),
                          *map(str, objects)], cwd=counts, capture_output=True, text=True).stdout
    lines, real = {}, functools.lru_cache(maxsize=None)(os.path.realpath)  # headers are found through links
    for text in out.splitlines():
        for source in json.loads(text)["files"] if text.startswith("{") else []:
            file = os.path.relpath(real(source["file"]), ROOT)
            if file.startswith(("..", "build", "tests/")):
                continue
            executed = lines.setdefault(file, {})
            for line in source["lines"]:
                executed[line["line_number"]] = executed.get(line["line_number"], False) or line["count"] > 0
    return lines


# ---- programs with a mutant in them ----------------------------------------------------------------------------------
class Build:
    """A finished build folder of Ninja, which stays as it is: what programs consist of and how they are made."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        try:
            commands = json.loads((self.folder / "compile_commands.json").read_text())
        except OSError:
            raise Broken(f"{self.folder} has no compile_commands.json; cmake --preset release makes one")
        if "FOURTUNE_UNITY:BOOL=ON" in (self.folder / "CMakeCache.txt").read_text():
            raise Broken(f"{self.folder} compiles several files together; cmake --preset release -DFOURTUNE_UNITY=OFF "
                         "and cmake --build build make one that does not")
        self.compile, self.source, self.readers, self.archives = {}, {}, collections.defaultdict(set), {}
        for entry in commands:
            words = shlex.split(entry["command"])
            made = words[words.index("-o") + 1]
            self.compile[made], self.source[made] = words, entry["file"]
        made = None
        for line in self.ninja("deps").splitlines():
            if not line.startswith(" "):
                made = line.split(": #deps")[0]
            elif (path := os.path.realpath(self.folder / line.strip())).startswith(f"{ROOT}/"):  # ccache shortens paths
                self.readers[path].add(made)

    def ninja(self, tool, *words):
        return subprocess.run(["ninja", "-t", tool, *words], cwd=self.folder, capture_output=True, text=True).stdout

    @functools.lru_cache(maxsize=None)
    def link(self, program):
        """Words of the command that links bin/program; None if there is no such program."""
        lines = self.ninja("commands", f"bin/{program}").strip().splitlines()
        return shlex.split(lines[-1].removeprefix(": && ").split(" && ")[0]) if lines else None

    @functools.lru_cache(maxsize=None)
    def members(self, archive):
        return {line.strip() for line in self.ninja("query", archive).splitlines() if line.strip().endswith(".o")}

    def objects(self, program):
        """Object files that a program is linked from, those in archives too."""
        out = set()
        for word in self.link(program) or []:
            out |= {word} if word.endswith(".o") else self.members(word) if word.endswith(".a") and word[0] != "/" else set()
        return out


class Mutation:
    """A changed file, the objects compiled with it and the programs linked with them, all in a folder beside the build.
    Headers are found in that folder first, and of two objects that define a symbol the linker takes the first."""

    def __init__(self, build, folder, file, text):
        self.build, self.folder, self.compiled = build, pathlib.Path(folder), {}
        self.made = {}  # what make() said
        self.changed = {ROOT / file: self.folder / "tree" / file}
        self.write(self.folder / "tree" / file, text)
        self.stale = set().union(*(build.readers[str(path)] for path in self.changed))

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def compile(self, made):
        """Whether the object exists now. Its words are those of the build, with other folders in front."""
        if made not in self.compiled:
            words, source = list(self.build.compile[made]), self.build.source[made]
            out = self.folder / "objects" / made.replace("/", "_")
            out.parent.mkdir(parents=True, exist_ok=True)
            words[words.index("-o") + 1] = str(out)
            words[words.index("-c") + 1] = str(self.changed.get(pathlib.Path(source), source))
            words[1:1] = [f"-I{self.folder}/tree", f"-I{self.folder}/generated"]
            done = run_command(words, 600, self.build.folder, log=f"{out}.log") == 0
            self.compiled[made] = out if done else None
        return self.compiled[made] is not None

    def differs(self, made):
        return self.compiled[made].read_bytes() != (self.build.folder / made).read_bytes()

    def make(self, program):
        """"made", "same" (as without the mutant) or "fails". Changes of a program's objects only count if they differ."""
        if program not in self.made:
            self.made[program] = self.link(program)
        return self.made[program]

    def link(self, program):
        needed = sorted(self.build.objects(program) & self.stale)
        if not all(self.compile(made) for made in needed):
            return "fails"
        new = [made for made in needed if self.differs(made)]
        if not new:
            return "same"
        words, fronts = list(self.build.link(program)), []
        words[words.index("-o") + 1] = str(self.folder / "bin" / program)
        for made in new:
            if made in words:
                words[words.index(made)] = str(self.compiled[made])
            else:
                fronts.append(str(self.compiled[made]))
        words[1:1] = ["-Wl,-z,muldefs", *fronts]
        (self.folder / "bin").mkdir(exist_ok=True)
        return "made" if run_command(words, 600, self.build.folder, log=self.folder / "link.log") == 0 else "fails"

    def run(self, program, limit, **variables):
        """The tests of a program; those that start `fourtune` start this mutant's."""
        bin = self.folder / "bin"
        if (bin / "fourtune").exists():
            variables["FOURTUNE_PROGRAM"] = str(bin / "fourtune")
        return run_tests(self.build.folder, bin / program, limit, self.folder / "home", GTEST_FAIL_FAST="1", **variables)


class HostTests:
    def __init__(self, options, each):
        self.options, self.each = options, each
        self.build = Build(options.build)
        self.coverage = Coverage(options.coverage, each) if options.coverage else None
        self.seconds = {}  # that the tests of a program take

    def judges(self, mutant):
        """Names of the programs that may find a mutant, those about its file first, then the fast ones."""
        names = likely(mutant.file)
        running = self.coverage.running(mutant.file, mutant.line) if self.coverage else None
        if running is None:
            return list(names)
        return sorted(running, key=lambda program: (names.get(program, 0) < 3, self.seconds.get(program, 0)))

    def prepare(self, mutants):
        """What fails without a mutant can show nothing. Programs that passed, with their times, are kept in --work."""
        programs = {program for mutant in mutants for program in self.judges(mutant)
                    if re.search(self.options.tests, program)}
        waiting = sorted(program for program in programs if self.build.link(program))
        missing = [program for program in waiting if not (self.build.folder / "bin" / program).exists()]
        if missing:
            raise Broken(f"{missing[0]} is not built; cmake --build {self.build.folder} builds it")
        made = {program: (self.build.folder / "bin" / program).stat().st_mtime for program in waiting}
        kept = pathlib.Path(self.options.work) / "passed.json"  # {program: [when it was built, seconds]}
        passed = json.loads(kept.read_text()) if kept.exists() else {}
        self.seconds = {program: passed[program][1] for program in waiting
                        if passed.get(program, [None])[0] == made[program]}
        waiting = [program for program in waiting if program not in self.seconds]

        def work(number):
            while waiting:
                program = waiting.pop()
                start = time.monotonic()
                home = pathlib.Path(self.options.work) / f"home{number}"
                if run_tests(self.build.folder, self.build.folder / "bin" / program, self.options.limit, home) == 0:
                    self.seconds[program] = time.monotonic() - start
                else:
                    print(f"note: {program} fails or takes too long without any change; not used", flush=True)
        self.each(work)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({program: [made[program], took] for program, took in self.seconds.items()}))
        if not self.seconds:
            raise Broken("no test covers these files")
        print(f"{len(self.seconds)} test programs", flush=True)

    def judge(self, mutant, folder):
        """(status, test or note); status is uncompilable, equivalent, wide, found or survived."""
        lines = (ROOT / mutant.file).read_text().split("\n")
        lines[mutant.line - 1] = mutant.after
        mutation = Mutation(self.build, folder, mutant.file, "\n".join(lines))
        programs = self.judges(mutant)
        if not programs:
            made = min((made for made in mutation.stale if not made.startswith("tests/")), default=None)
            if made is None or not mutation.compile(made):
                return "uncompilable", ""
            return ("survived", "no test runs this line") if mutation.differs(made) else ("equivalent", "")
        programs = [program for program in programs if program in self.seconds]
        if not programs:
            return "wide", "none of its test programs is one of --tests"
        needed = set().union(*(self.build.objects(program) for program in programs)) & mutation.stale
        if len(needed) > self.options.objects:
            return "wide", ""
        deadline, differs = time.monotonic() + self.options.limit, False
        for tried, program in enumerate(programs):
            if time.monotonic() > deadline:
                return "survived", f"{tried} of {len(programs)} test programs; then --limit was reached"
            made = mutation.make(program)
            command = "same"
            if made != "fails" and re.match("tools_|tuner_", program):
                command = mutation.make("fourtune")
            if "fails" in (made, command):
                return "uncompilable", ""
            if made == command == "same":
                continue
            if made == "same":  # only the program that it runs is another
                (folder / "bin").mkdir(exist_ok=True)
                shutil.copy(self.build.folder / "bin" / program, folder / "bin")
            differs = True
            code = mutation.run(program, max(60, 8 * self.seconds[program]))
            if code != 0:
                return "found", program + (" (hangs)" if code is None else "")
        return ("survived" if differs else "equivalent"), ""
