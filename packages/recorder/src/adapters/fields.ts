/** What a framework hands to its listeners, of which only some fields are known. */
export type Fields = Readonly<Record<string, unknown>>

/** The fields of a value; none where it has none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {}
