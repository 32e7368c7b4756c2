// The Python recorder: static checks, its tests with real packages from PyPI on the interpreter that is here, the shared vectors on the others
// (CPython in WebAssembly, out of npm), and a wheel built offline. Ends with the plain line that `.ci/run` sums up; says what was skipped and why.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join, resolve } from "node:path"

const MOST_LINES = 120
const sum = { passed: 0, failed: 0, skipped: 0 }
const root = resolve(
  process.env["ORANGEBOX_TEST_PYTHON"] ??
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "orangebox-tests"),
)
const scratch = mkdtempSync(join(tmpdir(), "orangebox-python-"))
const vectors = join(scratch, "redaction-vectors.json")
const programs = join(scratch, "redacted-programs.json")
const env = {
  ...process.env,
  PYTHONPATH: resolve("python/src"),
  PYTHONDONTWRITEBYTECODE: "1",
  ORANGEBOX_REDACTION_VECTORS: vectors,
  ORANGEBOX_REDACTED_PROGRAMS: programs,
}

const run = (command, args, options = {}) =>
  spawnSync(command, args, { encoding: "utf8", env, maxBuffer: 2 ** 28, ...options })
const skip = (what, why) => {
  sum.skipped++
  console.log(`skip ${what}: ${why}`)
}
const check = (what, { status, stdout, stderr, error }) => {
  sum[status === 0 ? "passed" : "failed"]++
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${what}`)
  if (status !== 0) console.log(`${stdout ?? ""}${stderr ?? ""}${error ?? ""}`.trimEnd().replace(/^/gm, "     "))
}

/** What the runner of `unittest` counted. */
function tally(what, { status, stdout, stderr }) {
  const said = `${stdout}${stderr}`
  const ran = Number(/^Ran (\d+) tests?/m.exec(said)?.[1] ?? 0)
  const count = (name) => Number(new RegExp(`${name}=(\\d+)`).exec(said)?.[1] ?? 0)
  const bad = count("failures") + count("errors")
  const failed = status === 0 ? 0 : Math.max(1, bad)
  sum.failed += failed
  sum.skipped += count("skipped")
  sum.passed += Math.max(0, ran - bad - count("skipped"))
  console.log(
    `${failed === 0 && ran > 0 ? "ok  " : "FAIL"} ${what}: ${ran} tests${count("skipped") > 0 ? `, ${count("skipped")} skipped` : ""}`,
  )
  for (const [, name, why] of said.matchAll(/^(\S+).* \.\.\. skipped '(.*)'$/gm))
    console.log(`     skipped ${name}: ${why}`)
  const lines = said.replace(/^.*\.\.\. ok\n/gm, "").split("\n")
  if (failed > 0) console.log(lines.slice(-MOST_LINES).join("\n").replace(/^/gm, "     "))
}

check("the redaction vectors are made", run(process.execPath, ["scripts/python-redaction-vectors.mjs", vectors]))
check(
  "programs are recorded with redaction",
  run(process.execPath, ["scripts/python-vectors.mjs", "--redacted", programs]),
)
check("the shared vectors are what this build writes", run(process.execPath, ["scripts/python-vectors.mjs", "--check"]))

if (!existsSync(join(root, "python/bin/python")))
  run("scripts/install-python-peers.sh", ["python"], { stdio: "inherit" })
const venv = join(root, "python/bin")
if (existsSync(join(venv, "python"))) {
  const inPython = { cwd: "python" }
  check(
    "mypy, for Python 3.10",
    run(join(venv, "python"), ["-m", "mypy", "--cache-dir", join(scratch, "mypy")], inPython),
  )
  check("ruff", run(join(venv, "python"), ["-m", "ruff", "check", "--no-cache", "."], inPython))
  const wheel = [
    "-m",
    "pip",
    "wheel",
    "--quiet",
    "--no-index",
    "--no-deps",
    "--no-build-isolation",
    "--wheel-dir",
    scratch,
    "./python",
  ]
  check("a wheel builds offline", run(join(venv, "python"), wheel))
  const tests = readdirSync("python/tests")
    .filter((name) => /^test_.*\.py$/.test(name))
    .map((name) => name.slice(0, -3))
  const interpreter = run(join(venv, "python"), ["--version"]).stdout.trim()
  tally(
    interpreter,
    run(join(venv, "python"), ["-W", "ignore::ResourceWarning", "-m", "unittest", "-v", ...tests], {
      cwd: "python/tests",
    }),
  )
} else
  skip(
    "the tests with packages from PyPI",
    "there is no virtual environment with them: scripts/install-python-peers.sh python",
  )

check(
  "examples/python-agent.py",
  run(existsSync(join(venv, "python")) ? join(venv, "python") : "python3", ["examples/python-agent.py"], {
    env: { ...env, PYTHONPATH: `${resolve("python/src")}:${resolve("python/tests")}` },
  }),
)
await otherInterpreters()
rmSync(scratch, { recursive: true, force: true })
mkdirSync(".test-results", { recursive: true })
writeFileSync(".test-results/python.json", JSON.stringify(sum))
console.log(`${sum.passed} passed, ${sum.failed} failed${sum.skipped > 0 ? `, ${sum.skipped} skipped` : ""}`)
process.exitCode = sum.failed > 0 ? 1 : 0

/** Python 3.10, 3.12, 3.13 and 3.14: the releases of CPython in WebAssembly, each an npm package. No threads, no fork, no sockets there. */
async function otherInterpreters() {
  const folder = join(root, "pyodide")
  const releases = { "3.10": "0.22.1", 3.12: "0.27.7", 3.13: "0.29.4", 3.14: "314.0.7" }
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{"private":true}')
  const missing = Object.entries(releases).filter(
    ([python]) => !existsSync(join(folder, "node_modules", `py${python}`)),
  )
  if (missing.length > 0) {
    const names = missing.map(([python, release]) => `py${python}@npm:pyodide@${release}`)
    run("npm", ["install", "--no-audit", "--no-fund", "--silent", ...names], { cwd: folder })
  }
  for (const python of Object.keys(releases)) {
    const entry = join(folder, "node_modules", `py${python}`, "pyodide.mjs")
    if (!existsSync(entry)) {
      skip(`Python ${python}`, "its npm package could not be installed; checked statically only")
      continue
    }
    tally(`Python ${python} (WebAssembly)`, run(process.execPath, ["scripts/python-in-wasm.mjs", entry, vectors]))
  }
}
