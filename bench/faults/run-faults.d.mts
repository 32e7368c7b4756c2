export interface Plan {
  readonly seed: number
  readonly shapesEach: number
  readonly only?: readonly string[]
}
export interface JudgedFault {
  readonly name: string
  readonly shape: string
  readonly runId: string
  readonly kind: string | null
  readonly confidence: "proven" | "likely"
  readonly isOfFive: boolean
  readonly isSeen: boolean
  readonly isFound: boolean
  readonly isKind: boolean
  readonly isSegment: boolean
  readonly hasSegment: boolean
  readonly isBy: boolean
  readonly rank: number | null
  readonly told: readonly string[]
  readonly deadPointers: readonly string[]
  readonly tokens: number
}
export function runFaults(plan: Plan): Promise<readonly JudgedFault[]>
export function isKept(fault: JudgedFault): boolean
export function runCleanTwins(plan: Plan): Promise<
  readonly {
    readonly name: string
    readonly shape: string
    readonly runId: string
    readonly suspects: number
    readonly bad: readonly string[]
    readonly isOfFive: boolean
  }[]
>
export function runPairs(plan: Plan): Promise<
  readonly {
    readonly shape: string
    readonly detectors: readonly string[]
    readonly told: readonly string[]
    readonly isBoth: boolean
    readonly isInOrder: boolean
  }[]
>
/** The detectors that have to find the faults of the table. */
export const DETECTORS_TRIED: ReadonlySet<string>
