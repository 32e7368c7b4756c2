import { posix } from "node:path"
import type { Run } from "@orangebox/recorder"
import fc from "fast-check"
import { expect, test } from "vitest"
import { isOutsideTree, whyUnsafe } from "../src/fork/recorded-workspace.js"
import { compareOutcomes, type ForkOutcome, planFork, type RecordedTree, workspaceAt } from "../src/index.js"
import { anthropicAnswer, messages, recordRun } from "./recorded.js"

interface WrittenFile {
  readonly path: string
  readonly kind?: string
  readonly content?: string
}

const HEAD = "a".repeat(40)

/** A look as a recorder of work trees leaves it. */
function snapshot(run: Run, id: string, files: readonly WrittenFile[], more: object = {}): void {
  const contents = files.map(({ content }, at) => {
    if (content === undefined) return null
    const name = `workspace/file/${id}-${at}`
    run.artifact({ id: name, type: "other", summary: "a file", content: Buffer.from(content) })
    return name
  })
  const listed = files.map(({ path, kind = "file" }, at) => ({
    path,
    kind,
    hash: `${id}-${at}`,
    byte_size: null,
    content: contents[at],
  }))
  run.artifact({
    id,
    type: "workspace_snapshot",
    summary: "files",
    content: {
      version: 1,
      root: "/home/somebody/repo",
      folder: "",
      base: HEAD,
      head: HEAD,
      branch: "main",
      at_step: null,
      files: listed,
      left_out: [],
      left_out_more: 0,
      ...more,
    },
  })
}

const ask = (run: Run, text: string): Promise<unknown> =>
  run.model({ provider: "anthropic", model: "claude-x", request: JSON.parse(messages([text])) }, () =>
    JSON.parse(anthropicAnswer(text)),
  )

/** The tree of the n-th model call of a run. */
async function treeOf(agent: (run: Run) => Promise<void>, nth = 0): Promise<RecordedTree | null> {
  const { events, bodies, tape } = await recordRun(agent)
  const at = workspaceAt(events, bodies, tape.calls.filter(({ kind }) => kind === "model")[nth]!)
  if (!at.found) throw new Error(at.why)
  return at.cut
}

async function onlySnapshot(files: readonly WrittenFile[], more: object = {}): Promise<RecordedTree> {
  const { events, bodies, tape } = await recordRun(async (run) => {
    snapshot(run, "workspace/before", files, more)
    await ask(run, "go")
  })
  const at = workspaceAt(events, bodies, tape.calls[0]!)
  if (!at.found) throw new Error(at.why)
  return at.start
}

test("[P-04] a recording from elsewhere cannot name a place outside of the tree, nor git's own folder", async () => {
  const hostile = [
    "../x",
    "a/../../x",
    "/etc/passwd",
    ".git/hooks/post-checkout",
    "sub/.GIT/config",
    "sub/.git",
    "git~1/config",
    ".git. /config",
    ".g\u200cit/config",
    ".git::$INDEX_ALLOCATION/config",
    "a//b",
    "./a",
    "",
    "a\\..\\..\\x",
  ]
  const tree = await onlySnapshot(
    [...hostile, "fine.txt", ".gitignore", "a.git/b"].map((path) => ({ path, content: "x" })),
  )
  expect(tree.files.map(({ path }) => path)).toEqual(["fine.txt", ".gitignore", "a.git/b"])
  expect(tree.notRestored.map(({ path }) => path).filter((path) => path !== ".")).toEqual(hostile)
})

test("[P-04] a link that leads out of the tree is not made again, and is named", async () => {
  const links = ["/etc", "../x", "a/../../x", "..", "d/..", ".git/config", "\\\\server\\x", ""]
  const inside = ["a.txt", "../a.txt", "./b/c", "../../top.txt"]
  const tree = await onlySnapshot([
    ...links.map((content, at) => ({ path: `out${at}`, kind: "symlink", content })),
    ...inside.map((content, at) => ({ path: `deep/er/in${at}`, kind: "symlink", content })),
  ])
  expect(tree.files.map(({ path }) => path)).toEqual(inside.map((_, at) => `deep/er/in${at}`))
  expect(tree.notRestored).toContainEqual({ path: "out0", why: "a link that leads out of the tree" })
})

test("[P-04] any path that is let through is the place it names below the tree, and any link leads to one", () => {
  const part = fc.oneof(fc.constantFrom("..", ".", "", ".git", "a", "b c", "ü", "...", ".gitignore"), fc.string())
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const path = parts.join("/")
      if (whyUnsafe(path) === undefined) expect(posix.resolve("/tree", path)).toBe(`/tree/${path}`)
      if (!isOutsideTree("deep/er/link", Buffer.from(path)))
        expect(`${posix.resolve("/tree/deep/er", path)}/`).toMatch(/^\/tree\//)
      const isPlain = parts.every((one) => /^[a-z ü]+$/.test(one))
      if (isPlain) expect(whyUnsafe(path)).toBeUndefined()
    }),
  )
})

test("[P-04] what is no snapshot, or has no commit's name in it, is none", async () => {
  for (const more of [{ base: "--upload-pack=x" }, { head: "main" }, { version: 2 }, { files: "all" }, { base: 7 }]) {
    await expect(onlySnapshot([], more)).rejects.toThrow(/was not kept, or cannot be read/)
  }
  const outside = await onlySnapshot([], { folder: "../../elsewhere" })
  expect(outside.folder).toBe("")
  await expect(treeOf((run) => ask(run, "go").then(() => {}))).rejects.toThrow("no work tree was recorded with the run")
})

test("[P-04] the files of a call are those of the look at it; where nobody looked, the last look before, which is said", async () => {
  const agent = async (run: Run): Promise<void> => {
    snapshot(run, "workspace/before", [{ path: "a", content: "before" }])
    for (const [at, text] of ["one", "two", "three"].entries()) {
      await run.model(
        { provider: "anthropic", model: "claude-x", request: JSON.parse(messages([text])) },
        (_send, step) => {
          if (at === 1) snapshot(run, "workspace/1", [{ path: "a", content: "changed" }], { at_step: step.id })
          if (at === 0)
            run.emit(
              "log",
              { level: "debug", message: "as it was" },
              { attributes: { at_step: step.id, workspace: "workspace/before" } },
            )
          return JSON.parse(anthropicAnswer(text))
        },
      )
    }
  }
  const trees = await Promise.all([0, 1, 2].map((nth) => treeOf(agent, nth)))
  expect(trees.map((tree) => tree && [tree.snapshotId, Buffer.from(tree.files[0]!.bytes!).toString()])).toEqual([
    ["workspace/before", "before"],
    ["workspace/1", "changed"],
    null,
  ])
})

test("[P-04] a fork says that files were not put back, which ones were not, or nothing when all were", async () => {
  const { tape } = await recordRun((run) => ask(run, "go"))
  const notes = (workspace?: Parameters<typeof planFork>[1]["workspace"]): (string | undefined)[] => {
    const plan = planFork(tape, { stepId: tape.calls[0]!.stepId, ...(workspace ? { workspace } : {}) })
    if (!plan.ok) throw new Error(plan.problems[0]!.reason)
    return plan.fork.notes.map(({ code, message }) => `${code} ${message}`)
  }
  const without =
    "STATE_NOT_RESTORED forked without workspace: files are as they are now, not as they were at that step"
  expect(notes()).toEqual([without])
  expect(notes({ isRestored: false, why: "there is no git" })).toEqual([`${without}; there is no git`])
  expect(notes({ isRestored: true, notRestored: [] })).toEqual([])
  const many = Array.from({ length: 12 }, (_, at) => ({ path: `f${at}`, why: "too large" }))
  expect(notes({ isRestored: true, notRestored: many })[0]).toMatch(
    /but for f0 \(too large\), .*f9 \(too large\) and 2 more$/,
  )
})

test("[P-04] arms are compared in every aspect that is known of all samples, each with its own chance", () => {
  const arm = (count: number, outcome: (at: number) => ForkOutcome): ForkOutcome[] =>
    Array.from({ length: count }, (_, at) => outcome(at))
  const same = (at: number): ForkOutcome => ({ end: "exit 0", files: "f", answer: `words ${at}`, score: null })
  const other = (at: number): ForkOutcome => ({ ...same(at), files: "g" })
  const found = compareOutcomes(arm(6, same), arm(6, other))
  expect(found).toMatchObject({ verdict: "effect", reason: "files: 6 of 6 without the change, 0 of 6 with it" })
  expect(found.aspects.map(({ aspect, verdict }) => `${aspect} ${verdict}`)).toEqual([
    "end inconclusive",
    "files effect",
    "answer inconclusive",
  ])
  expect(found.aspects[2]!.reason).toContain("no two of 6 samples without the change agree")
  // Three aspects have three chances: what one test alone would claim is not claimed.
  const close = (at: number): ForkOutcome => ({ ...same(at), files: at < 4 ? "g" : "f" })
  expect(compareOutcomes(arm(5, same), arm(5, close)).verdict).toBe("inconclusive")
  expect(
    compareOutcomes(
      arm(20, () => ({ end: "exit 0" })),
      arm(20, () => ({ end: "exit 0" })),
    ).verdict,
  ).toBe("no_effect")
  expect(compareOutcomes(arm(1, same), arm(1, other)).verdict).toBe("inconclusive")
  expect(compareOutcomes([], arm(3, same)).verdict).toBe("inconclusive")
})
