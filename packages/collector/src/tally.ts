/** What came into the store, added up over commits. */
export interface Tally {
  commits: number
  events: number
  duplicates: number
  conflicts: number
  buried: number
  newBodies: number
  newBodyBytes: number
  gaps: number
  problems: number
}

export const emptyTally = (): Tally => ({
  commits: 0,
  events: 0,
  duplicates: 0,
  conflicts: 0,
  buried: 0,
  newBodies: 0,
  newBodyBytes: 0,
  gaps: 0,
  problems: 0,
})
