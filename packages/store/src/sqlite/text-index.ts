import { textDigest } from "../indexed-text.js"
import { type Prepared, prepareAll, type SqliteDatabase } from "./driver.js"

const MAX_KNOWN_TEXTS = 65_536
const MAX_SHORT_TEXT = 64

const SQL = {
  find: "SELECT key FROM text_rows WHERE digest = ?",
  add: "INSERT INTO text_rows (digest) VALUES (?)",
  index: "INSERT INTO search_index (rowid, text) VALUES (?, ?)",
  link: "INSERT INTO text_runs (run, class, text, type, event) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
}

/** Where a text stands: in an event of some type, of a run (0 for what was said outside any), or in what the event holds. */
export interface TextPlace {
  readonly run: number
  readonly heldAs: number
  readonly type: number
  readonly event: number
}

/**
 * The full-text index: each distinct piece of text once, as trigrams without positions. That takes about as many bytes as the text,
 * a third of an index with positions; in return a query's candidates are read and checked before they are called hits.
 */
export class TextIndex {
  readonly #known = new Map<string, number>()
  readonly #sql: Prepared<typeof SQL>

  constructor(database: SqliteDatabase) {
    this.#sql = prepareAll(database, SQL)
  }

  /** Makes a text findable at a place. */
  add(text: string, place: TextPlace): void {
    this.link(this.keyOf(text), place)
  }

  link(text: number, { run, heldAs, type, event }: TextPlace): void {
    this.#sql.link.run(run, heldAs, text, type, event)
  }

  reset(): void {
    this.#known.clear()
  }

  /** The number of a text, which is indexed now if it was never seen. */
  keyOf(text: string): number {
    // Names and phrases come again and again; looking one up as it is costs less than hashing it.
    const isShort = text.length <= MAX_SHORT_TEXT
    const digest = isShort && this.#known.has(text) ? undefined : textDigest(text)
    const name = isShort ? text : digest!.toString("latin1")
    const known = this.#known.get(name)
    if (known !== undefined || digest === undefined) return known!
    const found = this.#sql.find.get(digest)
    let key: number
    if (found !== undefined) key = Number(found["key"])
    else {
      key = Number(this.#sql.add.run(digest).lastInsertRowid)
      // Two spaces behind the text make its last one and two characters part of a trigram too.
      this.#sql.index.run(key, `${text}  `)
    }
    if (this.#known.size >= MAX_KNOWN_TEXTS) this.#known.clear()
    this.#known.set(name, key)
    return key
  }
}
