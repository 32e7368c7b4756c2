import { BodyRef } from "./body-ref.js"
import { added } from "./define-event.js"
import { Count, Name } from "./fields.js"

/** What the command of a run wrote to its stdout, where that was a pipe of its own and was read to its end. */
export const WRITTEN_OUTPUT = {
  stdout_bytes: added(Count.optional(), "1.2"),
  /** All of it, where it is no more than a run keeps. */
  stdout_ref: added(BodyRef.optional(), "1.2"),
  /** Of more than that: a digest under the key of the store, behind the name of that key. */
  stdout_digest: added(Name.optional(), "1.2"),
}
