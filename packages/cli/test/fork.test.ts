import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import {
  type Script,
  type ScriptedModel,
  type ScriptLine,
  SHELL_AGENT,
  shellAgent,
  startScriptedModel,
} from "./shell-agent.js"

let scratch: Scratch
let model: ScriptedModel
/** The run that is forked. */
let source: string
const repo = (): string => join(scratch.path, "repo")
const data = (): string => join(scratch.path, "data")

afterAll(() => scratch.remove())

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: repo(),
    encoding: "utf8",
  })

/** Two committed files, one of them changed, and one that git does not know. */
function repository(): void {
  scratch?.remove()
  scratch = scratchFolder()
  mkdirSync(join(repo(), "src"), { recursive: true })
  git("init", "-q", "-b", "main")
  writeFileSync(join(repo(), "src/a.txt"), "one\n")
  writeFileSync(join(repo(), "gone.txt"), "here\n")
  writeFileSync(join(repo(), ".gitignore"), "cache/\n")
  git("add", ".")
  git("commit", "-q", "-m", "first")
  writeFileSync(join(repo(), "gone.txt"), "here, and changed\n")
  writeFileSync(join(repo(), "loose.txt"), "not known to git\n")
  mkdirSync(join(repo(), "cache"))
  writeFileSync(join(repo(), "cache/lib.txt"), "a dependency\n")
}

/** Everything below a folder, git's own files included, as one digest. Objects keep their bytes; git renews their time when one is needed again. */
function digestOf(folder: string): string {
  const hash = createHash("sha256")
  const walk = (path: string): void => {
    for (const name of readdirSync(path).sort()) {
      const place = join(path, name)
      const found = lstatSync(place)
      hash.update(`${place}\0${found.mode}\0${place.includes("/.git/objects") ? "" : found.mtimeMs}\0`)
      if (found.isDirectory()) walk(place)
      else hash.update(found.isSymbolicLink() ? readlinkSync(place) : readFileSync(place))
    }
  }
  walk(folder)
  return hash.digest("hex")
}

async function record(script: readonly ScriptLine[], ...options: string[]): Promise<void> {
  model = await startScriptedModel(script, options.includes("--no-workspace") ? undefined : data())
  const args = ["run", "--quiet", "--data", data(), ...options, "--", ...shellAgent]
  const { exitCode, stderr } = await orangebox(args, { cwd: repo(), env: { ANTHROPIC_BASE_URL: model.origin } })
  await model.close()
  if (exitCode !== 0) throw new Error(stderr)
  source = jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data()])).runs[0]!
    .run_id
}

interface ForkDocument {
  readonly workspace: {
    readonly restored: boolean
    readonly not_restored: readonly { readonly path: string; readonly why: string }[]
    readonly why: string | null
  }
  readonly samples: readonly {
    readonly arm: string
    readonly run: string
    readonly workspace: string | null
    readonly aspects: Readonly<Record<string, string | null>>
    readonly report: {
      readonly fidelity: string
      readonly counts: { readonly live: number; readonly missed: number }
      readonly divergences: readonly { readonly code: string; readonly message: string }[]
    }
  }[]
  readonly verdict: {
    readonly verdict: string
    readonly aspects: readonly { readonly aspect: string; readonly reason: string }[]
  } | null
}

/** Forks the recorded run before the request of its n-th model call; the model follows another script from there. */
async function fork(nth: number, script: Script, ...options: string[]): Promise<Finished & { document: ForkDocument }> {
  model = await startScriptedModel(script)
  const shown = jsonOf<{ rows: { type: string; n: number; kind: string }[] }>(
    await orangeboxHere(["show", source, "--json", "--data", data()]),
  )
  const at = shown.rows.filter(({ type, kind }) => type === "step" && kind === "model")[nth - 1]!.n
  const args = ["fork", source, "--at", `#${at}`, "--allow-effects", "bash", "--json", "--data", data(), ...options]
  // A path that leads out of the tree is still the file it is here.
  writeFileSync(join(scratch.path, "agent.mjs"), SHELL_AGENT)
  const finished = await orangebox([...args, "--", process.execPath, "../agent.mjs"], {
    cwd: repo(),
    env: { ANTHROPIC_BASE_URL: model.origin },
  })
  await model.close()
  const json = finished.stderr.slice(finished.stderr.indexOf("{\n"))
  if (!json.startsWith("{")) throw new Error(finished.stderr)
  return { ...finished, document: JSON.parse(json) as ForkDocument }
}

const SCRIPT = [
  "echo two >> src/a.txt",
  "cat src/a.txt; printf made > made.sh; chmod +x made.sh; rm gone.txt; ln -s src/a.txt link",
  "date +%s%N > stamp.txt",
  "echo four > after.txt; git add . && git commit -q -m second",
]
const LOOK = "cat src/a.txt stamp.txt; ls -a; git log --format=%s; git status --porcelain"
const from = (nth: number, ...lines: ScriptLine[]): ScriptLine[] => [...Array(nth - 1).fill("exit 7"), ...lines]

describe("in a recorded work tree", () => {
  let stamp: string
  let before: string
  beforeAll(async () => {
    repository()
    await record(SCRIPT)
    stamp = readFileSync(join(repo(), "stamp.txt"), "utf8")
    writeFileSync(join(repo(), "src/a.txt"), "changed since\n")
    rmSync(join(repo(), "link"))
    before = digestOf(repo())
  })
  afterEach(() => expect(digestOf(repo()), "the original").toBe(before))

  test("[P-04] a fork that needs leave says the whole command to type, which then starts", async () => {
    writeFileSync(join(scratch.path, "agent.mjs"), SHELL_AGENT)
    const typed = ["fork", source, "--at", "#3", "--data", data(), "--", process.execPath, "../agent.mjs"]
    const refused = await orangebox(typed, { cwd: repo() })
    expect(refused.exitCode).toBe(2)
    const command = /let them run: orangebox (.*)/.exec(refused.stderr)?.[1] ?? ""
    expect(command).toContain("--allow-effects bash --copy-ignored -- ")
    model = await startScriptedModel(from(1, "true"))
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "")
    const started = await orangebox(words, { cwd: repo(), env: { ANTHROPIC_BASE_URL: model.origin } })
    await model.close()
    expect(started.stderr).not.toContain("without what git ignores")
    expect([0, 1]).toContain(started.exitCode)
  })

  test("[P-04] the agent finds the files as they were at the forked step, and the original is not touched by a byte", async () => {
    const { document, exitCode, stderr } = await fork(4, from(4, LOOK), "--keep-workspace")
    expect(exitCode).toBe(0)
    expect(stderr).toContain("it runs in a copy of the work tree: commit")
    expect(document.workspace).toMatchObject({ restored: true, not_restored: [] })
    const [sample] = document.samples
    expect(sample!.report.divergences).toEqual([])
    expect(sample!.report.fidelity).toBe("exact_prefix")
    // The agent made another stamp when it did its work again; at the fork it is the recorded one.
    expect(model.heard.at(-1)).toBe(
      `one\ntwo\n${stamp}.\n..\n.git\n.gitignore\nlink\nloose.txt\nmade.sh\nsrc\nstamp.txt\nfirst\n D gone.txt\n M src/a.txt\n?? link\n?? loose.txt\n?? made.sh\n?? stamp.txt\n`,
    )
    const copy = sample!.workspace!
    expect(lstatSync(join(copy, "made.sh")).mode & 0o111).not.toBe(0)
    expect(lstatSync(join(copy, "loose.txt")).mode & 0o111).toBe(0)
    expect(readlinkSync(join(copy, "link"))).toBe("src/a.txt")
    expect(git("-C", copy, "symbolic-ref", "HEAD")).toBe("refs/heads/main\n")
    expect(git("-C", copy, "remote")).toBe("")
    rmSync(join(copy, ".."), { recursive: true })
    expect((await orangeboxHere(["verify", sample!.run, "--data", data()])).exitCode).toBe(0)
  })

  test("[P-04] what the fork changes in its copy is recorded as for any run, a commit is as it was, and the copy is removed", async () => {
    const { document, stderr } = await fork(5, from(5, "pwd; git log --format=%s; echo five > five.txt"))
    expect(model.heard.at(-1)).toBe(`${repo()}\nsecond\nfirst\n`)
    expect(existsSync(join(repo(), "five.txt"))).toBe(false)
    expect(document.samples[0]!.workspace).toBeNull()
    const { artifacts } = jsonOf<{ artifacts: { type: string; metadata: { path: string } }[] }>(
      await orangeboxHere(["report", document.samples[0]!.run, "--json", "--data", data()]),
    )
    expect(artifacts.filter(({ type }) => type === "diff").at(-1)!.metadata.path).toBe("five.txt")
    expect(stderr).toContain("without what git ignores (cache), which --copy-ignored copies as it is now")
  })

  test("[P-04] --after forks with the same files: the answer that was recorded is given, and then the agent is free", async () => {
    const { document } = await fork(2, from(3, LOOK), "--after", "--copy-ignored")
    expect(document.samples[0]!.report.counts.live).toBe(2)
    expect(model.heard.at(0)).toBe("one\ntwo\n")
    expect(model.heard.at(-1)).toContain("\ncache\n")
    expect(model.heard.at(-1)).toContain("\nmade.sh\n")
  })

  test("[P-04] with --control both arms run as often, in copies of their own, and are compared in what they did, left and said", async () => {
    const script: Script = (body) =>
      body.includes("claude-loud")
        ? from(2, "echo LOUD > said.txt", { says: "DONE" })
        : from(2, "echo quiet > said.txt")
    const { document } = await fork(2, script, "--set", "model=claude-loud", "--control", "--samples", "2")
    expect(document.samples.map(({ arm }) => arm)).toEqual(["changed", "control", "changed", "control"])
    expect(document.samples.map(({ aspects }) => aspects["answer"])).toEqual(["DONE", "done", "DONE", "done"])
    const { verdict, aspects } = document.verdict!
    expect(verdict).toBe("inconclusive")
    expect(aspects.map(({ aspect, reason }) => `${aspect}: ${reason.split(";")[0]}`)).toEqual([
      "end: 2 of 2 without the change, 2 of 2 with it",
      "actions: 2 of 2 without the change, 0 of 2 with it",
      "files: 2 of 2 without the change, 0 of 2 with it",
      "answer: 2 of 2 without the change, 0 of 2 with it",
    ])
  })

  test("[P-04] --post says what answers behind the fork: recorded answers again, or none at all", async () => {
    const exact = await fork(2, [], "--post", "model=exact")
    expect(exact.document.samples[0]!.report.counts.live).toBe(0)
    expect(model.heard).toEqual([])
    const denied = await fork(2, [], "--post", "model=deny")
    expect(denied.stdout).toContain("refused with")
    expect(denied.document.samples[0]!.report.divergences.map(({ code }) => code)).toContain("EFFECT_DENIED")
    expect(model.heard).toEqual([])
  })
})

test("[P-04] [P-07] what is masked or too large is named", async () => {
  repository()
  const secret = `sk-ant-api03-${"Ab3dEf6hIj".repeat(9)}-AAAA`
  writeFileSync(join(repo(), "keys.txt"), `key = ${secret}\n`)
  writeFileSync(join(repo(), "large.bin"), Buffer.alloc(1_100_000, 1))
  await record(["true"])
  const before = digestOf(repo())
  const { document } = await fork(2, from(2, "cat keys.txt; ls"))
  expect(document.workspace.not_restored).toEqual([
    { path: "large.bin", why: "too large" },
    { path: "keys.txt", why: "secrets in it are masked" },
  ])
  const [note] = document.samples[0]!.report.divergences
  expect(note).toMatchObject({ code: "STATE_NOT_RESTORED" })
  expect(note!.message).toContain("but for large.bin (too large), keys.txt (secrets in it are masked)")
  expect(model.heard.at(-1)).not.toContain(secret)
  expect(model.heard.at(-1)).not.toContain("large.bin")
  expect(digestOf(repo())).toBe(before)
})

test("[P-04] without a snapshot, without its commit and with --no-workspace it is forked without workspace, and says why", async () => {
  repository()
  await record(["true"])
  const inPlace = await fork(2, from(2, "pwd"), "--no-workspace")
  expect(inPlace.document.workspace).toMatchObject({ restored: false, why: "--no-workspace was given" })
  expect(inPlace.stderr).toContain(`forked without workspace, the command runs in ${repo()}: --no-workspace was given`)
  expect(model.heard.at(-1)).toBe(`${repo()}\n`)
  rmSync(join(repo(), ".git"), { recursive: true })
  const commitGone = await fork(2, from(2, "pwd"))
  expect(commitGone.document.workspace.why).toMatch(/the commit \w{12} is in no repository here/)
  expect(commitGone.document.samples[0]!.report.divergences[0]!.message).toContain("forked without workspace")
  await record(["true"], "--no-workspace")
  const never = await fork(2, from(2, "pwd"))
  expect(never.document.workspace.why).toBe("no work tree was recorded with the run")
})
