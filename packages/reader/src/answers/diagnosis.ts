import { given } from "@orangebox/contract"
import {
  type DiagnosedThread,
  type Diagnosis,
  diagnosisJson,
  diagnosisText,
  MIN_DIAGNOSIS_BUDGET,
  threadDiagnosisJson,
  threadDiagnosisText,
} from "@orangebox/query"
import type { Target } from "@orangebox/store"
import { shellWord } from "@orangebox/text"
import { findTarget, runOf } from "../address/find-target.js"
import { type DiagnosisAsked, diagnoseRun, runsTogether } from "../diagnosis/diagnose-run.js"
import { checkSource } from "../diagnosis/load-sources.js"
import type { LoadedRun } from "../run/load-run.js"
import { runsInside } from "../run/run-tree.js"
import type { Answer, Shown } from "./answer.js"
import { inFolder, type PlacedReading } from "./placed.js"

/** What is broken in a run with the runs inside it, or in all runs that an id stands in. */
export async function answerDiagnosis(
  reading: PlacedReading,
  asked: Omit<DiagnosisAsked, "data" | "at">,
  shown: Shown,
): Promise<Answer> {
  const { reader, store, data, freshness } = reading
  const target = await findTarget(reader, reading.address)
  const thread = await threadOf(reading, target, asked)
  if (thread) {
    const seen = { ...shown, address: inFolder(data, shellWord(reading.address)) }
    return {
      text: () => threadDiagnosisText(thread, seen),
      json: () => ({ ...threadDiagnosisJson(thread, seen), ...freshness }),
      isBad: areBad(thread.runs.map(({ diagnosis }) => diagnosis)),
    }
  }
  const run = await runOf(reader, target)
  const inside = await runsInside(reading, run)
  if (asked.source !== undefined) await checkSource(store, [run, ...inside], asked.source)
  const at = run.view.steps.find(({ id, n }) => n > 1 && id === target.stepId)?.n
  const of = (one: LoadedRun, more: object = {}): Promise<Diagnosis> =>
    diagnoseRun(reader, store, one, { ...asked, data, ...more })
  const diagnosed: Diagnosed[] = [
    { run, diagnosis: await of(run, given({ at })), address: reading.place(run.row.runId) },
  ]
  // What a command records itself is part of it, and most of what can be wrong with it is there.
  for (const one of inside)
    diagnosed.push({ run: one, diagnosis: await of(one), address: reading.placeOfOther(one.row.runId) })
  return {
    text: () => diagnosedText(diagnosed, shown),
    json: () => ({ ...diagnosedJson(diagnosed, shown), ...freshness }),
    isBad: areBad(diagnosed.map(({ diagnosis }) => diagnosis)),
  }
}

/** The runs of an id that stands in several, each diagnosed. */
async function threadOf(
  { store, data }: PlacedReading,
  target: Target,
  asked: DiagnosisAsked,
): Promise<DiagnosedThread | undefined> {
  const together = store && (await runsTogether(store, target))
  if (!together) return undefined
  if (asked.source !== undefined) await checkSource(store, together.runs, asked.source)
  const runs: DiagnosedThread["runs"][number][] = []
  for (const run of together.runs) {
    const diagnosis = await diagnoseRun(store, store, run, { ...asked, data })
    runs.push({ view: run.view, diagnosis, address: inFolder(data, run.row.runId) })
  }
  return { kind: target.kind, id: target.id, runs, total: together.total }
}

const areBad = (diagnoses: readonly Diagnosis[]): boolean =>
  diagnoses.some(({ findings }) => findings.some(({ severity }) => severity === "fatal" || severity === "harm"))

/** A run and what is wrong with it: the run that was asked for, or one that was started from inside it. */
interface Diagnosed {
  readonly run: LoadedRun
  readonly diagnosis: Diagnosis
  readonly address: string
}

function diagnosedJson([asked, ...inside]: readonly Diagnosed[], { cursor, ...shown }: Shown): object {
  const jsonOf = ({ run, diagnosis, address }: Diagnosed, more: Shown): object => ({
    run_id: run.row.runId,
    ...diagnosisJson(run.view, diagnosis, { ...shown, ...more, address }),
  })
  return {
    ...jsonOf(asked!, given({ cursor })),
    runs_inside: inside.map((one) => jsonOf(one, {})),
  }
}

/** The run that was asked for, and of those inside it the ones with something to say, all of them within the budget. */
function diagnosedText([asked, ...inside]: readonly Diagnosed[], { cursor, budget, ...shown }: Shown): string {
  const telling = inside.filter(({ diagnosis }) => diagnosis.findings.length > 0 || diagnosis.isUnexplained)
  const room = budget === undefined ? telling.length : Math.floor(budget / MIN_DIAGNOSIS_BUDGET) - 1
  const told = [asked!, ...telling.slice(0, Math.max(0, room))]
  const each = given({ budget: budget === undefined ? undefined : Math.floor(budget / told.length) })
  return told
    .map(({ run, diagnosis, address }) =>
      diagnosisText(run.view, diagnosis, {
        ...shown,
        ...each,
        ...(run === asked!.run ? given({ cursor }) : {}),
        address,
      }),
    )
    .join("\n\n")
}
