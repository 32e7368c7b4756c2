import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Event, validateRun } from "@orangebox/contract"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { lastTree, type RecordedTree } from "@orangebox/replay"
import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { copyIgnored, findRepository, ignoredIn, openWorkspaceCopy } from "../src/index.js"
import { RecordedWorkspace } from "../src/workspace/record-workspace.js"

let scratch: string
let repo: string
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "orangebox-workspace-test-")))
  repo = join(scratch, "repo")
  mkdirSync(repo)
})
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

const gitIn = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  })
const git = (...args: string[]): string => gitIn(repo, ...args)

function put(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(join(repo, path)), { recursive: true })
  rmSync(join(repo, path), { recursive: true, force: true })
  writeFileSync(join(repo, path), content)
  chmodSync(join(repo, path), mode)
}

function repository(): void {
  git("init", "-q", "-b", "main")
  put("src/a.txt", "one\n")
  put("run.sh", "echo run\n", 0o755)
  put("old.txt", "old\n")
  put(".gitignore", "ignored/\n")
  symlinkSync("src/a.txt", join(repo, "link"))
  git("add", ".")
  git("commit", "-q", "-m", "first")
}

/** A run beside a work tree, recorded into memory. */
async function watched(folder = repo) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", sink, strict: true })
  const run = recorder.startRun({ entrypoint: "test" })
  const workspace = await RecordedWorkspace.open(run, folder)
  let isWaiting = true
  return {
    sink,
    workspace,
    events: (): readonly Event[] => sink.events,
    /** A model call is asked, and waits for as long as the look takes. */
    async look(stepId = "0".repeat(16)): Promise<void> {
      workspace?.asked({ stepId, place: run, isWaiting: () => isWaiting })
      await workspace?.settled()
    },
    answerAtOnce(): void {
      isWaiting = false
    },
    steps: (): string[] =>
      sink.events.flatMap((event) =>
        event.event_type === "step_started" && event.payload.kind === "workspace" ? [event.payload.name] : [],
      ),
    diffs: (): string[] =>
      sink.events.flatMap((event) =>
        event.event_type === "artifact_recorded" && event.payload.artifact_type === "diff"
          ? [event.payload.summary]
          : [],
      ),
    said: (): string[] =>
      sink.events.flatMap((event) =>
        event.event_type === "log"
          ? [[event.payload.message, event.attributes?.["why"]].filter(Boolean).join(": ")]
          : [],
      ),
    tree(): RecordedTree {
      const tree = lastTree(sink.events, sink.bodies)
      if (tree === undefined) throw new Error("there is no tree")
      return tree
    },
    async finish(): Promise<void> {
      await workspace?.finish()
      run.complete()
      recorder.close()
    },
  }
}

/** Every file of a tree but git's own: kind and content. */
function filesBelow(root: string, at = ""): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(root, at)).flatMap((name): [string, string][] => {
      const path = join(at, name)
      if (path === ".git" || path === "ignored") return []
      const found = lstatSync(join(root, path))
      if (found.isDirectory()) return Object.entries(filesBelow(root, path))
      if (found.isSymbolicLink()) return [[path, `→ ${readlinkSync(join(root, path))}`]]
      const kind = (found.mode & 0o100) === 0 ? "file" : "executable"
      return [[path, `${kind} ${readFileSync(join(root, path)).toString("hex")}`]]
    }),
  )
}

async function expectSameInCopy(tree: RecordedTree): Promise<void> {
  const repository = await findRepository([tree], [repo])
  expect(repository).not.toBeUndefined()
  const copy = await openWorkspaceCopy(repository ?? null, tree)
  try {
    expect(await copy.set(tree)).toEqual([])
    expect(filesBelow(copy.root)).toEqual(filesBelow(repo))
    const head = (folder: string): string => gitIn(folder, "log", "--all", "--format=%H%d", "-1")
    if (tree.head !== null) expect(head(copy.root)).toBe(head(repo))
  } finally {
    copy.remove()
  }
}

type Change = (path: string, content: Uint8Array) => void
const CHANGES: Readonly<Record<string, Change>> = {
  write: (path, content) => put(path, content),
  executable: (path, content) => put(path, content, 0o755),
  delete: (path) => rmSync(join(repo, path), { recursive: true, force: true }),
  link: (path) => {
    rmSync(join(repo, path), { recursive: true, force: true })
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    symlinkSync("somewhere/else", join(repo, path))
  },
  rename: (path) => {
    if (existsSync(join(repo, path)) && path !== "moved") renameSync(join(repo, path), join(repo, `${path}.moved`))
  },
  stage: () => void git("add", "-A"),
  commit: () => void git("commit", "-q", "--allow-empty", "-am", "more"),
}

test("[P-04] whatever happened to a work tree, a copy made of its recording has the same files and the same commit", async () => {
  const change = fc.record({
    what: fc.constantFrom(...Object.keys(CHANGES)),
    path: fc.constantFrom(
      "src/a.txt",
      "run.sh",
      "link",
      "src/new file.txt",
      "a\nb.txt",
      '"q"',
      "-flag",
      "ü/ñ.txt",
      "src",
    ),
    content: fc.uint8Array({ maxLength: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      rmSync(repo, { recursive: true, force: true })
      mkdirSync(repo)
      repository()
      const run = await watched()
      for (const { what, path, content } of changes) {
        try {
          CHANGES[what]!(path, content)
        } catch {
          // A file stands where a folder would be; the tree is as it is.
        }
        await run.look()
      }
      await expectSameInCopy(run.tree())
      await run.finish()
      expect(validateRun(run.events().filter(({ run_id }) => run_id !== null))).toEqual([])
    }),
    { numRuns: 8 },
  )
})

test("[P-04] a copy is set to another moment and back, whatever was done in it meanwhile, and what git ignores stays", async () => {
  repository()
  const run = await watched()
  put("src/a.txt", "two\n")
  put("new.txt", "new\n")
  await run.look()
  const early = run.tree()
  const atEarly = filesBelow(repo)
  git("add", ".")
  git("commit", "-q", "-m", "second")
  rmSync(join(repo, "src"), { recursive: true })
  put("src", "a file now\n")
  await run.look()
  const copy = await openWorkspaceCopy(repo, early)
  await copy.set(run.tree())
  expect(filesBelow(copy.root)).toEqual(filesBelow(repo))
  expect(gitIn(copy.root, "log", "--format=%s")).toBe("second\nfirst\n")
  mkdirSync(join(copy.root, "ignored"))
  writeFileSync(join(copy.root, "ignored/kept"), "kept")
  writeFileSync(join(copy.root, "stray.txt"), "stray")
  gitIn(copy.root, "init", "-q", "nested")
  await copy.set(early)
  expect(filesBelow(copy.root)).toEqual(atEarly)
  expect(gitIn(copy.root, "log", "--format=%s")).toBe("first\n")
  expect(existsSync(join(copy.root, "ignored/kept"))).toBe(true)
  copy.remove()
  await run.finish()
})

test("[P-04] neither hooks, nor filters, nor remotes of a repository are taken over into a copy", async () => {
  repository()
  const marker = join(scratch, "ran")
  mkdirSync(join(repo, ".git/hooks"), { recursive: true })
  for (const hook of ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"]) {
    writeFileSync(join(repo, ".git/hooks", hook), `#!/bin/sh\necho ${hook} >> ${marker}\n`, { mode: 0o755 })
  }
  put(".gitattributes", "*.txt filter=evil\n")
  git("config", "filter.evil.smudge", `sh -c 'echo smudged >> ${marker}; cat'`)
  git("config", "core.fsmonitor", `sh -c 'echo monitored >> ${marker}'`)
  git("remote", "add", "origin", "https://example.invalid/repo.git")
  const run = await watched()
  put("src/a.txt", "two\n")
  await run.look()
  const copy = await openWorkspaceCopy(repo, run.tree())
  await copy.set(run.tree())
  gitIn(copy.root, "commit", "-q", "-am", "in the copy")
  expect(existsSync(marker)).toBe(false)
  expect(gitIn(copy.root, "remote")).toBe("")
  expect(git("log", "--format=%s")).toBe("first\n")
  copy.remove()
  await run.finish()
})

test("[P-04] where a recorded path meets a link in the copy, nothing is written through it", async () => {
  git("init", "-q", "-b", "main")
  const outside = join(scratch, "outside")
  mkdirSync(outside)
  symlinkSync(outside, join(repo, "out"))
  symlinkSync(join(repo, "original.txt"), join(repo, "back"))
  put("original.txt", "original\n")
  git("add", ".")
  git("commit", "-q", "-m", "first")
  const run = await watched()
  const tree = {
    ...run.tree(),
    files: [
      { path: "out/file.txt", kind: "file" as const, bytes: Buffer.from("through the link") },
      { path: "fine.txt", kind: "file" as const, bytes: Buffer.from("fine") },
    ],
  }
  // Where it can be shown in the place of the original, the link leads into it as it is.
  const copy = await openWorkspaceCopy(repo, tree, { ways: [] })
  expect(await copy.set(tree)).toEqual([
    { path: "out/file.txt", why: "a file or a link stands where its folder was" },
    { path: "out", why: "a committed link that leads out of the tree" },
  ])
  writeFileSync(join(copy.root, "back"), "written through the link")
  expect(readFileSync(join(repo, "original.txt"), "utf8")).toBe("original\n")
  expect(readFileSync(join(copy.root, "fine.txt"), "utf8")).toBe("fine")
  expect(readdirSync(outside)).toEqual([])
  copy.remove()
  await run.finish()
})

test("[D-04] each content is recorded once in a run, and a look that finds nothing new leaves one line", async () => {
  repository()
  const run = await watched()
  put("src/a.txt", "two\n")
  await run.look()
  put("copy.txt", "two\n")
  await run.look()
  const before = run.events().length
  await run.look()
  expect(run.events().length).toBe(before + 1)
  put("src/a.txt", "three\n")
  await run.look()
  put("src/a.txt", "two\n")
  await run.look()
  const kept = run
    .events()
    .filter((event) => event.event_type === "artifact_recorded" && event.payload.artifact_type === "other")
  expect(kept.map(({ payload }) => (payload as { summary: string }).summary)).toEqual([
    "file src/a.txt",
    "file src/a.txt",
  ])
  expect(run.diffs()).toEqual(["change src/a.txt", "create copy.txt", "change src/a.txt", "change src/a.txt"])
  await run.finish()
})

test("[D-04] calls that are asked side by side share a look, and each is told which files it had", async () => {
  repository()
  const run = await watched()
  put("src/a.txt", "two\n")
  const ids = ["1", "2", "3", "4"].map((digit) => digit.repeat(16))
  await Promise.all(ids.map((id) => run.look(id)))
  git("commit", "-q", "-am", "second")
  await run.look("5".repeat(16))
  expect(run.steps()).toEqual(["1 file changed", "HEAD moved"])
  const told = run.events().flatMap(({ attributes }) => attributes?.["at_step"] ?? [])
  expect(told).toEqual([...ids, "5".repeat(16)])
  await run.finish()
})

test("[D-04] a look whose answer came first is not taken for the state of that call; the next one tells", async () => {
  repository()
  const run = await watched()
  put("src/a.txt", "two\n")
  run.answerAtOnce()
  await run.look()
  expect(run.steps()).toEqual([])
  await run.finish()
  expect(run.steps()).toEqual(["1 file changed"])
})

test("[D-07] a look names the tools that ran since the one before, and those that still run again", async () => {
  repository()
  const run = await watched()
  const [first, second] = ["1".repeat(16), "2".repeat(16)]
  // Only steps of the run can be followed; what counts here is which are named.
  run.workspace!.toolStarted(first)
  run.workspace!.toolStarted(second)
  run.workspace!.toolEnded(first)
  put("src/a.txt", "two\n")
  await run.look()
  put("src/a.txt", "three\n")
  await run.look()
  const follows = run
    .events()
    .filter((event) => event.event_type === "step_started" && event.attributes?.["at_step"] !== undefined)
    .map(({ links }) => links?.map(({ step_id }) => step_id))
  expect(follows).toEqual([[first, second], [second]])
  await run.finish()
})

test("odd work trees: no commit yet, no branch, below the top, nested, with submodules, with what cannot be read", async () => {
  git("init", "-q", "-b", "main")
  put("a.txt", "a\n")
  let run = await watched()
  expect(run.tree()).toMatchObject({ base: null, head: null, branch: "main", files: [{ path: "a.txt" }] })
  const copy = await openWorkspaceCopy(null, run.tree())
  expect(await copy.set(run.tree())).toEqual([])
  expect(filesBelow(copy.root)).toEqual(filesBelow(repo))
  copy.remove()
  git("add", ".")
  git("commit", "-q", "-m", "first")
  await run.look()
  expect(run.tree()).toMatchObject({ base: null, files: [{ path: "a.txt" }] })
  expect(run.tree().head).toMatch(/^[0-9a-f]{40}$/)
  await run.finish()

  git("checkout", "-q", "--detach")
  mkdirSync(join(repo, "sub"))
  gitIn(scratch, "init", "-q", "other")
  gitIn(join(scratch, "other"), "commit", "-q", "--allow-empty", "-m", "other")
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(scratch, "other"), "module")
  git("commit", "-q", "-m", "with a submodule")
  git("init", "-q", "nested")
  put("nested/inside.txt", "x")
  execFileSync("mkfifo", [join(repo, "pipe")])
  run = await watched(join(repo, "sub"))
  const tree = run.tree()
  expect(tree).toMatchObject({ branch: null, folder: "sub", root: repo })
  expect(tree.notRestored).toContainEqual({ path: "nested/", why: "no file" })
  const deep = await openWorkspaceCopy(repo, tree)
  expect(await deep.set(tree)).toEqual([{ path: "module", why: "a submodule: its folder is empty" }])
  expect(deep.folder).toBe(join(deep.root, "sub"))
  deep.remove()
  await run.finish()
  expect(await (await watched(scratch)).workspace).toBeUndefined()
})

test("names that are no text are left out and named; a linked work tree and an empty folder are made again like any other", async () => {
  repository()
  git("worktree", "add", "-q", "-b", "side", join(scratch, "linked"))
  const linked = join(scratch, "linked")
  mkdirSync(join(linked, "empty"))
  writeFileSync(Buffer.concat([Buffer.from(`${linked}/odd-`), Buffer.from([0xff, 0xfe])]), "odd")
  writeFileSync(join(linked, "src/a.txt"), "from the side\n")
  const run = await watched(join(linked, "empty"))
  const tree = run.tree()
  expect(tree).toMatchObject({ branch: "side", root: linked, folder: "empty" })
  expect(tree.notRestored).toEqual([{ path: expect.stringContaining("odd-"), why: "a path that is no text" }])
  const copy = await openWorkspaceCopy(linked, tree)
  expect(await copy.set(tree)).toEqual([])
  expect(readdirSync(copy.folder)).toEqual([])
  expect(readFileSync(join(copy.root, "src/a.txt"), "utf8")).toBe("from the side\n")
  copy.remove()
  await run.finish()
})

test("a repository that git refuses is said to be not looked at; a folder outside of any is not worth a word", async () => {
  repository()
  writeFileSync(join(repo, ".git/HEAD"), "ref: refs/heads/main\n")
  writeFileSync(join(repo, ".git/config"), "[core\nbroken")
  const refused = await watched()
  expect(refused.workspace).toBeUndefined()
  expect(refused.said()[0]).toMatch(/^the work tree is not looked at: .*bad config line/)
  await refused.finish()
  expect((await watched(scratch)).said()).toEqual([])
})

test("a repository that disappears costs the rest of the looks and nothing else", async () => {
  repository()
  const run = await watched()
  rmSync(repo, { recursive: true })
  await run.look()
  await run.look()
  await run.finish()
  expect(run.said().filter((line) => line.includes("not looked at again"))).toHaveLength(1)
  expect(run.events().some(({ event_type }) => event_type === "run_completed")).toBe(true)
})

test("[P-04] a data folder is not among what git ignores: a copy of the tree gets no copy of the recordings", async () => {
  repository()
  put("src/b/.gitkeep", "")
  git("add", ".")
  put("ignored/cache.txt", "cache\n")
  for (const folder of [".orangebox", "src/b/.orangebox", "ignored/.orangebox"]) {
    put(`${folder}/.gitignore`, "*\n")
    put(`${folder}/store/store.db`, "recordings\n")
  }
  const names = await ignoredIn(repo)
  expect(names).toEqual(["ignored"])
  const tree = {
    snapshotId: "s",
    root: repo,
    folder: "",
    base: null,
    head: null,
    branch: null,
    files: [],
    notRestored: [],
  }
  const copy = await openWorkspaceCopy(null, tree)
  copyIgnored(repo, names, copy)
  expect(readdirSync(join(copy.root, "ignored"))).toEqual(["cache.txt"])
  copy.remove()
})

test("[D-08] what tools fetch and make is not recorded in a repository that does not ignore it yet, and is said to be left out", async () => {
  git("init", "-q", "-b", "main")
  put("src/a.txt", "one\n")
  put("node_modules/left-pad/index.js", "module.exports = 1\n")
  put("web/node_modules/left-pad/node_modules/x/index.js", "x\n")
  put("lib/__pycache__/a.pyc", "x\n")
  const recording = await watched()
  put("src/a.txt", "two\n")
  put("node_modules/right-pad/index.js", "module.exports = 2\n")
  await recording.look()
  await recording.finish()
  expect(recording.diffs()).toEqual(["change src/a.txt"])
  expect(recording.tree().files.map(({ path }) => path)).toEqual(["src/a.txt"])
  expect(recording.tree().notRestored.map(({ path }) => path)).toEqual([
    "lib/__pycache__/",
    "node_modules/",
    "web/node_modules/",
  ])
  expect(recording.said()).toContain(
    "some files that differ from the commit were not read: made by tools, and not ignored by git",
  )
})

test("[D-08] what git tracks counts, whatever its folder is called", async () => {
  git("init", "-q", "-b", "main")
  put("node_modules/kept/index.js", "one\n")
  git("add", "-A")
  git("commit", "-q", "-m", "first")
  const recording = await watched()
  put("node_modules/kept/index.js", "two\n")
  await recording.finish()
  expect(recording.diffs()).toEqual(["change node_modules/kept/index.js"])
})

test("[D-08] the second change of a file carries all its changes since the run began", async () => {
  repository()
  const recording = await watched()
  const counts = (): unknown[] =>
    recording.events().flatMap((event) => {
      if (event.event_type !== "artifact_recorded" || event.payload.artifact_type !== "diff") return []
      const { lines_added, lines_removed, net_lines_added, net_lines_removed } = event.payload
      return [[lines_added, lines_removed, net_lines_added, net_lines_removed]]
    })
  put("src/a.txt", "two\n")
  await recording.look()
  put("src/a.txt", "three\nfour\n")
  await recording.look()
  put("src/a.txt", "one\n")
  await recording.finish()
  expect(counts()).toEqual([
    [1, 1, undefined, undefined],
    [2, 1, 2, 1],
    [1, 2, 0, 0],
  ])
})
