import type { DeterminismMode, Event, Link, Problem } from "@orangebox/contract"
import type { FoldedKind, RunStatus, StepStatus, TokenCounts } from "@orangebox/runs"
import type { PruneReport, RetentionPolicy } from "./retention.js"

/**
 * What every store can do, whichever engine stands behind it. One writer (the collector) commits; any number of readers read.
 * No method hands out a row that is larger than it has to be: lists never touch bodies, and everything long is paged.
 */
export interface TraceStore {
  /** Whether collectors of other machines write to it as well. */
  readonly isShared: boolean

  // Writing

  /**
   * Takes a batch: events, bodies, streams, gaps, writers **and the journal offsets**. When it is acknowledged it is there whole. An embedded store takes it
   * in one transaction; of a cluster a reader may see part of it before that, and never anything twice.
   * Idempotent: an event that is already there is ignored when it says the same, and kept as a conflict when it does not.
   */
  commit(batch: Batch): Promise<CommitSummary>
  /** How far each journal file was read: file name → byte offset behind the last committed line. */
  offsets(): Promise<ReadonlyMap<string, number>>
  /** Forgets what is too old or too much; as a dry run it only says what. */
  prune(policy: RetentionPolicy, options?: { readonly isDryRun?: boolean } & Progress): Promise<PruneReport>
  /** Derives runs, steps, roll-ups and the search index again from the events and bodies. Events never change. */
  rebuild(options?: Progress): Promise<RebuildReport>
  /**
   * Takes text out of everything that is stored (`redact --stored`): bodies become tombstones, events keep what `event` leaves of them, and the search index,
   * runs, steps, roll-ups and whatever else holds the text follow. Nothing of it comes back from an old journal, in a rebuilt store neither.
   */
  redactStored(
    redaction: StoredRedaction,
    options?: { readonly isDryRun?: boolean } & Progress,
  ): Promise<StoredRedactionReport>

  // Processes

  writers(): Promise<readonly WriterRow[]>
  /** The machines that collect into this store; an embedded store has none to tell of. */
  hosts(): Promise<readonly HostRow[]>
  /** Runs of a writer that have no terminal event, and where each of them stands: what a crash is attributed to. */
  openRunsOf(writerId: string): Promise<readonly OpenRun[]>
  /** What a process said outside any run: its start, its end, early log lines. */
  processEventsOf(writerId: string, page?: { from?: number; limit?: number }): Promise<EventPage>

  // Runs

  /** Newest first. */
  listRuns(query?: RunQuery): Promise<Page<RunRow>>
  getRun(runId: string): Promise<RunRow | undefined>
  stepsOf(runId: string): Promise<readonly StepRow[]>
  /** The same as columns and without reading events, from step `from` on: what a long list is painted from. Undefined where there is no such run. */
  stepColumns(
    runId: string,
    page?: { readonly from?: number; readonly limit?: number },
  ): Promise<StepColumns | undefined>
  /** The run's own events in the order of `sequence_no`; `from` is a sequence number, `nextFrom` where the next page begins. */
  eventsOf(runId: string, page?: { from?: number; limit?: number }): Promise<EventPage>
  /** What others said about the run, in the order in which it arrived. */
  annotationsOf(runId: string): Promise<readonly Event[]>
  gapsOf(runId: string): Promise<readonly Gap[]>
  /** Records that carry the id of another record but do not say the same. */
  conflictsOf(runId: string): Promise<readonly Conflict[]>
  partialStreamsOf(runId: string): Promise<readonly PartialStream[]>
  /** Events of the run that say less than when they were recorded. Its digest of before cannot be proven any more. */
  redactionsOf(runId: string): Promise<readonly EventRedaction[]>

  // Ids, bodies, text

  /** A run, step, trace, conversation, message, tool call, provider request, event or body id; whole, a unique prefix, `last`, `last~1`, or `<run>#<n>`. */
  resolve(text: string): Promise<Resolution>
  /** Every step in which an id stands, in order of time, whichever run it is in. */
  occurrencesOf(kind: TargetKind, id: string, page?: { from?: number; limit?: number }): Promise<Page<Occurrence>>
  /** The links of other runs that point at this run or at a step of it, in order of time: the first hundred. */
  linksTo(runId: string): Promise<readonly InboundLink[]>
  bodyInfo(hash: string): Promise<BodyInfo | undefined>
  readBody(hash: string): Promise<BodyReading>
  /** The same for many at once, in their order: cheaper by far where they are small. */
  readBodies(hashes: readonly string[]): Promise<readonly BodyReading[]>
  readBodySlice(hash: string, from: number, to: number): Promise<BodyReading>
  /** The bytes of a streamed body that arrived so far. */
  readPartialStream(streamId: string): Promise<Uint8Array | undefined>
  search(query: SearchQuery): Promise<SearchPage>
  rollups(query: RollupQuery): Promise<readonly RollupRow[]>
  /** What each contributor put into the prompts of model calls. Survives pruning, as roll-ups do. */
  contributors(query: ContributorQuery): Promise<readonly ContributorRollup[]>
  /** How often steps of each kind and name took how long since a day, of one application: the histograms of the roll-ups and nothing else of them. */
  durationCounts(query: { readonly app: string; readonly since: number }): Promise<readonly DurationCounts[]>
  /**
   * The steps that ended, attempts aside, one by one: for what no sum can tell. Only of runs that are here and began in these days; a caller that
   * asks compares with the roll-ups whether that is all.
   */
  stepDurations(query: { readonly since?: number; readonly until?: number }): Promise<readonly StepDuration[]>

  // Keeping house

  /** The engine's own check, and the hashes of all bodies or of a sample. */
  integrity(options?: { bodies?: "all" | "sample" | "none" } & Progress): Promise<readonly Problem[]>
  /** Problems that readers of journals met on the way in. */
  problems(query?: { limit?: number }): Promise<readonly RecordedProblem[]>
  status(): Promise<StoreStatus>
  /** Another number whenever somebody else has written to the store: whoever shows it looks again then. */
  changeCount(): Promise<number>
  close(): Promise<void>
}

/** What can be asked of a store without writing to it. */
export type TraceReader = Omit<TraceStore, "commit" | "prune" | "rebuild" | "redactStored">

/** What recorders with the store's key leave of an id where no content is kept. */
export type IdDigest = (id: string) => string

export interface Progress {
  /** Called now and then during long work; `total` is undefined while it is not known. */
  readonly onProgress?: (done: number, total: number | undefined, what: string) => void
}

// ── Batches ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Batch {
  readonly events?: readonly RecordedEvent[]
  readonly bodies?: readonly RecordedBody[]
  readonly streams?: readonly StreamUpdate[]
  readonly writers?: readonly WriterUpdate[]
  readonly exits?: readonly WriterExit[]
  readonly gaps?: readonly Gap[]
  readonly problems?: readonly RecordedProblem[]
  readonly offsets?: readonly JournalOffset[]
  /** What the collector says of itself; kept where many write to one store. */
  readonly collector?: { readonly behindBytes: number; readonly version?: string }
}

export interface RecordedEvent {
  readonly event: Event
  /** Which process wrote it; null when that is unknown (an import). */
  readonly writerId: string | null
}

export interface RecordedBody {
  readonly hash: string
  readonly bytes: Uint8Array | Iterable<Uint8Array>
  readonly byteSize: number
  readonly mime?: string
}

/**
 * The next pieces of a body that is still being written. With `end`, the pieces become the body of that hash; with `abandoned`, the
 * writer is gone and what came stays readable as a partial body of its step.
 */
export interface StreamUpdate {
  readonly streamId: string
  readonly runId: string | null
  readonly stepId: string | null
  /** What the body is to its step: `response`, `result`, … */
  readonly role: string
  readonly mime?: string
  readonly chunks: readonly StreamChunk[]
  /** So many bytes had come behind the last piece that its writer could not judge yet, and did not write. */
  readonly withheldBytes?: number
  readonly end?: { readonly hash: string; readonly byteSize: number }
  readonly abandoned?: boolean
}

export interface StreamChunk {
  /** Where in the stream the piece begins; one that is already there is ignored. */
  readonly offset: number
  readonly bytes: Uint8Array
  /** Microseconds since the stream began. */
  readonly atMicros: number
}

export type WriterState = "running" | "exited" | "crashed" | "silent"

/** What is known of a process. Absent fields leave what was known before. */
export interface WriterUpdate {
  readonly writerId: string
  /** The journal's `process` line: pid, start time, boot id, app, versions. Kept as it was written. */
  readonly identity?: Readonly<Record<string, unknown>>
  readonly state?: WriterState
  readonly file?: string
  /** How many records came with this batch; added to the total. */
  readonly records?: number
  readonly lastSeenAtMs?: number
}

export interface WriterExit {
  readonly writerId: string
  readonly atMs: number
  readonly exit: Readonly<Record<string, unknown>>
}

export interface WriterRow {
  readonly writerId: string
  readonly identity: Readonly<Record<string, unknown>>
  readonly state: WriterState
  readonly file: string | null
  readonly records: number
  readonly lastSeenAtMs: number | null
  readonly exit: Readonly<Record<string, unknown>> | null
}

/** A collector, as it last told of itself. */
export interface HostRow {
  readonly collectorId: string
  /** The one that asks. */
  readonly isSelf: boolean
  readonly host: string
  /** When it last wrote. */
  readonly lastSeenAtMs: number
  /** Bytes of journal it had not sent by then; null where it did not say. */
  readonly behindBytes: number | null
  readonly version: string | null
  readonly runs: number
  readonly lastRecordAtMs: number | null
}

/** Something that was attempted and is not there, and why. */
export interface Gap {
  readonly code: string
  readonly reason: string
  /** The runs it took records from, where that is known. */
  readonly runIds?: readonly string[]
  readonly writerId?: string
  readonly file?: string
  readonly fromOffset?: number
  readonly toOffset?: number
  /** How many records are missing, where that is known. */
  readonly lost?: number
  readonly atMs?: number
  /** The journal's own gap record, as it was written. */
  readonly detail?: Readonly<Record<string, unknown>>
}

export interface RecordedProblem extends Problem {
  readonly file?: string
  readonly offset?: number
  readonly atMs?: number
}

export interface JournalOffset {
  readonly file: string
  readonly offset: number
}

export interface CommitSummary {
  readonly events: number
  /** Already there, and saying the same. */
  readonly duplicates: number
  /** Known id, other content: kept beside the first. */
  readonly conflicts: number
  /** Belong to a run or body that was pruned or redacted before, so they were not taken again. */
  readonly buried: number
  readonly bodies: number
  readonly newBodies: number
  readonly newBodyBytes: number
  readonly runIds: readonly string[]
  /** What the store found wrong while taking the batch, such as bytes that do not have the hash they are announced with. */
  readonly problems: readonly Problem[]
}

// ── Runs ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Page<T> {
  readonly rows: readonly T[]
  readonly total: number
  /** Where the next page begins; absent on the last. */
  readonly cursor?: string
}

export interface EventPage {
  readonly events: readonly Event[]
  readonly total: number
  readonly nextFrom?: number
}

export interface RunQuery {
  readonly limit?: number
  readonly cursor?: string
  readonly conversationId?: string
  readonly traceId?: string
  readonly status?: RunStatus
  readonly app?: string
  /** Started at or after, before; milliseconds since 1970. */
  readonly since?: number
  readonly until?: number
  /** Only runs that no other run of this store started: the first of each trace. */
  readonly isFirstOfTrace?: boolean
  /** Only runs that called this model. */
  readonly model?: string
  /** Only runs whose input, entry point or id holds this text. */
  readonly text?: string
  /** So many of the newest are left out: for who jumps into the middle. A cursor is steady where runs come meanwhile, and this is not. */
  readonly offset?: number
  /** Without the canaries that `orangebox doctor` records. */
  readonly isNoCanary?: boolean
  /** Only runs that were collected on the machine of this name. An embedded store has only those of its own. */
  readonly host?: string
}

export interface RunRow {
  readonly runId: string
  readonly traceId: string | null
  readonly conversationId: string | null
  readonly writerId: string | null
  readonly app: string | null
  readonly entrypoint: string | null
  readonly environment: string | null
  readonly agentVersion: string | null
  readonly status: RunStatus
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  /** Wall time of the last event so far. */
  readonly lastAtMs: number
  /** From the run's monotonic clock: first to last event. */
  /** Null where nothing on record has a time. */
  readonly durationMs: number | null
  readonly inputSummary: string | null
  readonly errorClass: string | null
  readonly errorSummary: string | null
  readonly captureMode: string | null
  /** Recorded by the run itself; what others said about it is in `annotations`. */
  readonly events: number
  readonly annotations: number
  readonly steps: number
  readonly openSteps: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** Steps that ended in error or timeout, attempts of a call and the run itself aside. */
  readonly errors: number
  readonly tokens: Readonly<TokenCounts>
  /** Set on replays and forks. */
  readonly sourceRunId: string | null
  /** Bodies of this run that retention has taken. */
  readonly bodiesPruned: boolean
}

export interface StepRow {
  readonly runId: string
  readonly stepId: string
  /** In the order in which steps were first heard of, from 1: the `n` of `run#n`. */
  readonly no: number
  readonly parentNo: number | null
  readonly parentStepId: string | null
  readonly kind: FoldedKind
  /** Tool, model or step name; the entry point for the root. */
  /** Null where nothing on record says. */
  readonly name: string | null
  readonly provider: string | null
  readonly status: StepStatus
  readonly openedAtMs: number
  readonly durationMs: number | null
  readonly attemptNo: number | null
  readonly errorClass: string | null
  /** What sort of work a plain step says it is: retrieval, queue.deliver, … */
  readonly workKind: string | null
  /** Who recorded it, and what deduced it. */
  readonly source: string | null
  readonly inferredBy: string | null
  readonly tokens: Readonly<TokenCounts>
  /** The events that opened and closed it; null where one is missing. */
  readonly openedBy: string | null
  readonly closedBy: string | null
}

/** Entries of the columns that are words are places in `words`. Null is unknown. */
export interface StepColumns {
  /** Of the run, not of this page. */
  readonly total: number
  readonly words: readonly string[]
  readonly columns: Readonly<
    Record<
      | "n"
      | "parent"
      | "kind"
      | "work_kind"
      | "name"
      | "provider"
      | "status"
      | "mode"
      | "lane"
      | "inferred_by"
      | "attempt_no"
      | "error_class"
      | "started_us"
      | "duration_us"
      | "input_tokens"
      | "output_tokens"
      | "cache_read_tokens"
      | "cache_write_tokens",
      readonly (number | null)[]
    >
  >
}

export interface OpenRun {
  readonly runId: string
  readonly traceId: string | null
  readonly conversationId: string | null
  /** Null when not even the root step is open. */
  readonly lastOpenStepId: string | null
  readonly lastAtMs: number
  readonly lastMonoMicros: number
  readonly isMarkedCrashed: boolean
}

export interface Conflict {
  readonly event: Event
  readonly writerId: string | null
  readonly seenAtMs: number
}

export interface PartialStream {
  readonly streamId: string
  readonly stepId: string | null
  readonly role: string
  readonly mime: string | null
  readonly byteSize: number
  /** So many more had come that the writer could not judge yet, and did not write. */
  readonly withheldBytes: number
  readonly chunks: number
  /** False when pieces in the middle are missing. */
  readonly isUnbroken: boolean
  readonly lastAtMicros: number
  /** `open` while its writer may still go on, `abandoned` once it is known to be gone. */
  readonly state: "open" | "abandoned"
  /** The body that holds the bytes of an abandoned stream. */
  readonly hash: string | null
}

export interface RebuildReport {
  readonly events: number
  readonly runs: number
  readonly steps: number
  readonly texts: number
}

// ── Redaction after the fact ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface StoredRedaction {
  /** Only what this run holds. A body that other runs hold too goes for them as well. */
  readonly runId?: string
  /** The event as it may stay; the same object where nothing has to go. Its ids and its place must not change. */
  readonly event: (event: Event) => Event
  /** Whether the content of a body has to go. */
  readonly body: (bytes: Uint8Array, mime: string | null) => boolean
  /** Any other text of the store: names in roll-ups, conflicts, gaps, problems, what processes said about themselves. */
  readonly text: (text: string) => string
}

export interface StoredRedactionReport {
  readonly events: number
  readonly eventsSeen: number
  readonly bodies: number
  readonly bodiesSeen: number
  /** Size of the bodies that went, as they were recorded. */
  readonly bodyBytes: number
  readonly otherTexts: number
  readonly runIds: readonly string[]
  /** Bodies with such text that are still being received, and were left alone. */
  readonly openStreams: readonly string[]
  /** Bodies that are damaged, so that the redaction could not look into them. */
  readonly unreadableBodies: number
  /** Nothing of it is left in unused pages of the database, in its WAL or in packs. */
  readonly isSwept: boolean
  readonly notSweptBecause?: string
}

export interface EventRedaction {
  readonly eventId: string
  readonly atMs: number
}

// ── Ids ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export type TargetKind =
  | "run"
  | "step"
  | "trace"
  | "conversation"
  | "message"
  | "tool_call"
  | "provider_request"
  | "request"
  | "artifact"
  | "lane"
  | "commit"
  | "event"
  | "body"

export interface Target {
  readonly kind: TargetKind
  readonly id: string
  /** The run to open; for a trace or conversation its newest. */
  readonly runId: string | null
  readonly stepId: string | null
  /** A few words to tell candidates apart. Recorded text: escape before showing. */
  readonly label: string
}

/** A step in which an id stands. */
export interface Occurrence {
  readonly runId: string | null
  readonly stepId: string | null
  /** The `n` of `run#n`; null where no such step is known. */
  readonly no: number | null
  /** The first event of the step that has the id, and how many have it. */
  readonly eventId: string
  readonly eventType: string
  readonly events: number
  readonly atMs: number
}

/** A link, and the step that it was recorded in. */
export interface InboundLink {
  readonly link: Link
  readonly runId: string
  readonly no: number | null
  /** The name of that step. Recorded text. */
  readonly name: string | null
  readonly atMs: number
}

export type Resolution =
  | { readonly found: "one"; readonly target: Target }
  | { readonly found: "many"; readonly candidates: readonly Target[]; readonly total: number }
  | { readonly found: "none"; readonly nearest: readonly Target[]; readonly pruned?: { readonly onMs: number } }

// ── Bodies ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface BodyInfo {
  readonly hash: string
  readonly byteSize: number
  readonly mime: string | null
  /** Absent means the bytes are there. */
  readonly absent?: Absence
  readonly firstSeenAtMs: number
  /** Events that name it, as far as they are still kept. */
  readonly references: number
}

/**
 * Why bytes are not there: `pruned` by retention, `redacted_later` on demand, `lost` when they should be there and are not, or not
 * with that hash; `unknown` when this store never had them.
 */
export interface Absence {
  readonly absent: "pruned" | "redacted_later" | "lost" | "unknown"
  readonly hash: string
  readonly onMs?: number
  readonly byteSize?: number
  readonly reason: string
}

export type BodyReading =
  | { readonly bytes: Uint8Array; readonly byteSize: number; readonly mime: string | null }
  | Absence

export function isAbsent(reading: BodyReading): reading is Absence {
  return "absent" in reading
}

// ── Search ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface SearchQuery {
  /** Words that must all occur, as words or parts of words, in any order; `"in quotes"` exactly so. Never read as query syntax. */
  readonly text: string
  readonly limit?: number
  readonly cursor?: string
  readonly runId?: string
  /** Only texts of events of this type, and of the bodies they name. */
  readonly kind?: string
}

/** An event that holds a text, itself or in a body that it names. */
export interface SearchPlace {
  readonly runId: string | null
  readonly stepId: string | null
  readonly eventId: string
  readonly eventType: string
  /** How the event came about: what a replay made up is never shown without saying so. */
  readonly mode: DeterminismMode
  readonly sequenceNo: number | null
  readonly atMs: number
  /** The payload field that holds the text or names the body. */
  readonly field: string
  /** The body that holds the text; null when it stands in the event itself. */
  readonly hash: string | null
}

/** A passage of a run, at the first place where it was recorded there. */
export interface SearchHit extends SearchPlace {
  /** Recorded text around the match, cut to size; `at` and `length` mark the match in it. */
  readonly snippet: string
  readonly at: number
  readonly length: number
  /** The events of the run that hold it, in order, the first included, and no more than some; history that is sent again is no new place. */
  readonly places: readonly SearchPlace[]
  readonly placesTotal: number
}

export interface SearchPage {
  /** One for each passage and run, newest first. */
  readonly hits: readonly SearchHit[]
  readonly cursor?: string
  /** How many hits there are, on this page and others, and at how many places they stand. */
  readonly total: number
  readonly places: number
  /** False when so many texts may match that not all were read: then there are more. */
  readonly isTotalExact: boolean
}

// ── Roll-ups ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Where what is summed came from: recorded here and for real; served to a replay or a fork, which costs nothing and is no use of anything; or
 * imported, and paid where it was recorded. A call that a replay or a fork let through is recorded: it went out.
 */
export type Origin = "recorded" | "replayed" | "imported"

export interface RollupQuery {
  readonly by: "day" | "week"
  readonly since?: number
  readonly until?: number
  readonly kind?: FoldedKind
  readonly workKind?: string
  readonly name?: string
  readonly app?: string
  readonly source?: string
  readonly origin?: Origin
}

/** How often something took so long: under 2ⁿ microseconds and at least half of that, by n. */
export type Durations = Readonly<Record<number, number>>

/** What happened in one UTC day (or ISO week) in the steps that were the same sort of thing. Survives pruning. */
export interface RollupRow {
  /** `2026-01-31`, or the Monday of the week. */
  readonly period: string
  readonly kind: FoldedKind
  /** What a plain step says it is: retrieval, queue.deliver, … */
  readonly workKind: string | null
  readonly name: string
  readonly provider: string | null
  readonly source: string | null
  readonly app: string | null
  readonly agentVersion: string | null
  readonly origin: Origin
  readonly count: number
  readonly successes: number
  readonly errors: number
  readonly timeouts: number
  /** Steps that were opened and never closed, so far. */
  readonly open: number
  /** Steps by the class of their error. */
  readonly errorClasses: Readonly<Record<string, number>>
  /** Tries of model calls: at least one for each call that ended. Null for anything else. */
  readonly attempts: number | null
  readonly durationMsSum: number
  readonly durationMsMax: number
  readonly durations: Durations
  /** Until the first byte of an answer came, and from then to its end. */
  readonly firstByteMsSum: number | null
  readonly firstByteMsMax: number | null
  readonly firstBytes: Durations
  readonly generations: Durations
  readonly tokens: Readonly<TokenCounts>
  readonly callsWithoutUsage: number | null
  /** Of the calls that have a price, by the table the store was told when they came in. */
  readonly usd: number | null
  readonly unpricedCalls: number | null
}

export interface ContributorQuery {
  readonly by: "day" | "week"
  readonly since?: number
  readonly until?: number
  readonly contributor?: string
  readonly app?: string
  readonly origin?: Origin
}

/** What one contributor stood for in the prompts of a day or week. */
export interface ContributorRollup {
  readonly period: string
  readonly contributor: string
  /** `persona`, `tool-def`, `skill`, … */
  readonly kind: string
  readonly app: string | null
  readonly origin: Origin
  /** Prompts of model calls that held something of it. */
  readonly prompts: number
  readonly bytes: number
  /** Its share of the prompts' tokens, by length; null where no call said how many there were. */
  readonly tokensEstimated: number | null
  readonly uncountedPrompts: number
  /** What that share cost, at the rate of a cache read as far as the cache was read. */
  readonly usd: number | null
  readonly unpricedPrompts: number
  /** How often a model asked for the tool, or a tool call loaded the skill; null where it is unknown. */
  readonly uses: number | null
  /** Prompts that defined the tool and of which it is unknown what the model asked for. */
  readonly unheardPrompts: number
  /** How often the skill came into a prompt in the middle of a run. */
  readonly entries: number
}

/** How often steps of a kind and name took how long: by the binary digits of their microseconds. */
export interface DurationCounts extends Pick<RollupRow, "kind" | "name"> {
  readonly durations: Readonly<Record<string, number>>
}

/** How long one step took. */
export interface StepDuration
  extends Pick<
    RollupRow,
    "period" | "kind" | "workKind" | "name" | "provider" | "source" | "app" | "agentVersion" | "origin"
  > {
  readonly durationMs: number
  readonly firstByteMs: number | null
}

// ── Status ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface StoreStatus {
  readonly engine: string
  readonly schemaVersion: number
  readonly runs: number
  readonly events: number
  readonly steps: number
  readonly bodies: number
  readonly conflicts: number
  readonly gaps: number
  /** Sum of the sizes of all bodies as they were recorded. */
  readonly bodyBytes: number
  /** What they take on disk. */
  readonly bodyBytesOnDisk: number
  readonly searchBytesOnDisk: number
  readonly databaseBytes: number
  readonly walBytes: number
  readonly lastCommitAtMs: number | null
}
