import { type Diagnosis, diagnosisText, skeletonText } from "@orangebox/query"
import { diagnoseRun, type LoadedRun, loadRun } from "@orangebox/reader"
import type { TraceReader } from "@orangebox/store"
import { formatBytes, snakeJson } from "@orangebox/text"
import { pasteable, shellWord } from "../next-command.js"
import type { Terminal } from "../terminal.js"
import type { PlayedDemo } from "./play-demo.js"

/** What the store says about the runs, next to what the stage knows of them. Nothing here is taken from the script. */
export interface DemoReport {
  readonly finished: LoadedRun
  readonly killed: LoadedRun
  readonly clocked: LoadedRun
  /** What is broken in the killed run, and in the one with the clock. */
  readonly diagnoses: { readonly killed: Diagnosis; readonly clocked: Diagnosis }
  readonly crash: {
    /** Number of the step that was under way. */
    readonly n: number | undefined
    readonly pid: number | undefined
    readonly acknowledgedBytes: number
    readonly storedBytes: number
  }
  readonly testExitCodes: readonly number[]
  readonly lost: number
}

export async function readDemo(store: TraceReader, played: PlayedDemo): Promise<DemoReport> {
  const finished = await loadRun(store, played.finished.runId)
  const killed = await loadRun(store, played.killed.runId)
  const clocked = await loadRun(store, played.clocked.runId)
  if (!finished || !killed || !clocked) throw new Error("the demo's runs are not in the store")
  const { crash } = killed.view
  const step = crash?.step === undefined ? undefined : killed.view.steps[crash.step - 1]
  return {
    finished,
    killed,
    clocked,
    diagnoses: {
      killed: await diagnoseRun(store, store, killed),
      clocked: await diagnoseRun(store, store, clocked),
    },
    crash: {
      n: crash?.step,
      pid: crash?.pid,
      acknowledgedBytes: played.killed.acknowledgedBytes,
      storedBytes: step?.partials.reduce((sum, { byteSize }) => sum + byteSize, 0) ?? 0,
    },
    testExitCodes: exitCodes(finished),
    lost:
      finished.view.totals.lost +
      killed.view.totals.lost +
      clocked.view.totals.lost +
      played.finished.dropped +
      played.clocked.dropped,
  }
}

function exitCodes({ events }: LoadedRun): number[] {
  return events.flatMap((event) =>
    event.event_type === "tool_result" && event.payload.exit_code !== undefined ? [event.payload.exit_code] : [],
  )
}

export function demoText(report: DemoReport, terminal: Terminal, command: string, folder: string): string {
  const { finished, killed, clocked } = report
  const skeleton = ({ view, row }: LoadedRun): string =>
    skeletonText(view, {
      budget: DEMO_BUDGET,
      address: pasteable({ data: folder }, row.runId),
      color: terminal.paint,
      ...(terminal.columns ? { width: terminal.columns } : {}),
    })
  const diagnosed = ({ view, row }: LoadedRun, diagnosis: Diagnosis): string =>
    diagnosisText(view, diagnosis, {
      address: pasteable({ data: folder }, row.runId),
      color: terminal.paint,
      budget: 400,
    })
  return [
    skeleton(finished),
    "",
    skeleton(killed),
    "",
    crashText(report),
    `Tests ended with exit code ${report.testExitCodes.join(", then ")}. Records lost: ${report.lost}.`,
    "",
    "What is broken in the killed run:",
    diagnosed(killed, report.diagnoses.killed),
    "",
    "And in the first one, which wrote the time into its system prompt:",
    diagnosed(clocked, report.diagnoses.clocked),
    "",
    `All of it is in ${folder}. Look around:`,
    `  # in the browser: what the model saw, call by call\n  ${command} ui ${finished.row.runId} --data ${shellWord(folder)}`,
    ...nextSteps(report).map(([args, meaning]) => `  # ${meaning}\n  ${command} ${args} --data ${shellWord(folder)}`),
    `  # forget it all\n  rm -r ${shellWord(folder)}`,
  ].join("\n")
}

/** Enough for every line of both runs. */
const DEMO_BUDGET = 4000

function crashText({ crash }: DemoReport): string {
  const { pid, n, acknowledgedBytes, storedBytes } = crash
  const told = `Process ${pid ?? "?"} was killed in step #${n ?? "?"}. The recorder had acknowledged ${formatBytes(acknowledgedBytes)} of the answer`
  return acknowledgedBytes === storedBytes
    ? `${told} before that; all ${storedBytes} bytes are in the store.`
    : `${told} (${acknowledgedBytes} bytes), the store has ${storedBytes}.`
}

function nextSteps({ finished, killed, clocked, crash }: DemoReport): (readonly [args: string, meaning: string])[] {
  const firstCall = finished.view.steps.find((step) => step.kind === "model")
  const failedTest = finished.view.steps.find((step) => step.kind === "tool" && step.error !== undefined)
  return [
    ...(firstCall
      ? [
          [
            `context ${finished.row.runId}#${firstCall.n}`,
            "what the model saw, and the note that was left out and why",
          ] as const,
        ]
      : []),
    ...(failedTest
      ? [[`step ${finished.row.runId}#${failedTest.n}`, "the test run that failed, with its output"] as const]
      : []),
    ...(crash.n === undefined
      ? []
      : [[`step ${killed.row.runId}#${crash.n} --body response`, "the answer as far as it came"] as const]),
    [`diagnose ${killed.row.runId}`, "what ended it, with the evidence"],
    [`cache ${clocked.row.runId}`, "what the cache could have served, and the bytes that broke it"],
    [`report ${finished.row.runId}`, "what it did, and the two rules it broke on the way"],
    ["search centuries", "who mentioned centuries, and where"],
    [`sql "SELECT name, count(*) FROM tool_calls GROUP BY name"`, "the same records as tables"],
    [`verify ${finished.row.runId} --digest ${finished.digest}`, "nothing was changed since"],
  ]
}

export function demoJson(report: DemoReport, folder: string) {
  const { finished, killed, clocked, diagnoses, crash, testExitCodes, lost } = report
  const topOf = ({ findings: [top] }: Diagnosis) =>
    top === undefined ? null : { detector: top.detector, kind: top.kind, severity: top.severity, cause_step: top.cause }
  const runJson = ({ row, view, digest }: LoadedRun) => ({
    run_id: row.runId,
    status: row.status,
    steps: view.totals.steps,
    events: row.events,
    digest,
  })
  return {
    data_folder: folder,
    runs: [runJson(finished), runJson(killed)],
    clocked: { ...runJson(clocked), finding: topOf(diagnoses.clocked) },
    crash: { ...snakeJson({ runId: killed.row.runId, ...crash }), finding: topOf(diagnoses.killed) },
    test_exit_codes: testExitCodes,
    lost,
  }
}
