import { given } from "@orangebox/contract"
import type { LogAttributes } from "./logger.js"
import type { Handoff, Step } from "./step.js"

/** A message on its way between conversations. Plain JSON: it travels with the message. */
export interface QueuedMessage {
  readonly messageId: string
  readonly sourceConversationId?: string
  readonly targetConversationId?: string
  readonly enqueued: Handoff
}

/** What is known of a delivery; what is left out stays unknown. */
export interface Delivery {
  /** Default: the conversation of the run it caused, else that of the run that delivers. */
  readonly conversationId?: string
  /** A run handle, or only its ids where it runs elsewhere. */
  readonly causedRun?: { readonly id: string; readonly runId: string; handoff?(): Handoff }
  /** Whether the queue was told that the message has arrived. */
  readonly acknowledged?: boolean
  /** Whether the queue says that it has handed this message out before. */
  readonly redelivered?: boolean
  /** Which delivery of this message it is by the queue's own count, from 1. */
  readonly deliveryNo?: number
  /** Why the delivery failed. A message that comes again after this is redelivered, not doubled. */
  readonly err?: unknown
}

/**
 * The three moments of a queued message, each a step that is over at once. A message delivered twice is two `queue.deliver` steps with one
 * message id; one delivered to the wrong place differs from its own target.
 */
export class QueueHandle {
  readonly #step: Step

  constructor(step: Step) {
    this.#step = step
  }

  /** @param message where it comes from is the conversation of the run, unless it says another */
  enqueue(message: {
    messageId: string
    sourceConversationId?: string
    targetConversationId?: string
    body?: unknown
  }): QueuedMessage {
    const { messageId, targetConversationId, body } = message
    const sourceConversationId = message.sourceConversationId ?? this.#step.handoff().conversationId
    const sent = { messageId, ...given({ sourceConversationId, targetConversationId }) }
    const step = this.#step.child("enqueue", attributesOf(sent), { kind: "queue.enqueue", body })
    step.end()
    return { ...sent, enqueued: step.handoff() }
  }

  dequeue(message: QueuedMessage): void {
    this.#open("dequeue", message, attributesOf(message)).end()
  }

  /** Into which conversation it really went, how, and the run it led to when there is one. */
  deliver(message: QueuedMessage, delivery: Delivery = {}): void {
    const { causedRun, acknowledged, redelivered, deliveryNo, err } = delivery
    const delivered =
      delivery.conversationId ?? causedRun?.handoff?.().conversationId ?? this.#step.handoff().conversationId
    const step = this.#open("deliver", message, {
      ...attributesOf(message),
      ...given({
        delivered_conversation_id: delivered,
        acknowledged,
        redelivered: redelivered ?? (deliveryNo === undefined ? undefined : deliveryNo > 1),
        delivery_no: deliveryNo,
      }),
    })
    if (causedRun) step.addLink({ kind: "caused", runId: causedRun.runId, stepId: causedRun.id }, "delivery")
    step.end(given({ err }))
  }

  #open(name: string, message: QueuedMessage, attributes: LogAttributes): Step {
    const step = this.#step.child(name, attributes, { kind: `queue.${name}` })
    const { enqueued } = message
    if (enqueued)
      step.addLink({ kind: "delivers", runId: enqueued.runId, stepId: enqueued.stepId, traceId: enqueued.traceId })
    return step
  }
}

function attributesOf(message: {
  messageId: string
  sourceConversationId?: string
  targetConversationId?: string
}): LogAttributes {
  return {
    message_id: message.messageId,
    ...given({
      source_conversation_id: message.sourceConversationId,
      target_conversation_id: message.targetConversationId,
    }),
  }
}
