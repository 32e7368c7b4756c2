// Contenders take turns in short rounds, so that a slow moment of the machine hits all of them; the median round counts.
export async function compare(contenders, { rounds = 15, iterations = 2_000 } = {}) {
  const times = new Map(Object.keys(contenders).map((name) => [name, []]))
  for (let round = -3; round < rounds; round++) {
    for (const [name, work] of Object.entries(contenders)) {
      const start = process.hrtime.bigint()
      for (let i = 0; i < iterations; i++) work(i)
      const nanos = Number(process.hrtime.bigint() - start) / iterations
      if (round >= 0) times.get(name).push(nanos)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return Object.fromEntries([...times].map(([name, list]) => [name, median(list)]))
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

export const micros = (nanos) => `${(nanos / 1000).toFixed(nanos < 10_000 ? 2 : 1)} µs`
export const times = (ratio) => `${ratio.toFixed(2)} ×`

/** One row of a scenario: what was measured, and the bound it is held to where there is one. */
export const row = (what, value, bound, holds) => ({ what, value, bound: bound ?? "", holds })
