/** Every key, once: what it does where. The list under `?` is this table. */
export interface Key {
  readonly keys: readonly string[]
  readonly does: string
  readonly where: "everywhere" | "runs" | "run" | "diff"
}

export const KEYS: readonly Key[] = [
  { keys: ["j", "ArrowDown"], does: "next row", where: "everywhere" },
  { keys: ["k", "ArrowUp"], does: "row before", where: "everywhere" },
  { keys: ["ArrowLeft"], does: "fold, or go to the parent", where: "run" },
  { keys: ["ArrowRight"], does: "unfold", where: "run" },
  { keys: ["]"], does: "next model call", where: "run" },
  { keys: ["["], does: "model call before", where: "run" },
  { keys: ["n"], does: "next finding, find or difference", where: "everywhere" },
  { keys: ["N"], does: "the one before", where: "everywhere" },
  { keys: ["Enter"], does: "open; into the detail", where: "everywhere" },
  { keys: ["Escape"], does: "back out", where: "everywhere" },
  { keys: ["1", "2", "3", "4", "5", "6", "7"], does: "tabs of the detail", where: "run" },
  { keys: ["/"], does: "find", where: "everywhere" },
  { keys: ["s"], does: "strata: open, as a table, closed", where: "run" },
  { keys: ["f"], does: "what is broken (diagnosis)", where: "run" },
  { keys: ["v"], does: "steps, or decisions and report", where: "run" },
  { keys: ["r"], does: "replay or fork: the command", where: "run" },
  { keys: ["y"], does: "copy for an agent", where: "run" },
  { keys: ["w"], does: "why is this piece here?", where: "run" },
  { keys: ["L"], does: "follow the end of a running run", where: "run" },
  { keys: ["x"], does: "mark a run", where: "runs" },
  { keys: ["d"], does: "diff: the two marked runs, or this one with …", where: "everywhere" },
  { keys: ["o"], does: "go to the root", where: "diff" },
  { keys: ["c"], does: "copy a link to what is on screen", where: "everywhere" },
  { keys: ["u"], does: "up: the list of runs", where: "everywhere" },
  { keys: ["t"], does: "dark or light", where: "everywhere" },
  { keys: ["?"], does: "these keys", where: "everywhere" },
]

/** What a key press is, by the names above, or null where it belongs to somebody else: a field, a menu, the browser. */
export function keyOf(
  event: {
    readonly key: string
    readonly ctrlKey: boolean
    readonly metaKey: boolean
    readonly altKey: boolean
    readonly isComposing: boolean
  },
  isTyping: boolean,
  areLettersOff: boolean,
): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null
  if (isTyping && event.key !== "Escape") return null
  if (areLettersOff && event.key.length === 1 && event.key !== "?") return null
  return KEYS.some(({ keys }) => keys.includes(event.key)) ? event.key : null
}
