import type { Problem } from "@orangebox/contract"
import type { ExcludedReason, ItemType } from "../manifest.js"
import type { Placed } from "../sections.js"
import type { Stage } from "../stage.js"
import type { WorkspaceFiles } from "../workspace-files.js"

/** A retrieval source of tier 2. What it reads goes through `files`, which keeps the provenance. */
export interface ContextSource {
  readonly id: string
  read(files: WorkspaceFiles, stage: Stage): SourceReading
}

export interface SourceReading {
  /** Best first. */
  readonly items: readonly SourceItem[]
  /** What the source saw and decided against. */
  readonly excluded: readonly SourceExclusion[]
  /** Bad files and lines: reported, never fatal. */
  readonly problems: readonly Problem[]
}

export interface SourceItem {
  readonly id: string
  readonly type: ItemType
  readonly sourceRef: string
  readonly placed: Extract<Placed, { section: "recent_outcomes" | "trend_summary" | "open_incidents" }>
}

export interface SourceExclusion {
  readonly id: string
  readonly type: ItemType
  readonly sourceRef: string
  readonly reason: ExcludedReason
}
