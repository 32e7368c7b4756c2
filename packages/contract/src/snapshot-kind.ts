/** What the bodies of a snapshot are: a prompt as it was sent, the output of a tool as it came, the answer of a model. */
export type SnapshotKind = "prompt_snapshot" | "tool_output_snapshot" | "answer_snapshot"

/** What an event's bodies are to a snapshot, by the field that names them. */
export function snapshotKindOf(eventType: string, artifactType: string): SnapshotKind | undefined {
  if (eventType === "model_called" && artifactType === "request") return "prompt_snapshot"
  if (eventType === "prompt_rendered" && artifactType === "rendered_prompt") return "prompt_snapshot"
  if (eventType === "tool_result" && artifactType === "result") return "tool_output_snapshot"
  if (eventType === "model_result" && artifactType === "response") return "answer_snapshot"
  return undefined
}

/** What each is called where it is listed. */
export const SNAPSHOT_SUMMARIES: Readonly<Record<SnapshotKind, string>> = {
  prompt_snapshot: "prompt as it was sent",
  tool_output_snapshot: "output of a tool as it came",
  answer_snapshot: "answer of a model as it came",
}
export const PARTIAL_ANSWER = "answer of a model as far as it came"

/** Where snapshots lie below the workspace, unless the data folder stands elsewhere. */
export const SNAPSHOT_FOLDER = ".orangebox/snapshots"
