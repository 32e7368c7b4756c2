// The parts of the API's answers that are shown. `docs/http-api.md` describes them whole; null is unknown.

export interface Meta {
  readonly version: string
  readonly data_folder: string
  readonly features: readonly string[]
  readonly store: { readonly runs: number }
  readonly behind_bytes: number
}

export interface RunListRow {
  readonly run_id: string
  readonly conversation_id: string | null
  readonly app: string
  readonly entrypoint: string | null
  readonly status: string
  readonly started_at: string
  readonly duration_ms: number | null
  readonly input_summary: string | null
  readonly model_calls: number
  readonly tool_calls: number
  readonly errors: number
  readonly steps: number
  readonly tokens: {
    readonly prompt: number | null
    readonly completion: number | null
    readonly cache_read: number | null
  }
  readonly source_run_id: string | null
}

export interface RunVerdict {
  readonly run_id: string
  readonly verdict: string
  readonly violations: number
  readonly usd: number | null
  readonly unpriced_calls: number
}

export interface RunList {
  readonly runs: readonly RunListRow[]
  readonly total: number
  readonly cursor: string | null
  readonly behind_bytes: number
}

export interface RunHead {
  readonly run: {
    readonly run_id: string
    readonly trace_id: string | null
    readonly conversation_id: string | null
    readonly app: string
    readonly entrypoint: string | null
    readonly input: string | null
    readonly started_at: string
    readonly status: string
    readonly duration_us: number | null
    readonly totals: {
      readonly events: number
      readonly steps: number
      readonly lost: number
      readonly model_calls: number
      readonly tool_calls: number
      readonly errors: number
      readonly tokens: {
        readonly input: number | null
        readonly output: number | null
        readonly cache_read: number | null
        readonly cache_read_of: number | null
        readonly calls_without_usage: number
      }
    }
    readonly money?: { readonly usd: number | null; readonly unpriced_calls?: number } | null
    readonly replay: { readonly source_run_id?: string } | null
    readonly crash: {
      readonly pid: number | null
      readonly step: number | null
      readonly ended_by: string
      readonly exit_code: number | null
      readonly error_summary: string | null
    } | null
  }
  readonly gaps: readonly unknown[]
  readonly declared_lost?: number
  readonly behind_bytes: number
}
