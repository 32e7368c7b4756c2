import { advice, InputError, MASK_MIDDLE, suggested } from "@orangebox/contract"
import { DIALECTS, isProviderSecret, type ProviderAccess } from "@orangebox/dialects"
import { planVariables, type RecordingProxy, startProxy } from "@orangebox/proxy"
import type { StepView } from "@orangebox/query"
import { loadRun, outcomeOf, type ReplaySource } from "@orangebox/reader"
import { asRecorded, type Fork, type HeaderPairs, replayRecorder, type Tape, type TapeCall } from "@orangebox/replay"
import { recordedText } from "@orangebox/text"
import { withReader, withReading } from "../reading.js"
import type { Session } from "../session.js"
import type { AgainstTape } from "./against-tape.js"
import type { Sample } from "./format-fork.js"

export interface Reissue extends AgainstTape {
  readonly session: Session
  readonly source: ReplaySource
  readonly fork: Fork
  readonly reason: "what_if" | "control"
  /** Every later call of a model as well, each as it was recorded: with the history and the tool results of then. */
  readonly isChain: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Forks without the agent: the recorded requests up to the forked one are sent again through a proxy that answers from the tape, so the
 * prefix is checked as it is with an agent, and the result is an ordinary run. The first free request is the only one that leaves; as a
 * chain, so do the requests behind it.
 */
export async function reissue(options: Reissue): Promise<Omit<Sample, "arm">> {
  const { tape, fork, source } = options
  const plan = planVariables(options.env, options.variables, options.upstreams)
  const sendable = sendableCalls(tape)
  const targets = forkedCalls(sendable, fork).slice(0, options.isChain ? undefined : 1)
  const [first] = targets
  const calls = [...sendable.filter((call) => call.openedAt < first!.openedAt && !fork.isCut(call.stepId)), ...targets]
  const sends = calls.map((call) => requestOf(call, tape, plan.upstreams, options.env))
  const replay = replayRecorder(tape, {
    ...options.recorder,
    app: source.run.view.app ?? tape.entrypoint,
    folder: options.folder,
    covers: ["model", "http"],
    policy: { reason: options.reason },
    fork,
    onWarning: ({ message }) => options.onWarning(message),
  })
  const run = replay.recorder.startRun({ entrypoint: tape.entrypoint })
  const proxy = await startProxy({
    recorder: replay.recorder,
    run,
    upstreams: plan.upstreams,
    replay,
    onWarning: ({ message }) => options.onWarning(message),
  })
  try {
    for (const send of sends) await sendThrough(proxy, send)
  } finally {
    await proxy.close()
    run.complete()
  }
  const { report } = replay.certify(options.recording)
  replay.close()
  const outcome = await showAnswers(options, targets, run.runId)
  const found = await withReader(options.session, { data: options.folder }, (reader) =>
    outcomeOf(reader, run.runId, null),
  )
  const { isForkReached } = replay.session.state
  return {
    runId: run.runId,
    command: undefined,
    outcome,
    ...found,
    isReached: isForkReached,
    report: onlyAsked(report, calls),
    workspace: null,
  }
}

/** What was not sent again was not meant to be asked. */
function onlyAsked(report: Sample["report"], calls: readonly TapeCall[]): Sample["report"] {
  const meant = new Set(calls.map(({ stepId }) => stepId))
  const divergences = report.divergences.filter(({ code, step }) => code !== "REQ_MISSING" || meant.has(step ?? ""))
  const unconsumed = divergences.filter(({ code }) => code === "REQ_MISSING").length
  return { ...report, counts: { ...report.counts, unconsumed }, divergences }
}

/** What went over HTTP and can go again. A call that was tried several times is sent as its tries. */
function sendableCalls(tape: Tape): readonly TapeCall[] {
  const sendable = tape.calls.filter(
    ({ isInferred, request }) =>
      !isInferred && request.method !== null && request.url !== null && request.body !== null,
  )
  const tried = new Set(sendable.map(({ attemptOf }) => attemptOf))
  return sendable.filter(({ stepId }) => !tried.has(stepId))
}

/** The calls of models behind the fork, each once however often it was tried. */
function forkedCalls(sendable: readonly TapeCall[], fork: Fork): readonly TapeCall[] {
  const seen = new Set<string>()
  const found = sendable.filter(({ kind, stepId, attemptOf }) => {
    const call = attemptOf ?? stepId
    if (kind !== "model" || !fork.isCut(stepId) || seen.has(call)) return false
    seen.add(call)
    return true
  })
  if (found.length > 0) return found
  throw new InputError("FORK_NEEDS_COMMAND", {
    what: "no model call that went over HTTP builds on this step, so there is nothing to send again",
    where: fork.call.stepId,
    next: advice`Start the agent again: ${suggested("fork", "… -- command")}`,
  })
}

interface Send {
  readonly upstream: string
  readonly path: string
  readonly init: RequestInit
}

function requestOf(call: TapeCall, tape: Tape, upstreams: Readonly<Record<string, string>>, env: Reissue["env"]): Send {
  const { request } = asRecorded(call, tape)
  const url = new URL(call.request.url!, "http://recorded.invalid")
  const names = Object.keys(upstreams)
  const upstream =
    names.find((name) => name === call.provider || name === accessTo(call.provider)?.name) ??
    names.find((name) => upstreams[name] === url.origin)
  if (request === undefined || upstream === undefined) {
    throw new InputError("FORK_NEEDS_COMMAND", {
      what:
        request === undefined
          ? `the request of ${call.stepId} is not there to be sent again`
          : `nobody says where requests for ${call.provider ?? url.origin} go`,
      next: advice`Start the agent again: ${suggested("fork", "… -- command")}; or name the server: --variable NAME=${url.origin}`,
    })
  }
  const headers = headersToSend(call.request.headers ?? [], call.provider, env)
  return {
    upstream,
    path: `${url.pathname}${queryToSend(url.search)}`,
    init: { method: call.request.method!, headers, body: Buffer.from(request.body) },
  }
}

const OF_THE_CONNECTION = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
])

/** Auth comes from the environment of today, never from the recording; what is masked there (a session, a key) is no value. */
function headersToSend(recorded: HeaderPairs, provider: string | null, env: Reissue["env"]): [string, string][] {
  const kept = recorded
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name, value]) => !OF_THE_CONNECTION.has(name) && !isProviderSecret(name) && !value.includes(MASK_MIDDLE))
  return [...kept, ...(accessTo(provider)?.keyHeaders(env) ?? [])]
}

function queryToSend(search: string): string {
  const kept = search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "" && !pair.includes(MASK_IN_URL))
  return kept.length === 0 ? "" : `?${kept.join("&")}`
}

const MASK_IN_URL = encodeURIComponent(MASK_MIDDLE)

/** A key leaves only for the provider it is of; a server that no dialect knows gets none. */
const accessTo = (provider: string | null): ProviderAccess | undefined =>
  DIALECTS.find((dialect) => dialect.provider === provider)?.access

/** What came of it is in the recording: an answer may break off, because a rule says so or because the server did. */
async function sendThrough(proxy: RecordingProxy, { upstream, path, init }: Send): Promise<void> {
  await fetch(`${proxy.urlFor(upstream)}${path}`, init)
    .then((response) => response.arrayBuffer())
    .catch(() => undefined)
}

/** Both answers of every call as every reader shows them, read back from what was recorded. Returns the new ones. */
async function showAnswers(
  { session, source, folder }: Reissue,
  targets: readonly TapeCall[],
  runId: string,
): Promise<string> {
  const steps = await withReading(session, { data: folder }, async ({ store }) => {
    const run = await loadRun(store, runId)
    return run?.view.steps ?? []
  })
  const answers = targets.map(({ stepId, attemptOf }) => {
    const before = source.run.view.steps.find(({ id }) => id === (attemptOf ?? stepId))
    const now = steps.find(({ kind, opened }) => kind === "model" && opened?.replay?.source_step_id === stepId)
    const place = targets.length === 1 ? "" : `#${before?.n ?? "?"} `
    const mark = `[${now?.mode ?? "no answer"}]`
    const width = Math.max(mark.length, "recorded".length)
    session.terminal.sayPainted(
      `${place}${"recorded".padEnd(width)}  ${answerWords(before)}\n${" ".repeat(place.length)}${mark.padEnd(width)}  ${answerWords(now)}`,
    )
    return now?.model?.outputSummary ?? "no answer"
  })
  return answers.join("\n")
}

const answerWords = (step: StepView | undefined): string =>
  step?.model?.outputSummary === undefined ? "no answer" : recordedText(step.model.outputSummary, 2000)
