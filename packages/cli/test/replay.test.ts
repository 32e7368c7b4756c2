import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, type ModelServer, startModelServer } from "./model-server.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"
import { shellAgent, startScriptedModel } from "./shell-agent.js"

/** A model that answers with its name, what it was asked, and how many it has answered: no two answers are alike. */
async function startModel(): Promise<ModelServer & { asked(): number }> {
  let asked = 0
  const server = await startModelServer((body, response) => {
    const { model, messages } = JSON.parse(String(body)) as { model: string; messages: { content: string }[] }
    const text = `${model} heard ${messages.at(-1)!.content} (${++asked})`
    answerMessage(response, { id: `msg_${asked}`, model, content: [{ type: "text", text }] })
  })
  return { ...server, asked: () => asked }
}

/** Asks twice, the second time about the first answer. Its arguments are the question and its exit code. */
const AGENT = `
const ask = async (content) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 64, messages: [{ role: "user", content }] }),
  })
  if (!response.ok) { console.log("refused with " + response.status); process.exit(9) }
  return (await response.json()).content[0].text
}
const first = await ask(process.argv[1] ?? "name a colour")
console.log(first)
console.log(await ask("why " + first))
process.exitCode = Number(process.argv[2] ?? 0)
`
const agent = (...args: string[]): string[] => [process.execPath, "--input-type=module", "-e", AGENT, ...args]

let scratch: Scratch
let gone: string
let recorded: Finished
let runId: string
let digest: string

/** What starts no agent needs no process of its own. */
function here(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished> {
  const end = args.indexOf("--")
  if (end === -1 && env === undefined) return orangeboxHere([...args, "--data", scratch.path])
  const own = [...(end === -1 ? args : args.slice(0, end)), "--data", scratch.path]
  const command = end === -1 ? [] : args.slice(end)
  return orangebox([...own, ...command], { env: env ?? { ANTHROPIC_BASE_URL: gone }, cwd: scratch.path })
}

/** The same for what is refused before the agent is started. */
const refusal = (args: readonly string[], command: readonly string[]): Promise<Finished> =>
  orangeboxHere([...args, "--data", scratch.path, "--", ...command])

/** Every replay leaves its source as it was. */
async function expectSourceUntouched(): Promise<void> {
  expect((await here(["verify", runId, "--digest", digest])).exitCode).toBe(0)
}

beforeAll(async () => {
  scratch = scratchFolder()
  const model = await startModel()
  recorded = await here(["run", "--", ...agent()], { ANTHROPIC_BASE_URL: model.origin })
  model.close()
  gone = model.origin
  runId = /show (run_\w+)/.exec(recorded.stderr)![1]!
  digest = /sha256:[0-9a-f]{64}/.exec(recorded.stderr)![0]
})
afterAll(() => scratch.remove())

interface ReplayDocument {
  readonly run: string
  readonly certified: boolean
  readonly certificate: { readonly driver: string; readonly source_run: string; readonly source_digest: string } | null
  readonly blocking: readonly { readonly reason: string }[]
  readonly report: {
    readonly fidelity: string
    readonly egress: { readonly upstream_sockets: number }
    readonly divergences: readonly { readonly code: string }[]
  }
  readonly command: { readonly exit_code: number | null }
}

describe("orangebox replay", () => {
  test("[P-03] a recorded agent runs again with the model gone: the same output, certified, and the source stays untouched", async () => {
    const proof = join(scratch.path, "proof.json")
    const { stdout, stderr, exitCode } = await here(["replay", runId, "--certificate", proof, "--", ...agent()])
    expect({ stdout, exitCode }).toEqual({ stdout: recorded.stdout, exitCode: 0 })
    expect(stderr).toContain("certificate: issued")
    expect(stderr).toContain("upstream connections 0")
    expect(stderr).toMatch(new RegExp(`orangebox diff ${runId} run_\\w+`))
    expect(JSON.parse(readFileSync(proof, "utf8"))).toMatchObject({
      driver: "proxy",
      source_run: runId,
      source_digest: digest,
    })
    const again = await refusal(["replay", runId, "--certificate", proof], agent())
    expect(again.exitCode).toBe(2)
    expect(again.stderr).toContain("already there")
    await expectSourceUntouched()
  })

  test("[P-05] the replay is a run of its own that names its source, with the mode on every step", async () => {
    const { run } = JSON.parse((await here(["replay", runId, "--json", "--", ...agent()])).stderr) as ReplayDocument
    const shown = await here(["show", run])
    expect(shown.stdout).toContain(`replay of ${runId} (reproduce)`)
    expect(shown.stdout.match(/^#\d.*(model|run) /gm)).toHaveLength(3)
    expect(shown.stdout.match(/^#\d.*\[exact\] (model|run) /gm)).toHaveLength(3)
    expect((await here(["verify", run])).exitCode).toBe(0)
    expect((await here(["diff", runId, run])).exitCode).toBe(0)
    const ofReplay = await here(["replay", run, "--", ...agent()])
    expect({ stdout: ofReplay.stdout, exitCode: ofReplay.exitCode }).toEqual({ stdout: recorded.stdout, exitCode: 0 })
  })

  test("[P-06] a changed agent is refused at the place that differs: exit 1, the pointer, no certificate", async () => {
    const proof = join(scratch.path, "none.json")
    const changed = ["replay", runId, "--certificate", proof, "--", ...agent("name an animal")]
    const { stdout, stderr, exitCode } = await here(changed)
    expect({ stdout, exitCode }).toEqual({ stdout: "refused with 422\n", exitCode: 1 })
    expect(stderr).toContain("REQ_CHANGED")
    expect(stderr).toContain('/messages/0/content  recorded "name a colour"  now "name an animal"')
    expect(stderr).toMatch(/exited with 9/)
    expect(stderr).toContain("none.json is not written")
    await expectSourceUntouched()
  })

  test("[P-06] no traffic is exit 1 with its code; another end of the command withholds the certificate", async () => {
    const silent = await here(["replay", runId, "--json", "--", process.execPath, "-e", "0"])
    expect(silent.exitCode).toBe(1)
    const { report, command } = JSON.parse(silent.stderr) as ReplayDocument
    expect(report.divergences.map(({ code }) => code)).toContain("NO_TRAFFIC")
    expect(command.exit_code).toBe(0)
    const failing = await here(["replay", runId, "--json", "--", ...agent("name a colour", "4")])
    expect(failing.exitCode).toBe(1)
    expect(failing.stderr).toContain("how the run ended differs")
    expect(failing.stdout).toBe(recorded.stdout)
  })

  test("[P-02] mode cached answers the same question as often as it is asked, and claims no certificate", async () => {
    const twice = AGENT.replace("const first =", "await ask('name a colour'); const first =")
    const command = [process.execPath, "--input-type=module", "-e", twice]
    expect((await here(["replay", runId, "--", ...command])).stderr).toContain("OCCURRENCE_EXHAUSTED")
    const cached = await here(["replay", runId, "--mode", "cached", "--", ...command])
    expect({ stdout: cached.stdout, exitCode: cached.exitCode }).toEqual({ stdout: recorded.stdout, exitCode: 0 })
    expect(cached.stderr).toContain("certificate: not issued")
  })

  test("[P-03] the engine replays any run without its agent, also one from an exported file, and writes nothing", async () => {
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
    const before = jsonOf<{ total: number }>(await here(["runs", "--json"])).total
    const found = await here(["replay", "last", "--json"])
    expect(found.exitCode).toBe(0)
    expect(jsonOf<ReplayDocument>(found)).toMatchObject({
      certified: true,
      run: null,
      certificate: { driver: "engine" },
      report: { fidelity: "exact" },
    })
    const file = join(scratch.path, "run.obxrun")
    await here(["export", runId, "--output", file])
    const fromFile = await here(["replay", file, "--", ...agent()])
    expect({ stdout: fromFile.stdout, exitCode: fromFile.exitCode }).toEqual({ stdout: recorded.stdout, exitCode: 0 })
    expect(jsonOf<{ total: number }>(await here(["runs", "--json"])).total).toBe(before + 1)
  })

  test("[P-07] a command whose recorded tools would run again is refused with their names, unless that is allowed", async () => {
    const model = await startScriptedModel(["true", { says: "done" }])
    await here(["run", "--no-workspace", "--", ...shellAgent], { ANTHROPIC_BASE_URL: model.origin })
    await model.close()
    const { runs } = jsonOf<{ runs: { run_id: string }[] }>(await here(["runs", "--json"]))
    const source = runs[0]!.run_id
    const refused = await refusal(["replay", source], agent())
    expect(refused.exitCode).toBe(2)
    expect(refused.stdout).toBe("")
    expect(refused.stderr).toContain("bash (effect unknown)")
    expect(refused.stderr).toContain("The proxy is not a sandbox")
    expect(refused.stderr).toContain("--allow-tool-exec")
    const allowed = await here(["replay", source, "--allow-tool-exec", "--", process.execPath, "-e", "0"])
    expect(allowed.exitCode).toBe(1)
    expect(allowed.stderr).toContain("The proxy is not a sandbox")
    const json = await refusal(["fork", source, "--at", "#3", "--json"], agent())
    expect(JSON.parse(json.stderr.trim().split("\n").at(-1)!)).toMatchObject({ error: { code: "COVERAGE_GAP" } })
  })

  test("[P-07] what cannot be replayed is said before anything starts; a run with nothing to serve is refused", async () => {
    const model = await startModel()
    await here(["run", "--capture", "hashed", "--", ...agent()], { ANTHROPIC_BASE_URL: model.origin })
    model.close()
    for (const command of [[], agent()]) {
      const { stdout, stderr, exitCode } = await refusal(["replay", "last"], command)
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 })
      expect(stderr).toMatch(/#2, #3 cannot be replayed: RESPONSE_ABSENT.*capture: hashed/)
      expect(stderr).toContain("none of the 2 recorded calls can be answered")
    }
    await record(scratch.path, (recorder) => recorder.startRun({ entrypoint: "idle" }).complete())
    const idle = await here(["replay", "last", "--json"])
    expect(idle.exitCode).toBe(2)
    expect(idle.stderr).toContain("NO_TRAFFIC")
  })

  test("[X-09] a run that was redacted later is not certified any more, and says so before it starts", async () => {
    const model = await startModel()
    await here(["run", "--", ...agent("the word is xyzzy-plugh")], { ANTHROPIC_BASE_URL: model.origin })
    model.close()
    expect((await here(["replay", "last"])).exitCode).toBe(0)
    await here(["redact", "--stored", "--value", "xyzzy-plugh"])
    const { stdout, stderr, exitCode } = await here(["replay", "last"])
    expect(stderr + stdout).toContain("voids certificates")
    expect(exitCode).not.toBe(0)
  })

  test("[P-03] calibration proposes typed masks, a person accepts them, and then a new id in the prompt still replays", async () => {
    const ids = ["0b7c1f3e-94d1-4b0e-9d1b-6a3c5a4f1e11", "f3a1d7c2-1b5e-4c8d-8a77-2f9be04c6d22"] as const
    const model = await startModel()
    // Its session is its own affair: the command line is the same every time.
    const same = AGENT.replace('"why " + first', '"why"').replace("process.argv[1]", '"session " + process.env.SESSION')
    const asking = [process.execPath, "--input-type=module", "-e", same]
    for (const id of ids) await here(["run", "--", ...asking], { ANTHROPIC_BASE_URL: model.origin, SESSION: id })
    model.close()
    const source = jsonOf<{ runs: { run_id: string }[] }>(await here(["runs", "--json"])).runs[1]!.run_id
    const masks = join(scratch.path, "masks.json")
    const proposed = await here(["replay", source, "--calibrate", "last", "--accept", masks])
    expect(proposed.stdout).toContain("uuid@/messages/")
    expect(proposed.exitCode).toBe(0)
    const other = { SESSION: "99999999-8888-4777-8666-555555555555" }
    expect((await here(["replay", source, "--", ...asking], other)).exitCode).toBe(1)
    const masked = await here(["replay", source, "--masks", masks, "--", ...asking], other)
    expect(masked.stderr).toContain("masks: uuid@/messages/")
    expect(masked.exitCode).toBe(0)
  })

  test("[O-02] options that would do nothing, files that cannot be read, and damaged masks are told in one sentence", async () => {
    const notMasks = join(scratch.path, "not-masks.json")
    writeFileSync(notMasks, "{}")
    const cases: [string[], string[], RegExp][] = [
      [["replay", runId, "--mode", "cached"], [], /--mode is about how a command is answered/],
      [["replay", runId, "--accept", "x.json"], [], /--calibrate/],
      [["replay", runId, "--chunking", "words"], ["true"], /event, recorded, single/],
      [["replay", runId, "--masks", "absent.json"], ["true"], /cannot be read/],
      [["replay", runId, "--masks", notMasks], ["true"], /not-masks\.json/],
      [["replay", "run_nothing"], [], /nothing recorded here/],
      [["replay"], [], /missing required argument/],
    ]
    for (const [args, command, words] of cases) {
      const { stderr, exitCode } = await refusal(args, command)
      expect({ args, exitCode }).toEqual({ args, exitCode: 2 })
      expect(stderr).toMatch(words)
    }
  })
})

describe("orangebox fork", () => {
  test("[P-04] [P-05] --set model changes the calls from the step on, which go to a live server; the rest is served; each step has its mark", async () => {
    const model = await startModel()
    const env = { ANTHROPIC_BASE_URL: model.origin }
    const forked = await here(["fork", runId, "--at", "#3", "--set", "model=claude-y", "--json", "--", ...agent()], env)
    model.close()
    expect(forked.exitCode).toBe(0)
    expect(model.asked()).toBe(1)
    const [first] = recorded.stdout.split("\n")
    expect(forked.stdout).toBe(`${first}\nclaude-y heard why ${first} (1)\n`)
    const document = JSON.parse(forked.stderr.slice(forked.stderr.indexOf("{\n"))) as {
      samples: { run: string; arm: string }[]
    }
    const shown = await here(["show", document.samples[0]!.run])
    expect(shown.stdout).toContain(`fork of ${runId} (what_if)`)
    expect(shown.stdout).toMatch(/#2 .*\[exact\] model claude-x/)
    expect(shown.stdout).toMatch(/#3 .*\[live\] model claude-y/)
    await expectSourceUntouched()
  })

  test("[P-04] without a command the one call is sent again and shown beside the recorded answer, with today's key", async () => {
    const model = await startModel()
    const env = { ANTHROPIC_BASE_URL: model.origin, ANTHROPIC_API_KEY: "test-key" }
    const one = await here(["fork", `${runId}#3`, "--set", "model=claude-y", "--set", "temperature=0"], env)
    expect(one.exitCode).toBe(0)
    expect(model.asked()).toBe(1)
    expect(one.stderr).toMatch(/recorded +"claude-x heard why/)
    expect(one.stderr).toMatch(/\[live\] +"claude-y heard why/)
    expect(one.stderr).toMatch(new RegExp(`orangebox diff ${runId} run_\\w+`))
    model.close()
    await expectSourceUntouched()
  })

  test("[P-03] [P-04] --chain sends every later call as it was recorded, and shows each answer beside the recorded one", async () => {
    const conversation = AGENT.replace("async (content) =>", "async (...turns) =>")
      .replace(
        '[{ role: "user", content }]',
        'turns.map((content, i) => ({ role: i % 2 ? "assistant" : "user", content }))',
      )
      .replace('ask("why " + first)', 'ask("name a colour", first, "why")')
    const model = await startModel()
    const env = { ANTHROPIC_BASE_URL: model.origin, ANTHROPIC_API_KEY: "test-key" }
    const told = await here(["run", "--", process.execPath, "--input-type=module", "-e", conversation], env)
    const source = /show (run_\w+)/.exec(told.stderr)![1]!
    const { stderr, exitCode } = await here(["fork", `${source}#2`, "--set", "model=claude-y", "--chain"], env)
    model.close()
    expect(exitCode).toBe(0)
    expect(model.asked()).toBe(4)
    expect(stderr).toMatch(/#2 recorded +"claude-x heard name a colour/)
    expect(stderr).toMatch(/\[live\] +"claude-y heard name a colour/)
    expect(stderr).toMatch(/#3 recorded +"claude-x heard why/)
    expect(stderr).toMatch(/\[live\] +"claude-y heard why/)
    // With the history of then: what the first call is answered now does not reach the second.
    const request = await here(["step", "last#3", "--body", "request_sent"])
    expect(request.stdout).toContain('"model":"claude-y"')
    expect(request.stdout).toContain("claude-x heard name a colour (1)")
    const refused = await refusal(["fork", `${runId}#2`, "--chain"], agent())
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain("--chain sends recorded calls again")
    await expectSourceUntouched()
  })

  test("[P-04] an invented answer is never shown without its mark", async () => {
    const profile = join(scratch.path, "fault.json")
    const rule = {
      id: "yes",
      select: { kind: "model" },
      op: {
        type: "response.replace",
        response: {
          inline: {
            id: "msg_0",
            type: "message",
            role: "assistant",
            model: "claude-x",
            content: [{ type: "text", text: "because I say so" }],
            stop_reason: "end_turn",
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
      },
    }
    writeFileSync(profile, JSON.stringify({ schema_version: 1, egress: "deny", rules: [rule] }))
    const { stdout, exitCode } = await here(["fork", `${runId}#3`, "--profile", profile, "--", ...agent()])
    expect(exitCode).toBe(0)
    expect(stdout).toContain("because I say so")
    expect((await here(["show", "last"])).stdout).toMatch(/\[simulated\] model .*"because I say so"/)
  })

  test("[P-04] samples and a control arm are compared, and few samples claim nothing", async () => {
    const model = await startModel()
    const env = { ANTHROPIC_BASE_URL: model.origin }
    const args = ["fork", `${runId}#3`, "--set", "model=claude-y", "--samples", "2", "--control"]
    const { stderr, exitCode } = await here([...args, "--", ...agent()], env)
    model.close()
    expect(exitCode).toBe(0)
    expect(model.asked()).toBe(4)
    expect(stderr).toMatch(/inconclusive: 2 of 2 without the change, 2 of 2 with it/)
    expect((await here(["show", "last"])).stdout).toContain("(control)")
  })

  test("[P-04] [P-07] what cannot be forked fails before anything runs", async () => {
    const profile = join(scratch.path, "wrong.json")
    const rule = { id: "calm", select: { kind: "model" }, op: { type: "system.edit", edit: { find: "x", with: "y" } } }
    writeFileSync(profile, JSON.stringify({ schema_version: 1, rules: [rule] }))
    const before = jsonOf<{ total: number }>(await here(["runs", "--json"])).total
    const cases: [string[], RegExp][] = [
      [["fork", runId, "--set", "model=y"], /no step to fork at/],
      [["fork", runId, "--at", "#77"], /there is no step #77/],
      [["fork", runId, "--at", "#3", "--set", "model"], /no name=value/],
      [["fork", runId, "--at", "#3", "--profile", profile], /rule "calm"/],
      [["fork", runId, "--at", "#3", "--profile", profile, "--set", "model=y"], /two ways/],
      [["fork", runId, "--at", "#3", "--post", "model=never"], /kind=mode/],
    ]
    for (const [args, words] of cases) {
      const { stdout, stderr, exitCode } = await refusal(args, agent())
      expect({ args, stdout, exitCode }).toEqual({ args, stdout: "", exitCode: 2 })
      expect(stderr).toMatch(words)
    }
    expect(jsonOf<{ total: number }>(await here(["runs", "--json"])).total).toBe(before)
  })
})
