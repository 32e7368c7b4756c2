import type {
  ArtifactRef,
  BodyMask,
  DeterminismMode,
  EffectClass,
  Event,
  Status,
  TokenUsage,
} from "@orangebox/contract"
import type { RunStatus } from "@orangebox/runs"

/** Where the bytes behind a ref are. A `Map` is one; a store's reader is another. */
export interface Bodies {
  get(hash: string): Uint8Array | undefined
}

/** A run as it was recorded: everything replay reads. */
export interface Recording {
  readonly events: readonly Event[]
  readonly bodies: Bodies
}

export type CallKind = "model" | "tool" | "retriever" | "http"
export type HeaderPairs = readonly (readonly [name: string, value: string])[]

/** Everything a run asked the world, in the order it asked, with what came back. Never written to. */
export interface Tape {
  readonly runId: string
  readonly traceId: string
  readonly entrypoint: string
  readonly calls: readonly TapeCall[]
  readonly outputs: RunOutputs
  /** Every step of the run, calls or not: what contains what, and what followed what. */
  readonly steps: ReadonlyMap<string, TapeStep>
  /** Runs of sub-agents that a step of this one started and whose events did not come along. */
  readonly absentRuns: readonly { readonly runId: string; readonly stepId: string }[]
  readonly bodies: Bodies
}

export interface TapeStep {
  readonly stepId: string
  readonly parentStepId: string | null
  readonly follows: readonly string[]
  readonly openedAt: number
  /** Null when the recording ends before the step does. */
  readonly closedAt: number | null
}

/** What a run has to show for itself in the end. */
export interface RunOutputs {
  readonly ended: RunStatus
  readonly errorClass: string | null
  /** The error in one line. */
  readonly error: string | null
  /** How the command ended, where the run was one and that is on record. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** What the command wrote to its stdout, where that was a pipe and was read to its end. */
  readonly stdout: RecordedStdout | null
  readonly finalOutputs: readonly string[]
  /** The body of the last answer of a model, in the order in which calls were opened. */
  readonly lastModelOutput: string | null
  /** The step that answer is of. */
  readonly lastModelStep: string | null
}

export interface RecordedStdout {
  readonly byteSize: number
  readonly body: StoredBody | null
  /** Of more than is kept: the name of a key, and a digest under it. */
  readonly digest: string | null
}

/**
 * One recorded call. A logical model call that took several tries on the wire is a call with `attempts`, and each try is a call of its own
 * with `attemptOf`: a client library asks again by itself, and has to get the same refusals in the same order.
 */
export interface TapeCall {
  readonly stepId: string
  readonly runId: string
  readonly kind: CallKind
  /** The model, the tool, the retriever, or method and address. */
  readonly name: string
  readonly provider: string | null
  readonly lane: string
  /** As stamped at capture. Null where the recording has none: then nothing can match. */
  readonly sig: string | null
  readonly wire: string | null
  readonly shape: string | null
  readonly canonVersion: number | null
  readonly stream: boolean | null
  /** Positions among all events of the tape: what came before what. */
  readonly openedAt: number
  readonly closedAt: number | null
  /** When its first answer began to come: what was asked behind that may have been asked because of it. Its end where no more is known. */
  readonly toldAt: number | null
  /** How many calls with the same lane and signature were opened before. */
  readonly occurrence: number
  readonly parentStepId: string | null
  /** Where in the run it was made, by names: see `CallPlaces`. */
  readonly place: string
  /** The call it was made inside of, such as a model call of a tool: who is answered from a tape does not make it again. */
  readonly within: string | null
  readonly attemptOf: string | null
  readonly attemptNo: number | null
  readonly attempts: readonly string[]
  /** A call the harness makes for itself and whose answer nothing else uses. */
  readonly isAuxiliary: boolean
  /** Deduced from traffic: it happened inside the agent, where nothing could have answered it from a tape. */
  readonly isInferred: boolean
  readonly effect: EffectClass
  readonly toolCallId: string | null
  /** Kinds of context the request leans on and does not carry. */
  readonly heldByProvider: string | null
  /** How the call was answered when it was recorded: `live`, unless the run was a replay itself. */
  readonly mode: DeterminismMode
  /** Its answer was made up, in this recording or in the one that this was a replay of. */
  readonly isMadeUp: boolean
  /** In a recording of a replay: the step it stood for, and by which tier. */
  readonly replayed: { readonly sourceStepId: string; readonly tier: string } | null
  readonly request: RecordedRequest
  /** Null when the recording stops in the middle of the call. */
  readonly answer: RecordedAnswer | null
}

export interface StoredBody {
  readonly hash: string
  readonly byteSize: number
  readonly mimeType: string
  readonly contentEncoding: string
  readonly absent: NonNullable<ArtifactRef["absent"]> | null
  /** The source had more bytes than were kept. */
  readonly isCut: boolean
  readonly masks: readonly BodyMask[]
  readonly maskCount: number
}

export interface RecordedRequest {
  readonly body: StoredBody | null
  readonly method: string | null
  readonly url: string | null
  /** Keyed digests of what is masked in the address, place by place; null where there is none, or the recorder made none. */
  readonly urlTags: string | null
  readonly headers: HeaderPairs | null
  /** A retriever's question beside its text. */
  readonly retrieval: RecordedRetrieval | null
}

export interface RecordedRetrieval {
  readonly version: string | null
  readonly topK: number | null
  readonly filters: Readonly<Record<string, string | number | boolean | null>>
}

export interface RecordedAnswer {
  readonly status: Status
  readonly httpStatus: number | null
  readonly body: StoredBody | null
  readonly headers: HeaderPairs | null
  readonly index: StreamIndex | null
  readonly end: StreamEnd | null
  /** The content encodings that it ended inside of, innermost first: its client decoded the body that is kept, and missed the end. */
  readonly unfinishedIn: readonly string[]
  /** Why what came behind the kept body could not be decoded; null for any other answer. */
  readonly notDecoded: string | null
  readonly error: RecordedError | null
  readonly latencyMs: number
  readonly firstByteMs: number | null
  readonly model: ModelFacts | null
  readonly exitCode: number | null
}

export type StreamEnd = "complete" | "client_abort" | "upstream_reset" | "timeout"

/** How an answer came over the wire: where each read began, and when. */
export interface StreamIndex {
  readonly end: StreamEnd
  readonly bytes: number
  readonly reads: readonly (readonly [offset: number, micros: number])[]
}

export interface RecordedError {
  readonly errorClass: string
  readonly message: string
  readonly code: string | null
}

/** What the recording says about an answer beside its bytes; told again when the call is served. */
export interface ModelFacts {
  readonly modelId: string | null
  readonly finishReason: string | null
  readonly usage: TokenUsage
  readonly requestId: string | null
  readonly requestedTools: readonly string[]
  /** The beginning of what it said. */
  readonly outputSummary: string | null
}
