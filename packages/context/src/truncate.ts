import { spacedJson } from "./plain-json.js"
import { type Placed, SECTIONS } from "./sections.js"

export const TRUNCATION_MARKER = "[... truncated to fit token budget ...]"

/**
 * The longest beginning of an item that costs no more than `room`, with the visible mark behind it. Undefined where not even one
 * character fits, or where the item is of a kind that is taken whole or not at all.
 */
export function truncateToFit(
  item: Placed,
  room: number,
  cost: (item: Placed) => number,
): { readonly placed: Placed; readonly cutAt: number } | undefined {
  if (SECTIONS[item.section].share !== "tier1") return undefined
  const text = contentOf(item)
  const fits = (length: number): boolean => cost(shortened(item, text, length)) <= room
  // Doubling first: what is counted then grows with the room, not with the item, which may be a thousand times larger.
  let high = 64
  while (high < text.length && fits(high)) high *= 2
  high = Math.min(high, text.length)
  let low = 0
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low === 0 ? undefined : { placed: shortened(item, text, low), cutAt: low }
}

/** The same cut once more, where the source is at hand and the place of the cut is known. */
export const cutAgain = (item: Placed, cutAt: number): Placed => shortened(item, contentOf(item), cutAt)

function contentOf(item: Placed): string {
  switch (item.section) {
    case "inputs_summary":
    case "evaluation_summary":
      return typeof item.value.value === "string" ? item.value.value : spacedJson(item.value.value)
    case "inputs":
      return item.value.text
    default:
      return ""
  }
}

function shortened(item: Placed, text: string, length: number): Placed {
  const cut = `${text.slice(0, endOfCharacter(text, length)).trimEnd()} ${TRUNCATION_MARKER}`
  switch (item.section) {
    case "inputs_summary":
    case "evaluation_summary":
      return { section: item.section, value: { key: item.value.key, value: cut } }
    case "inputs":
      return { section: item.section, value: { ...item.value, text: cut } }
    default:
      return item
  }
}

function endOfCharacter(text: string, length: number): number {
  const last = text.charCodeAt(length - 1)
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length
}
