// What stats cost over a million steps, and whether one run is read as fast beside millions of events as beside a hundred thousand.
// `npm run bench -- stats` fills 2.5 million events once, in bench/.stores; `--events 10000000` takes ten.
import { skeletonText } from "@orangebox/query"
import { diagnoseRun, loadCostBenefit, loadOverview, loadRun, loadStats } from "@orangebox/reader"
import { filledStore } from "./filled-store.mjs"
import { median, row } from "./measure.mjs"

export const title = "Stats, and one run in a large store"

const SMALL = 100_000

export async function run() {
  const largest = Number(process.argv[process.argv.indexOf("--events") + 1]) || 2_500_000
  const small = await filledStore(SMALL)
  const large = await filledStore(largest)
  const count = (value) => value.toLocaleString("en")
  const rows = [
    row(
      `${count(large.status.events)} events, ${count(large.status.steps)} steps, ${count(large.runs)} runs (${Math.round(large.status.databaseBytes / 1e6)} MB)`,
      "",
    ),
  ]
  const mixed = await filledStore(largest, { mixedDays: 60 })
  for (const [where, store] of [
    ["", large.store],
    [", runs of 60 days mixed", mixed.store],
  ]) {
    for (const [what, ask] of [
      ["overview", () => loadOverview(store, {})],
      ["by version", () => loadStats(store, "version", {})],
      [
        "of seven days, by tool",
        () => loadStats(store, "tool", { since: Date.UTC(2026, 0, 5), until: Date.UTC(2026, 0, 12) }),
      ],
      ["by contributor", () => loadCostBenefit(store, {})],
    ]) {
      const took = await medianOf(Array.from({ length: 7 }), ask)
      rows.push(row(`  stats${where}, ${what}`, ms(took), "< 1 s", took < 1000))
    }
  }
  for (const [what, ask] of [
    ["show", async (store, id) => skeletonText((await loadRun(store, id)).view)],
    ["diagnose", async (store, id) => diagnoseRun(store, store, await loadRun(store, id))],
  ]) {
    const [few, many] = [
      await medianOf(small.ids, (id) => ask(small.store, id)),
      await medianOf(large.ids, (id) => ask(large.store, id)),
    ]
    const again = await medianOf(small.ids, (id) => ask(small.store, id))
    const base = Math.max(few, again)
    const bound = many / base <= 1.5
    rows.push(
      row(
        `  ${what} one run, beside ${count(SMALL)} events : beside all`,
        `${ms(base)} : ${ms(many)} = ${(many / base).toFixed(2)} ×`,
        "≤ 1.5 ×",
        bound,
      ),
    )
  }
  await small.store.close()
  await large.store.close()
  await mixed.store.close()
  return rows
}

async function medianOf(inputs, work) {
  for (const input of inputs.slice(0, 3)) await work(input)
  const times = []
  for (const input of inputs) {
    const start = performance.now()
    await work(input)
    times.push(performance.now() - start)
  }
  return median(times)
}

const ms = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
