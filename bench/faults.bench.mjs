// Faults laid into recorded runs, and whether `diagnose` finds them; and runs without any, and whether it keeps quiet.
import { isKept, runCleanTwins, runFaults, runPairs } from "./faults/run-faults.mjs"
import { row } from "./measure.mjs"

export const title = "Faults that are laid and found"

const SEEDS = [17, 18]
const SHAPES = 6

export async function run() {
  const faults = []
  const clean = []
  const pairs = []
  for (const seed of SEEDS) {
    faults.push(...(await runFaults({ seed, shapesEach: SHAPES })))
    clean.push(...(await runCleanTwins({ seed, shapesEach: SHAPES })))
    pairs.push(...(await runPairs({ seed, shapesEach: SHAPES })))
  }
  const seen = faults.filter(({ isSeen }) => isSeen)
  for (const fault of seen)
    if (!isKept(fault))
      console.log(`  missed: ${fault.name} ${fault.kind ?? ""} in ${fault.shape}: ${fault.told.join(", ")}`)
  for (const twin of clean)
    if (twin.bad.length > 0) console.log(`  said of ${twin.name} in ${twin.shape}: ${twin.bad.join(", ")}`)
  const five = seen.filter(({ isOfFive, name }) => isOfFive && name !== "cache_bust")
  const cache = seen.filter(({ name }) => name === "cache_bust")
  const segments = cache.filter(({ hasSegment }) => hasSegment)
  const proven = seen.filter(({ confidence, isOfFive }) => confidence === "proven" && !isOfFive)
  const likely = seen.filter(({ confidence }) => confidence === "likely")
  const most = Math.max(...faults.map(({ tokens }) => tokens))
  const alarms = clean.filter(({ bad }) => bad.length > 0)
  const dead = faults.flatMap(({ deadPointers }) => deadPointers)
  return [
    share("crash, corrupted history, double delivery, misroute: cause at rank 1", five, isKept, 1),
    share("a broken cache: the class", cache, isKept, 0.95),
    share("a broken cache: the segment that changed first", segments, ({ isSegment }) => isSegment, 1),
    share("other faults that facts prove: the cause", proven, isKept, 0.98),
    share("faults that are likely: the cause", likely, isKept, 0.9),
    share("two faults in one run: both, the fatal one first", pairs, ({ isBoth, isInOrder }) => isBoth && isInOrder, 1),
    row("faults that the capture mode hides", `${faults.length - seen.length} of ${faults.length}`),
    row(
      "runs without a fault: fatal or harm said",
      `${alarms.length} of ${clean.length}`,
      "≤ 1 %",
      alarms.length <= clean.length / 100,
    ),
    row(
      "… of those, one of the five",
      `${clean.filter(({ isOfFive }) => isOfFive).length}`,
      "0",
      clean.every(({ isOfFive }) => !isOfFive),
    ),
    row("pointers that do not open", `${dead.length}`, "0", dead.length === 0),
    row("from id to bytes, the most tokens (o200k_base)", `${most}`, "≤ 2,000", most <= 2000),
  ]
}

function share(what, list, isGood, bound) {
  const good = list.filter(isGood).length
  const part = list.length === 0 ? 0 : good / list.length
  return row(what, `${good} of ${list.length}`, `≥ ${Math.round(bound * 100)} %`, part >= bound)
}
