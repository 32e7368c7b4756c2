import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { planVariables, startProxy, type VariablePlan, variablesFor } from "@orangebox/proxy"
import { keepRun, loadSource, type ReplaySource, refuseForeignSecrets } from "@orangebox/reader"
import { Recorder, type Run, type Scope } from "@orangebox/recorder"
import { replayRecorder, selfRecordedRuns } from "@orangebox/replay"
import { TapeDivergence } from "./tape-divergence.js"

/** What an agent under test is given instead of the world. */
export interface Taped {
  /** In the place of the recorder that the agent opens for itself. */
  readonly recorder: Scope & Pick<Recorder, "fetch">
  /** Base URLs of model providers (`ANTHROPIC_BASE_URL` and the others), for a client, or for a process that the test starts. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Runs an agent against a recorded run: models are answered from the file, and so are tools and retrievers that the agent calls through
 * the recorder. Nothing is connected to. A question that was not recorded, or one that is not asked any more, fails the test.
 *
 * With `ORANGEBOX_UPDATE_TAPES=1` the agent is recorded anew against the real servers, and the file is replaced.
 *
 * ```ts
 * test("fixes the date test as it did", () =>
 *   withTape("test/fixtures/fix-date.obxrun", async ({ env }) => {
 *     const client = new Anthropic({ baseURL: env.ANTHROPIC_BASE_URL, apiKey: "none" })
 *     expect(await fixDateTest(client)).toBe("fixed")
 *   }))
 * ```
 */
export async function withTape<T>(file: string | URL, agent: (taped: Taped) => Promise<T> | T): Promise<T> {
  const path = typeof file === "string" ? file : fileURLToPath(file)
  const folder = mkdtempSync(join(tmpdir(), "orangebox-tape-"))
  try {
    // Nobody's data folder is touched: the run of a test is gone with it.
    const source = await loadSource({ data: folder }, path)
    const isUpdate = !["", "0", undefined].includes(process.env["ORANGEBOX_UPDATE_TAPES"])
    return await (isUpdate ? recordAnew(path, folder, source, agent) : replayed(path, folder, source, agent))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether the agent tells of itself, so that its run is the one on the tape; else a run is opened around what it asks. */
const isSelfRecorded = ({ tape, recording }: ReplaySource): boolean =>
  selfRecordedRuns(recording.events).has(tape.runId)

async function replayed<T>(
  path: string,
  folder: string,
  source: ReplaySource,
  agent: (taped: Taped) => Promise<T> | T,
): Promise<T> {
  refuseForeignSecrets(source)
  const { tape, recording, maskKey, run: recorded } = source
  const isOwn = isSelfRecorded(source)
  const replay = replayRecorder(tape, {
    app: recorded.view.app ?? "test",
    folder,
    // What is asked now is masked as the recording was.
    ...(maskKey?.bytes === undefined ? {} : { key: maskKey.bytes }),
    covers: isOwn ? ["model", "tool", "retriever", "http"] : ["model", "http"],
    onWarning: () => {},
  })
  const run = isOwn ? undefined : replay.recorder.startRun(openingOf(source))
  const plan = planVariables({})
  const proxy = await startProxy({ recorder: replay.recorder, ...(run ? { run } : {}), ...serversOf(plan), replay })
  const env = variablesFor(plan, { ...proxy, folder: undefined }, {})
  const result = await settle(() => agent({ recorder: replay, env }), run)
  await proxy.close()
  const { report } = replay.certify(recording)
  replay.close()
  if (report.divergences.some(({ severity }) => severity !== "note")) {
    throw new TapeDivergence(basename(path), report, "error" in result ? result.error : undefined)
  }
  if ("error" in result) throw result.error
  return result.value
}

async function recordAnew<T>(
  path: string,
  folder: string,
  source: ReplaySource,
  agent: (taped: Taped) => Promise<T> | T,
): Promise<T> {
  const recorder = Recorder.open({ app: source.run.view.app ?? "test", folder, onWarning: () => {} })
  const run = isSelfRecorded(source) ? undefined : recorder.startRun(openingOf(source))
  const plan = planVariables(process.env)
  const proxy = await startProxy({ recorder, ...(run ? { run } : {}), ...serversOf(plan) })
  const env = variablesFor(plan, { ...proxy, folder: undefined }, process.env)
  const result = await settle(() => agent({ recorder, env }), run)
  await proxy.close()
  recorder.close()
  if ("error" in result) throw result.error
  const { pieces } = await keepRun({ data: folder }, "last", source.maskKey?.bytes !== undefined)
  const unfinished = `${path}.${process.pid}.part`
  writeFileSync(unfinished, Buffer.concat([...pieces]))
  renameSync(unfinished, path)
  return result.value
}

const serversOf = ({ upstreams, versioned }: VariablePlan) => ({ upstreams, versioned })

const openingOf = ({ run: { view } }: ReplaySource) => ({
  entrypoint: view.entrypoint ?? "test",
  input: view.input ?? "",
})

type Settled<T> = { readonly value: T } | { readonly error: unknown }

/** What became of the agent, with its run ended as it ended. */
async function settle<T>(agent: () => Promise<T> | T, run: Run | undefined): Promise<Settled<T>> {
  try {
    const value = await agent()
    run?.complete()
    return { value }
  } catch (error) {
    run?.fail(error)
    return { error }
  }
}
