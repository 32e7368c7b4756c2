import type { Progress, TraceStore } from "@orangebox/store"
import type { GlobalOptions, Session } from "../session.js"
export async function withWriting<T>(
  _session: Session,
  _options: GlobalOptions,
  _write: (w: { store: TraceStore; onProgress: NonNullable<Progress["onProgress"]> }) => Promise<T>,
): Promise<T> {
  throw new Error("soon")
}
