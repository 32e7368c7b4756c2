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
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { type ScriptedModel, type ScriptLine, shellAgent, startScriptedModel } from "./shell-agent.js"

let scratch: Scratch
let model: ScriptedModel
const repo = (): string => join(scratch.path, "repo")
const data = (): string => join(scratch.path, "data")

beforeEach(async () => {
  scratch = scratchFolder()
  model = await startScriptedModel([])
})
afterEach(async () => {
  await model.close()
  scratch.remove()
})

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: repo(),
    encoding: "utf8",
  })

/** Two committed files, one of them changed, and one that git does not know. */
function repository(): void {
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
  await model.close()
  model = await startScriptedModel(script, data())
  const args = ["run", "--quiet", "--data", data(), ...options, "--", ...shellAgent]
  const { exitCode, stderr } = await orangebox(args, { cwd: repo(), env: { ANTHROPIC_BASE_URL: model.origin } })
  if (exitCode !== 0) throw new Error(stderr)
  source = jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", "--data", data()])).runs[0]!
    .run_id
}
let source: string

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
    readonly aspects: readonly { readonly aspect: string; readonly verdict: string }[]
  } | null
}

/** Forks the last run before the request of its n-th model call; from there the model follows another script. */
async function fork(
  nth: number,
  script: readonly ScriptLine[],
  ...options: string[]
): Promise<Finished & { document: ForkDocument }> {
  await model.close()
  model = await startScriptedModel(script)
  return forkAgain(nth, ...options)
}

/** The same with the model that is there. */
async function forkAgain(nth: number, ...options: string[]): Promise<Finished & { document: ForkDocument }> {
  const shown = jsonOf<{ rows: { type: string; n: number; kind: string }[] }>(
    await orangeboxHere(["show", source, "--json", "--data", data()]),
  )
  const at = shown.rows.filter(({ type, kind }) => type === "step" && kind === "model")[nth - 1]!.n
  const args = ["fork", source, "--at", `#${at}`, "--allow-effects", "bash", "--json", "--data", data(), ...options]
  const finished = await orangebox([...args, "--", ...shellAgent], {
    cwd: repo(),
    env: { ANTHROPIC_BASE_URL: model.origin },
  })
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

describe("orangebox fork in a recorded work tree", () => {
  test("[P-04] the agent finds the files as they were at the forked step, and the original is not touched by a byte", async () => {
    repository()
    await record(SCRIPT)
    const stamp = readFileSync(join(repo(), "stamp.txt"), "utf8")
    writeFileSync(join(repo(), "src/a.txt"), "changed since\n")
    rmSync(join(repo(), "link"))
    const before = digestOf(repo())

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
    expect(digestOf(repo())).toBe(before)
    rmSync(join(copy, ".."), { recursive: true })
    expect((await orangeboxHere(["verify", "last", "--data", data()])).exitCode).toBe(0)
  })

  test("[P-04] what the fork changes in its copy is recorded as for any run, a commit is as it was, and the copy is removed", async () => {
    repository()
    await record(SCRIPT)
    const before = digestOf(repo())
    const { document, stderr } = await fork(5, from(5, "pwd; git log --format=%s; echo five > five.txt"))
    expect(model.heard.at(-1)).toMatch(/orangebox-fork-.*\/repo\nsecond\nfirst\n$/)
    const place = model.heard.at(-1)!.split("\n")[0]!
    expect(existsSync(place)).toBe(false)
    expect(document.samples[0]!.workspace).toBeNull()
    const { artifacts } = jsonOf<{ artifacts: { type: string; metadata: { path: string } }[] }>(
      await orangeboxHere(["report", document.samples[0]!.run, "--json", "--data", data()]),
    )
    expect(artifacts.filter(({ type }) => type === "diff").at(-1)!.metadata.path).toBe("five.txt")
    expect(stderr).toContain("without what git ignores (cache), which --copy-ignored copies as it is now")
    expect(digestOf(repo())).toBe(before)
  })

  test("[P-04] --after forks with the same files: the answer that was recorded is given, and then the agent is free", async () => {
    repository()
    await record(SCRIPT)
    const { document } = await fork(2, from(3, LOOK), "--after", "--copy-ignored")
    expect(document.samples[0]!.report.counts.live).toBe(2)
    expect(model.heard.at(0)).toBe("one\ntwo\n")
    expect(model.heard.at(-1)).toContain("\ncache\n")
    expect(model.heard.at(-1)).toContain("\nmade.sh\n")
  })

  test("[P-04] a file with a secret in it is put back masked, and named; so is what was too large to keep", async () => {
    repository()
    const secret = `sk-ant-api03-${"Ab3dEf6hIj".repeat(9)}-AAAA`
    writeFileSync(join(repo(), "keys.txt"), `key = ${secret}\n`)
    writeFileSync(join(repo(), "large.bin"), Buffer.alloc(1_100_000, 1))
    await record(["true"])
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
  })

  test("[P-04] without a snapshot, without its commit and with --no-workspace it is forked without workspace, and says why", async () => {
    repository()
    await record(["true"])
    const inPlace = await fork(2, from(2, "pwd"), "--no-workspace")
    expect(inPlace.document.workspace).toMatchObject({ restored: false, why: "--no-workspace was given" })
    expect(model.heard.at(-1)).toBe(`${repo()}\n`)
    rmSync(join(repo(), ".git"), { recursive: true })
    const commitGone = await fork(2, from(2, "pwd"))
    expect(commitGone.document.workspace.why).toMatch(/the commit \w{12} is in no repository here/)
    expect(commitGone.document.samples[0]!.report.divergences[0]!.message).toContain("forked without workspace")
    await record(["true"], "--no-workspace")
    const never = await fork(2, from(2, "pwd"))
    expect(never.document.workspace.why).toBe("no work tree was recorded with the run")
  })

  test("[P-07] recorded answers that name files by their full path are not given to an agent in a copy", async () => {
    repository()
    await record([`echo two >> ${repo()}/src/a.txt`])
    const before = digestOf(repo())
    await expect(fork(2, from(2, "true"))).rejects.toThrow(/1 recorded tool call before the fork name files/)
    expect(digestOf(repo())).toBe(before)
    // Before that answer there is nothing yet that leads out.
    expect((await fork(1, ["pwd"])).document.workspace.restored).toBe(true)
  })
})

describe("orangebox fork, its arms and its policies", () => {
  test("[P-04] with --control both arms run in copies of their own, and a change that makes other files is an effect", async () => {
    repository()
    await record(["true"])
    await model.close()
    model = await startScriptedModel((body) =>
      body.includes("claude-loud")
        ? from(2, "echo LOUD > said.txt", { says: "DONE" })
        : from(2, "echo quiet > said.txt"),
    )
    const before = digestOf(repo())
    const { document } = await forkAgain(2, "--set", "model=claude-loud", "--control", "--samples", "5")
    expect(document.samples.map(({ arm }) => arm)).toEqual(Array(5).fill(["changed", "control"]).flat())
    expect(new Set(document.samples.map(({ aspects }) => aspects["files"])).size).toBe(2)
    expect(document.verdict!.verdict).toBe("effect")
    expect(document.verdict!.aspects.map(({ aspect, verdict }) => `${aspect} ${verdict}`)).toEqual([
      "end inconclusive",
      "actions effect",
      "files effect",
      "answer effect",
    ])
    expect(digestOf(repo())).toBe(before)
  })

  test("[P-04] --post says what answers behind the fork: recorded answers again, or none at all", async () => {
    repository()
    await record(["echo one > one.txt", "echo two > two.txt"])
    const exact = await fork(2, from(2, "echo other > other.txt"), "--post", "model=exact")
    expect(exact.document.samples[0]!.report.counts.live).toBe(0)
    expect(model.heard).toEqual([])
    expect(exact.exitCode).toBe(1)
    const denied = await fork(2, from(2, "true"), "--post", "model=deny")
    expect(denied.stdout).toContain("refused with")
    expect(denied.document.samples[0]!.report.divergences.map(({ code }) => code)).toContain("EFFECT_DENIED")
    expect(model.heard).toEqual([])
  })
})
