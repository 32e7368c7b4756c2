/** What the command and the process that runs the query say to each other: one JSON document each way. */
export interface SqlQuestion {
  readonly storeFolder: string
  readonly sql: string
  readonly maxRows: number
}

export type SqlValue = string | number | null

export type SqlAnswer =
  | {
      readonly columns: readonly string[]
      readonly rows: readonly (readonly SqlValue[])[]
      /** More rows were there than were asked for. */
      readonly isCut: boolean
    }
  | { readonly error: { readonly code: "SQL_INVALID" | "SQL_REFUSED" | "STORE"; readonly what: string } }
