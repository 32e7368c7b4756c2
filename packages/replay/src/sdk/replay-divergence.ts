import { OrangeboxError } from "@orangebox/contract"
import type { Divergence } from "../generated.js"

/** Thrown in the place of an answer that is not on the tape. */
export class ReplayDivergence extends OrangeboxError {
  readonly divergence: Divergence

  constructor(divergence: Divergence) {
    const { code, message, at, nearest, suggest } = divergence
    const [diff] = nearest[0]?.diffs ?? []
    const where = diff ? `: ${diff.ptr} was ${JSON.stringify(diff.recorded)}, is ${JSON.stringify(diff.now)}` : ""
    super(code, {
      what: `replay diverged at ${at.kind} ${at.name}: ${message}${where}`,
      ...(divergence.step === null ? {} : { where: divergence.step }),
      ...(suggest[0] === undefined ? {} : { next: `Try: ${suggest.join(", ")}` }),
    })
    this.name = "ReplayDivergence"
    this.divergence = divergence
  }
}
