import { OrangeboxError } from "@orangebox/contract"
import type { Candidate, Considered } from "./candidate.js"
import { type Placed, piecesOf, pieceText, SECTION_ORDER, SECTIONS, type SectionName, type Share } from "./sections.js"
import type { TokenBudget } from "./token-budget.js"
import type { TokenCounter } from "./token-counter.js"
import { truncateToFit } from "./truncate.js"

export interface Included {
  readonly candidate: Candidate
  /** As it goes into the bundle: the candidate's, or its truncated form. */
  readonly placed: Placed
  readonly tokens: number
  /** Its size before truncation. */
  readonly fromTokens?: number
  /** Where its text was cut, in UTF-16 units. */
  readonly cutAt?: number
}

export interface ShareUse {
  readonly reserved: number
  readonly used: number
  readonly left: number
}

export interface Allocation {
  /** In prompt order. */
  readonly included: readonly Included[]
  readonly shares: { readonly [S in Share]: ShareUse }
  readonly prompt: string
  readonly promptTokens: number
}

/**
 * Decides what fits. Tier 0 goes in whatever it costs and the others shrink; tier 1 is cut at its cap; tier 2 takes what is left, history
 * first; the generation reserve is never touched. What does not fit is rejected as `budget_limit`.
 *
 * Candidates come in order of priority within their share.
 */
export function allocate(
  candidates: readonly Candidate[],
  budget: TokenBudget,
  counter: Required<TokenCounter>,
  considered: Considered,
): Allocation {
  const promptRoom = budget.ctx_max_tokens - budget.generation_reserve_tokens
  const allocator = new Allocator(counter, considered)
  const shares: { [S in Share]: Candidate[] } = { tier0: [], tier1: [], history: [], telemetry: [] }
  for (const candidate of candidates) shares[SECTIONS[candidate.placed.section].share].push(candidate)

  const tier0Used = allocator.takeAll(shares.tier0)
  if (tier0Used > promptRoom) throw tier0TooLarge(tier0Used, budget)
  let room = promptRoom - Math.max(tier0Used, budget.tier0_reserved)
  const take = (share: Share, cap: number): { reserved: number } => {
    const reserved = Math.max(0, Math.min(cap, room))
    room -= allocator.fill(shares[share], reserved)
    return { reserved }
  }
  const tier1 = take("tier1", budget.tier1_cap)
  const history = take("history", budget.history_cap)
  const telemetry = take("telemetry", budget.telemetry_cap)

  // Parts can count less than the whole they make: a tokenizer may merge differently across a border. The whole is what counts.
  let prompt = allocator.prompt()
  let promptTokens = counter.count(prompt)
  while (promptTokens > promptRoom) {
    if (!allocator.dropLast()) throw tier0TooLarge(promptTokens, budget)
    prompt = allocator.prompt()
    promptTokens = counter.count(prompt)
  }

  const use = (share: Share, reserved: number): ShareUse => {
    const used = allocator.usedBy(share)
    return { reserved, used, left: Math.max(0, reserved - used) }
  }
  return {
    included: allocator.included(),
    shares: {
      tier0: use("tier0", budget.tier0_reserved),
      tier1: use("tier1", tier1.reserved),
      history: use("history", history.reserved),
      telemetry: use("telemetry", telemetry.reserved),
    },
    prompt,
    promptTokens,
  }
}

class Allocator {
  readonly #counter: Required<TokenCounter>
  readonly #considered: Considered
  readonly #taken: Included[] = []
  readonly #open = new Set<SectionName>()
  #counted = 0

  constructor(counter: Required<TokenCounter>, considered: Considered) {
    this.#counter = counter
    this.#considered = considered
  }

  takeAll(candidates: readonly Candidate[]): number {
    let used = 0
    for (const candidate of candidates) {
      const tokens = this.#cost(candidate.placed)
      this.#take({ candidate, placed: candidate.placed, tokens })
      used += tokens
    }
    return used
  }

  /** Takes what fits into `room` and returns what that cost. */
  fill(candidates: readonly Candidate[], room: number): number {
    let left = room
    for (const candidate of candidates) {
      // Not even one token: nothing behind this point needs to be fitted.
      if (left < 1) {
        this.#leaveOut(candidate, left)
        continue
      }
      const whole = this.#costWithin(candidate.placed, left)
      if (whole !== undefined) {
        this.#take({ candidate, placed: candidate.placed, tokens: whole })
        left -= whole
        continue
      }
      const cutItem = truncateToFit(candidate.placed, left, (item) => this.#cost(item))
      if (cutItem === undefined) {
        this.#leaveOut(candidate, left)
        continue
      }
      const tokens = this.#cost(cutItem.placed)
      this.#take({ candidate, ...cutItem, tokens, fromTokens: this.#cost(candidate.placed) })
      left -= tokens
    }
    return room - left
  }

  /** Gives up what was taken last; false where only tier 0 is left. */
  dropLast(): boolean {
    const last = this.#taken.at(-1)
    if (!last || SECTIONS[last.placed.section].share === "tier0") return false
    this.#taken.pop()
    this.#leaveOut(last.candidate, 0)
    return true
  }

  /** What the first ones would have cost is counted; the sizes of ten thousand are not read, and counting them would take longer than compiling. */
  #leaveOut(candidate: Candidate, room: number): void {
    const size = this.#counted++ < MOST_COUNTED ? { tokens: this.#cost(candidate.placed) } : {}
    this.#considered.reject(candidate, "budget_limit", { ...size, room_tokens: Math.floor(room) })
  }

  usedBy(share: Share): number {
    return this.#taken.reduce(
      (sum, { placed, tokens }) => (SECTIONS[placed.section].share === share ? sum + tokens : sum),
      0,
    )
  }

  included(): Included[] {
    const place = new Map(SECTION_ORDER.map((section, index) => [section, index]))
    return this.#taken.toSorted((a, b) => place.get(a.placed.section)! - place.get(b.placed.section)!)
  }

  prompt(): string {
    return piecesOf(this.included().map(({ placed }) => placed)).join("")
  }

  #take(included: Included): void {
    this.#taken.push(included)
    this.#open.add(included.placed.section)
  }

  #cost(item: Placed): number {
    return this.#counter.count(this.#piece(item))
  }

  #costWithin(item: Placed, limit: number): number | undefined {
    // Most chunks do not fit by their text alone, and a text that is asked about as it is need not be copied into a piece first.
    if (item.section === "evidence" && this.#counter.countWithin(item.value.text, limit) === undefined) return undefined
    return this.#counter.countWithin(this.#piece(item), limit)
  }

  #piece(item: Placed): string {
    return pieceText(item, !this.#open.has(item.section))
  }
}

const MOST_COUNTED = 100

const tier0TooLarge = (tokens: number, budget: TokenBudget): OrangeboxError =>
  new OrangeboxError("CONTEXT_WINDOW", {
    what: `tier 0 needs ${tokens} tokens, and with a generation reserve of ${budget.generation_reserve_tokens} that is more than the window of ${budget.ctx_max_tokens}`,
    where: "budgets.ctxMaxTokens",
    next: "Use a larger window, a smaller reserve or a shorter stage",
  })
