import type { RunRow, TraceReader } from "@orangebox/store"

/** What has to be known of a run before its events are read. */
export type RunHead = Pick<RunRow, "runId" | "status" | "writerId" | "events" | "annotations">

/** What reading one run takes. A store can do it, and so can a file that a run was exported to. */
export interface RunReader
  extends Pick<
    TraceReader,
    | "annotationsOf"
    | "bodyInfo"
    | "conflictsOf"
    | "eventsOf"
    | "gapsOf"
    | "partialStreamsOf"
    | "readBody"
    | "readPartialStream"
    | "redactionsOf"
    | "resolve"
    | "writers"
  > {
  getRun(runId: string): Promise<RunHead | undefined>
  stepsOf(runId: string): Promise<readonly { readonly stepId: string }[]>
}
