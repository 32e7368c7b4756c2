import { asRecord } from "@orangebox/contract"

/** Pointers of the values in which two JSON values differ, the first few of them, and how many there are. */
export function jsonDifference(before: unknown, after: unknown, most: number): { pointers: string[]; count: number } {
  const found = { pointers: [] as string[], count: 0 }
  compare(before, after, "", found, most, 0)
  return found
}

const DEEPEST = 100

function compare(
  before: unknown,
  after: unknown,
  pointer: string,
  found: { pointers: string[]; count: number },
  most: number,
  depth: number,
): void {
  if (before === after) return
  const [old, made] = [entriesOf(before), entriesOf(after)]
  if (!old || !made || Array.isArray(before) !== Array.isArray(after) || depth > DEEPEST) {
    found.count++
    if (found.pointers.length < most) found.pointers.push(pointer === "" ? "/" : pointer)
    return
  }
  for (const key of new Set([...old.keys(), ...made.keys()])) {
    const place = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
    compare(old.get(key), made.get(key), place, found, most, depth + 1)
  }
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item, at) => [String(at), item]))
  const record = asRecord(value)
  return record && new Map(Object.entries(record))
}
