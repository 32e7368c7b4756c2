import type { Event } from "@orangebox/contract"
import type { RunRow, TraceReader } from "@orangebox/store"

/** What has to be known of a run before its events are read. */
export type RunHead = Pick<RunRow, "runId" | "status" | "writerId" | "events" | "annotations"> & {
  /** Events of it were recorded and cannot be read, so what is read has not the digest of the run. */
  readonly lacksEvents?: true
}

/** What reading one run takes. A store can do it, and so can a file that a run was exported to. */
export interface RunReader
  extends Pick<
    TraceReader,
    | "annotationsOf"
    | "bodyInfo"
    | "eventsOf"
    | "gapsOf"
    | "linksTo"
    | "partialStreamsOf"
    | "readBodies"
    | "readBody"
    | "readPartialStream"
    | "redactionsOf"
    | "resolve"
    | "writers"
  > {
  conflictsOf(runId: string): Promise<readonly { readonly event: Pick<Event, "event_id"> }[]>
  getRun(runId: string): Promise<RunHead | undefined>
  /** How a run in it is addressed, as it is typed, where its id alone would not find it. */
  addressOf?(runId: string): string
  stepsOf(runId: string): Promise<readonly { readonly stepId: string }[]>
}
