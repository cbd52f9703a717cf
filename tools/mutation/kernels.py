"""Mutants of CUDA text, judged by the tests that run kernels on the emulated backend.

In a build of the preset `templates`, programs read templates/ when they start: a mutant is a folder with a changed file,
and nothing but its kernels is compiled. Those of all mutants come from one cache, where the kernels without the changed
text lie already.

Once, every case of the tests runs with kernels that count what they execute (gcc's --coverage; a #line before each
template's text tells gcov where a line is from). So a mutant is judged by the cases that execute its line, the quickest
first, until one of them fails."""
import collections, json, os, pathlib, re, resource, shutil, signal, subprocess, threading

from mutation.commands import Broken, run_command, run_tests
from mutation.mutants import ROOT

Case = collections.namedtuple("Case", "program name seconds executed")  # executed: {file: {line: whether it ran}}

# What a test prints when a kernel, or the host's part of a program that was written out, is no C++.
NO_CODE = re.compile(rb"does not compile for the processor|host\.cpp:\d+:\d+: error")


# The compiler of kernels that count. Notes of what a counter means are kept outside of the folders of tests, which
# these remove.
COUNTING = """#!/bin/sh
exec {compiler} --coverage -dumpdir "$KERNEL_NOTES/$$-" "$@"
"""


class KernelTests:
    def __init__(self, options, each):
        self.build, self.work, self.each = pathlib.Path(options.build).resolve(), pathlib.Path(options.work), each
        try:
            settings = (self.build / "CMakeCache.txt").read_text()
        except OSError:
            settings = ""
        if "FOURTUNE_TEMPLATES_AT_RUN_TIME:BOOL=ON" not in settings:
            raise Broken(f"{self.build} has CUDA text in its programs; cmake --preset templates and cmake --build "
                         "build-templates make one that reads it when a program starts")
        programs = sorted(path for path in self.build.glob("bin/*_test") if re.search(options.tests, path.name))
        if not programs:
            raise Broken(f"{self.build} has no test programs; cmake --build {self.build} makes them")
        for folder in ("bin", "kernels", "lines"):
            (self.work / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        counting = self.work / "bin" / "g++"
        counting.write_text(COUNTING.format(compiler=shutil.which("g++")))
        counting.chmod(0o755)
        self.write_templates(self.work / "templates")
        self.cases = [case for program in programs for case in self.recorded(program)]

    @staticmethod
    def write_templates(folder, file=None, text=None):
        """All templates, one of them with another text."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in (ROOT / "templates").glob("*.cuh"):
            changed = text if file and path == ROOT / file else path.read_text()
            (folder / path.name).write_text(f'#line 1 "{path.name}"\n{changed}')

    def run(self, program, case, seconds, folder, templates, **variables):
        """Exit code of one case; None or negative: it hangs or crashes. Limits are in processor time, since others may
        use the machine."""
        folder.mkdir(parents=True, exist_ok=True)
        variables.setdefault("FOURTUNE_EMULATED_CACHE", str(self.work / "kernels"))
        return run_tests(self.build, program, 600 + 20 * seconds, folder / "home", folder / "log",
                         ["prlimit", f"--cpu={20 + int(3 * seconds)}", "--core=0"], GTEST_FILTER=case,
                         FOURTUNE_TEMPLATES=str(templates), **variables)

    def count(self, program, case, folder):
        """What the kernels of a case execute."""
        (folder / "notes").mkdir(parents=True, exist_ok=True)
        (folder / "kernels").mkdir(mode=0o700, exist_ok=True)
        self.run(program, case, 300, folder, self.work / "templates", FOURTUNE_EMULATED_CACHE=str(folder / "kernels"),
                 PATH=f"{self.work / 'bin'}:{os.environ['PATH']}", GCOV_PREFIX=str(folder / "counts"),
                 KERNEL_NOTES=str(folder / "notes"))
        return self.lines_of(folder / "counts")

    # ---- what cases execute ------------------------------------------------------------------------------------------
    def recorded(self, program):
        """The cases of a program that run kernels and pass; kept until the program or a template is newer."""
        kept = self.work / "lines" / f"{program.name}.json"
        newest = max(path.stat().st_mtime for path in [program, *(ROOT / "templates").glob("*.cuh")])
        if not kept.exists() or kept.stat().st_mtime < newest:
            kept.write_text(json.dumps(self.record(program)))
        return [Case(program, *rest) for rest in json.loads(kept.read_text())]

    def record(self, program):
        waiting, cases, lock = self.names(program), [], threading.Lock()
        print(f"what the {len(waiting)} cases of {program.name} execute", flush=True)

        def work(number):
            while True:
                with lock:
                    if not waiting:
                        return
                    name = waiting.pop()
                    folder = self.work / "recorded" / f"{program.name}-{len(waiting)}"
                before = processor_seconds()
                code = self.run(program, name, 300, folder, self.work / "templates")
                seconds = processor_seconds() - before
                if code != 0:
                    print(f"note: {name} fails without any change ({folder}/log); not used", flush=True)
                elif executed := self.count(program, name, folder):
                    cases.append([name, round(seconds, 2), executed])
                if code == 0:
                    shutil.rmtree(folder)
        self.each(work)
        return cases

    def names(self, program):
        listed = subprocess.run([str(program), "--gtest_list_tests"], capture_output=True, text=True,
                                cwd=self.build).stdout
        names, suite = [], ""
        for line in listed.splitlines():
            name = line.split("#")[0].strip()
            if not line.startswith(" "):
                suite = name
            elif "DISABLED_" not in suite + name:
                names.append(suite + name)
        return names

    @staticmethod
    def lines_of(counts):
        """{template: {line: whether it was executed}} of the kernels that left counts."""
        files = [path for path in counts.rglob("*.gcda")]
        for path in files:  # gcov wants both files in one folder
            notes = path.with_suffix(".gcno")
            notes.symlink_to("/" / notes.relative_to(counts))
        if not files:
            return {}
        out = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, files)], cwd=counts, capture_output=True,
                             text=True).stdout
        lines = collections.defaultdict(dict)
        for text in out.splitlines():
            for source in json.loads(text)["files"] if text.startswith("{") else []:
                file = f"templates/{os.path.basename(source['file'])}"
                if (ROOT / file).exists():
                    for line in source["lines"]:
                        number = str(line["line_number"])
                        lines[file][number] = lines[file].get(number, False) or line["count"] > 0
        return lines

    # ---- a mutant ----------------------------------------------------------------------------------------------------
    def cases_of(self, mutant):
        """The cases that may find it, the quickest first. A line without code, such as a constant or a call of an inlined
        function, belongs to all that execute something of its file; those come first that execute the next line with
        code."""
        of_file = [case for case in self.cases if any(case.executed.get(mutant.file, {}).values())]
        with_code = {int(line) for case in of_file for line in case.executed[mutant.file]}
        next_one = str(min((line for line in with_code if line >= mutant.line), default=0))
        runs = lambda case: case.executed[mutant.file].get(next_one, False)
        if mutant.line in with_code:
            of_file = [case for case in of_file if runs(case)]
        return sorted(of_file, key=lambda case: (not runs(case), case.seconds))

    def prepare(self, _):
        print(f"{len(self.cases)} cases run kernels", flush=True)

    def judge(self, mutant, folder):
        """(status, case or note); status is uncompilable, found or survived."""
        lines = (ROOT / mutant.file).read_text().split("\n")
        lines[mutant.line - 1] = mutant.after
        self.write_templates(folder / "templates", mutant.file, "\n".join(lines))
        cases = self.cases_of(mutant)
        for case in cases:
            code = self.run(case.program, case.name, case.seconds, folder, folder / "templates")
            if code and NO_CODE.search((folder / "log").read_bytes()):
                return "uncompilable", ""
            if code != 0:
                hangs = code in (None, -signal.SIGXCPU, -signal.SIGKILL)
                return "found", case.name + (" (hangs)" if hangs else "")
        return "survived", f"{len(cases)} cases execute it"


def processor_seconds():
    """Of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
