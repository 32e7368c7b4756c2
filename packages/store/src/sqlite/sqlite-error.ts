/** The primary result code of a driver's error; undefined for anything else. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff
  // The driver leaves the number out when rows are read with `all`; the words are SQLite's own and stand for one code each.
  return "code" in error && error.code === "ERR_SQLITE_ERROR" ? CODE_OF_WORDS.get(error.message) : undefined
}

export const SQLITE = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const

const CODE_OF_WORDS: ReadonlyMap<string, number> = new Map([
  ["database is locked", SQLITE.busy],
  ["database table is locked", SQLITE.locked],
  ["attempt to write a readonly database", SQLITE.readOnly],
  ["disk I/O error", SQLITE.ioError],
  ["database disk image is malformed", SQLITE.corrupt],
  ["database or disk is full", SQLITE.full],
  ["unable to open database file", SQLITE.cantOpen],
  ["file is not a database", SQLITE.notADatabase],
])

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === SQLITE.busy || code === SQLITE.locked
}

export function isCorrupt(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === SQLITE.corrupt || code === SQLITE.notADatabase
}
