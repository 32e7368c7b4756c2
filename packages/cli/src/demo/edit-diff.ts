export interface EditDiff {
  readonly text: string
  readonly linesAdded: number
  readonly linesRemoved: number
}

const CONTEXT = 3

/** One edit as a unified diff: what is the same before and after it is left out, but for a few lines around. */
export function editDiff(path: string, before: string, after: string): EditDiff {
  const old = before.split("\n")
  const now = after.split("\n")
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1

  const removed = old.slice(head, old.length - tail)
  const added = now.slice(head, now.length - tail)
  const from = Math.max(0, head - CONTEXT)
  const leading = old.slice(from, head)
  const trailing = old.slice(old.length - tail, old.length - tail + CONTEXT)
  const context = leading.length + trailing.length
  const lines = [
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -${from + 1},${context + removed.length} +${from + 1},${context + added.length} @@`,
    ...leading.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...trailing.map((line) => ` ${line}`),
  ]
  return { text: `${lines.join("\n")}\n`, linesAdded: added.length, linesRemoved: removed.length }
}
