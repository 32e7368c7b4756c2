import type { Scope, Step } from "@orangebox/recorder"
import { maskedSecret } from "@orangebox/redaction"

interface TicketReply {
  readonly id: number
  readonly status: string
  /** The door code of the building. No rule can know that it is secret: it is four digits in a field called `note`. */
  readonly note: string
  readonly headers: Readonly<Record<string, string>>
}

export class TicketService {
  readonly #log: Scope["log"]

  /** The scope is handed in: `recorder.scope("tickets")`. Its name stands on every line as the source, and cannot be set from here. */
  constructor(scope: Scope) {
    this.#log = scope.log
    this.#log.info("ticket service ready")
  }

  /** The step is handed in as well, so that the lines land where the work is. */
  async open(step: Step, title: string, send: typeof fetch): Promise<number> {
    // `step.fetch` records request and answer as they go over the wire; nothing has to be logged by hand.
    const answer = await send("https://tickets.example/v1/tickets", { method: "POST", body: JSON.stringify({ title }) })
    const reply = (await answer.json()) as TicketReply
    step.log.info("ticket opened", loggable(reply))
    return reply.id
  }
}

/** What of a reply may be recorded. This file knows the service, so this file says what is secret in it. */
function loggable({ id, status, note, headers }: TicketReply) {
  return {
    ticket: id,
    status,
    note: maskedSecret(note),
    // Attributes are flat: a nested value is one text.
    limits: JSON.stringify({ left: headers["x-left"], of: headers["x-of"] }),
  }
}
