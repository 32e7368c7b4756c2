import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import { setTimeout as sleep } from "node:timers/promises"
import { OrangeboxError, SystemError } from "@orangebox/contract"
import {
  CACHE_USE_HEADER,
  cacheUseSaid,
  type HeaderList,
  type WireCall,
  type WireEnd,
  type WireEndNotes,
  type WireRequest,
  type WireResponseHead,
} from "@orangebox/recorder"
import type { ReplayRecorder } from "@orangebox/replay"
import { flatHeaders, framingOf, headerIn, pairsOf, requestHeaders, responseHeaders } from "./forwarded-headers.js"
import type { ProxyLimits } from "./limits.js"
import { RecordedResponse } from "./recorded-response.js"
import { type RecordableBody, recordableBody } from "./request-body.js"
import { refuse, type Target } from "./route.js"
import {
  answerFromTape,
  type BrokenAnswer,
  type ForwardedAnswer,
  type GivenAnswer,
  giveTapedAnswer,
  recordedFailure,
  rewritten,
} from "./taped-answer.js"
import type { UpstreamAgents } from "./upstream-agents.js"

/** What follows the traffic and records it. The exchange itself knows nothing about runs. */
export interface Observer {
  /**
   * Told the whole request before its last byte leaves; what it records is in the journal when it returns. Undefined leaves the exchange
   * unrecorded; throws `SystemError` where recording is required and impossible.
   */
  opened(request: WireRequest, attributes: RecordableBody["attributes"]): ObservedCall | undefined
}

export interface ObservedCall {
  readonly call: WireCall
  /** Told while nothing happens but waiting for the answer: time for everything that need not be done before. */
  waiting(): void
  ended(end: ObservedEnd): void
}

export interface ObservedEnd {
  readonly how: WireEnd
  readonly err: unknown
  /** Undefined when none came. */
  readonly head: WireResponseHead | undefined
  readonly storedBytes: number
  readonly notes: WireEndNotes
}

export interface ExchangeParts {
  readonly target: Target
  readonly agents: UpstreamAgents
  readonly limits: ProxyLimits
  readonly observer: Observer
  /** Answers in the upstream's place, where the tape knows the answer; whatever it does not answer or send on is refused. */
  readonly replay: ReplayRecorder | undefined
  readonly beforeAnswer: (() => Promise<void>) | undefined
  /** Exchanges whose client left behind the end of its answer, and whose upstream has not closed yet. */
  readonly draining: Set<Exchange>
}

/** A model thinks longer than this, and what is done then delays no one; a cache on this machine may answer before. */
const WAITING_MS = 20

/** How far an exchange has come; every way out goes through `#finish` once. */
type Phase = "receiving" | "sent" | "answering" | "draining" | "over"

/**
 * One request through the proxy. Bytes pass untouched in both directions, each piece before the next one comes; nothing is repeated, followed
 * or answered in the upstream's name. The journal has a piece before the client does.
 */
export class Exchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #parts: ExchangeParts
  readonly #headers: HeaderList
  #phase: Phase = "receiving"
  readonly #kept = { pieces: [] as Buffer[], bytes: 0, allBytes: 0 }
  #upstream: ClientRequest | undefined
  #answer: IncomingMessage | undefined
  #observed: ObservedCall | undefined
  #recorded: RecordedResponse | undefined
  #passedBytes = 0
  /** A piece that is being decoded, and not written to the client yet. */
  #passing: Promise<void> | undefined
  #waitTimer: NodeJS.Timeout | undefined
  #drainTimer: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, parts: ExchangeParts) {
    this.#request = request
    this.#response = response
    this.#parts = parts
    this.#headers = requestHeaders(pairsOf(request.rawHeaders), parts.target.upstream)
    response.sendDate = false
    response.on("close", () => this.#clientClosed())
    // Without a listener a broken client would be an uncaught exception; `close` tells all there is to tell.
    response.on("error", () => {})
    request.on("error", () => {})
  }

  /** With `Expect: 100-continue` the upstream decides whether the body is wanted, so it is asked first. */
  start({ expectsContinue }: { expectsContinue: boolean }): void {
    if (expectsContinue && this.#parts.replay) this.#response.writeContinue()
    else if (expectsContinue) {
      this.#upstream = this.#connect()
      this.#upstream.flushHeaders()
      this.#upstream.once("continue", () => {
        this.#response.writeContinue()
        this.#receive()
      })
      return
    }
    this.#receive()
  }

  // Up to the limit the body is read whole, recorded and sent on. A larger one streams, its last piece held back until it is recorded.
  #receive(): void {
    const { requestBytes } = this.#parts.limits
    let ignored: Buffer | undefined
    this.#request.on("data", (piece: Buffer) => {
      const kept = this.#kept
      kept.allBytes += piece.length
      if (ignored === undefined && kept.bytes + piece.length <= requestBytes) {
        kept.pieces.push(piece)
        kept.bytes += piece.length
        return
      }
      if (this.#parts.replay) {
        this.#tooLargeForTape(requestBytes)
        return
      }
      const upstream = this.#upstream ?? this.#connect()
      this.#upstream = upstream
      if (ignored === undefined) {
        upstream.flushHeaders()
        for (const early of kept.pieces) upstream.write(early)
        const room = Buffer.from(piece.subarray(0, requestBytes - kept.bytes))
        kept.pieces.push(room)
        kept.bytes += room.length
      } else if (!upstream.write(ignored)) {
        this.#request.pause()
        upstream.once("drain", () => this.#request.resume())
      }
      ignored = piece
    })
    this.#request.on("end", () => {
      if (this.#phase === "over") return
      const whole = this.#keptBody()
      // An upstream that answered before it had everything may still want the rest; recorded it is already.
      if (this.#phase === "answering") this.#upstream?.end(ignored)
      else
        this.#record(whole, ignored === undefined ? undefined : this.#kept.allBytes, () =>
          this.#parts.replay ? this.#askTape(this.#parts.replay, whole) : this.#send(ignored ?? whole),
        )
    })
  }

  #keptBody(): Buffer {
    const { pieces } = this.#kept
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  #record(body: Buffer, fullByteSize: number | undefined, next: () => void): void {
    const { limits } = this.#parts
    const isPlain =
      fullByteSize === undefined && !this.#headers.some(([name]) => name.toLowerCase() === "content-encoding")
    if (isPlain) {
      if (this.#open({ bytes: body, marks: undefined, attributes: undefined })) next()
      return
    }
    void recordableBody(body, this.#headers, limits, fullByteSize).then((recordable) => {
      if (this.#phase === "receiving" && this.#open(recordable)) next()
    })
  }

  /** False when the request may not go on. */
  #open({ bytes, marks, attributes }: RecordableBody): boolean {
    const { target, observer } = this.#parts
    try {
      this.#observed = observer.opened(
        {
          method: this.#request.method ?? "GET",
          url: `${target.upstream.origin}${target.path}`,
          headers: this.#headers,
          body: bytes,
          cacheUse: cacheUseSaid(headerIn(pairsOf(this.#request.rawHeaders), CACHE_USE_HEADER)),
          ...(marks ? { bodyMarks: marks } : {}),
        },
        attributes,
      )
      return true
    } catch (error) {
      if (!(error instanceof SystemError)) throw error
      this.#finish("upstream_reset", error)
      refuse(this.#response, { status: 502, code: "audit", message: `recording is required and failed: ${error.what}` })
      return false
    }
  }

  #askTape(replay: ReplayRecorder, body: Buffer): void {
    const { target, beforeAnswer } = this.#parts
    void answerFromTape(replay, this.#observed?.call.step.id, {
      beforeAnswer,
      give: (answer) => this.#give(answer),
      forward: (answer) => this.#forward(answer, body),
      fail: (answer) => this.#failAsRecorded(answer),
      refuse: (message) => {
        this.#finish("upstream_reset", notAsked(target))
        refuse(this.#response, { status: 502, code: "replay", message })
      },
      isClientGone: () => this.#response.destroyed && !this.#response.writableFinished,
      clientLeaves: (withinMs) => {
        const left = new Promise<void>((resolve) => void this.#response.once("close", resolve))
        return Promise.race([left, sleep(withinMs, undefined, { ref: false })])
      },
    })
  }

  /** The client of then was told by this proxy, and so is this one; where it had left before, there is no one to tell. */
  #failAsRecorded(answer: BrokenAnswer): void {
    if (this.#phase !== "receiving") return
    const failure = recordedFailure(answer.served) ?? brokenAnswer(this.#parts.target)
    switch (answer.served.answer.end) {
      case "timeout":
        this.#fellSilent(failure)
        return
      case "client_abort":
        this.#finish("upstream_reset", failure)
        this.#response.socket?.destroy()
        return
      default:
        this.#upstreamFailed(failure)
    }
  }

  /** An answer of ours, recorded and given like one that comes from the upstream. */
  async #give({ status, headers, plan, served }: GivenAnswer): Promise<void> {
    if (this.#phase !== "receiving") return
    this.#phase = "answering"
    this.#observed?.waiting()
    if (this.#observed)
      this.#recorded = new RecordedResponse(this.#observed.call, { status, headers }, this.#parts.limits)
    const [first] = plan.pieces
    // A client that can count the bytes of an answer is done with it before one that has to be decoded is on record.
    const isEncoded = headerIn(headers, "content-encoding") !== undefined
    const isAtOnce = plan.pieces.length === 1 && plan.end.how === "complete" && plan.end.atMs === 0 && !isEncoded
    const length: HeaderList = first && isAtOnce ? [["content-length", String(first.bytes.length)]] : []
    this.#response.writeHead(status, flatHeaders([...headers, ...length]))
    if (first && isAtOnce && this.#giveWhole(first.bytes)) return
    // What is due at once leaves with its headers, in one packet; an answer that broke off behind its headers is nothing but these.
    if (first ? first.atMs > 0 : plan.end.how !== "complete") this.#response.flushHeaders()
    await giveTapedAnswer(plan, {
      isOver: () => this.#isOver(),
      write: (bytes) => {
        // All of it is in memory already, so nothing is gained by waiting for a client that does not read; and how much of it one left
        // unread would depend on the moment.
        const recording = this.#recorded?.take(bytes)
        if (recording) return recording.then(() => void this.#response.write(bytes))
        this.#response.write(bytes)
        return undefined
      },
    })
    if (this.#isOver()) return
    if (plan.end.how === "complete") {
      await this.#recorded?.finish()
      this.#finish("complete", undefined)
      await new Promise<void>((resolve) => {
        this.#response.once("close", resolve)
        this.#response.end(resolve)
      })
      return
    }
    // One that broke off breaks off again, in the words of then; where it was the client who left, this is our own doing.
    const failure = plan.end.how === "reset" ? recordedFailure(served) : undefined
    const how = served?.answer.end === "timeout" ? "timeout" : "upstream_reset"
    this.#finish(how, failure ?? brokenAnswer(this.#parts.target))
    this.#breakOff()
  }

  /** All of an answer in one record and one packet. False where it has to be recorded in pieces. */
  #giveWhole(bytes: Uint8Array): boolean {
    if (this.#recorded && !this.#recorded.takeWhole(bytes)) return false
    this.#finish("complete", undefined)
    this.#response.end(bytes)
    return true
  }

  /** Behind a fork: to the upstream, changed as the override rules say. */
  #forward(answer: ForwardedAnswer, body: Buffer): void {
    if (!answer.isChanged) {
      this.#send(body)
      return
    }
    const { upstream, path } = this.#parts.target
    const method = this.#request.method ?? "POST"
    const changed = rewritten(answer, { method, url: `${upstream.origin}${path}`, headers: this.#headers, body })
    this.#upstream = this.#connect(changed.path, changed.headers)
    this.#send(changed.body)
  }

  #tooLargeForTape(limit: number): void {
    if (this.#phase === "over") return
    const message = `a replay answers requests of up to ${limit} bytes`
    this.#parts.replay?.session.turnedAway(this.#parts.target.upstream.name, message)
    this.#finish("client_abort", notAsked(this.#parts.target))
    refuse(this.#response, { status: 413, code: "replay", message })
  }

  #send(rest: Buffer): void {
    if (this.#phase !== "receiving") return
    this.#phase = "sent"
    this.#upstream ??= this.#connect()
    this.#upstream.end(rest.length === 0 ? undefined : rest)
    this.#waitTimer = setTimeout(() => this.#observed?.waiting(), WAITING_MS)
  }

  #connect(
    path: string = this.#parts.target.path,
    headers: HeaderList = [...this.#headers, ...framingOf(pairsOf(this.#request.rawHeaders), this.#request.method)],
  ): ClientRequest {
    const { target, agents, limits } = this.#parts
    const { upstream } = target
    const request = upstream.isTls ? httpsRequest : httpRequest
    const outgoing = request({
      hostname: upstream.hostname,
      port: upstream.port,
      method: this.#request.method,
      path,
      agent: upstream.isTls ? agents.https : agents.http,
      headers: flatHeaders(headers),
    })
    outgoing.setTimeout(limits.upstreamSilenceMs, () => this.#upstreamSilent())
    outgoing.on("socket", (socket) => socket.setKeepAlive(true, 60_000))
    outgoing.on("information", ({ statusCode, rawHeaders }) => this.#passInformation(statusCode, rawHeaders))
    outgoing.on("response", (answer) => this.#answered(answer))
    outgoing.on("error", (error) => this.#upstreamFailed(error))
    return outgoing
  }

  #passInformation(status: number, rawHeaders: readonly string[]): void {
    if (this.#response.headersSent || this.#response.destroyed) return
    if (status === 102) this.#response.writeProcessing()
    if (status === 103)
      this.#response.writeEarlyHints(
        Object.fromEntries(pairsOf(rawHeaders).map(([name, value]) => [name.toLowerCase(), value])),
      )
  }

  #answered(answer: IncomingMessage): void {
    if (this.#phase === "over") {
      answer.destroy()
      return
    }
    // Refused before it was sent whole: what there is of the request is recorded with the answer it got.
    const isEarly = this.#phase === "receiving"
    const told = { bytes: this.#keptBody(), marks: undefined, attributes: { request_sent: "in part" } }
    if (isEarly && !this.#open(told)) return
    this.#phase = "answering"
    this.#answer = answer
    const headers = responseHeaders(pairsOf(answer.rawHeaders))
    const status = answer.statusCode ?? 502
    if (this.#observed)
      this.#recorded = new RecordedResponse(this.#observed.call, { status, headers }, this.#parts.limits)
    this.#response.writeHead(status, answer.statusMessage, flatHeaders(headers))
    this.#response.flushHeaders()
    answer.on("data", (piece: Buffer) => this.#pass(answer, piece))
    answer.on("end", () => this.#afterPieces(() => void this.#answerEnded(answer)))
    answer.on("error", (error) => this.#afterPieces(() => this.#upstreamFailed(error)))
  }

  #pass(answer: IncomingMessage, piece: Buffer): void {
    this.#passedBytes += piece.length
    const isLast = answer.headers["content-length"] === String(this.#passedBytes)
    if (this.#phase === "answering" && isLast && piece.length === this.#passedBytes && this.#giveWhole(piece)) return
    const recording = this.#recorded?.take(piece)
    if (recording === undefined) {
      this.#write(answer, piece)
      return
    }
    // Decoding runs beside this thread; the next piece waits for it, so that the journal stays ahead of the client. A client that has counted
    // all bytes is done with the answer, and so has the journal to be.
    answer.pause()
    this.#passing = recording.then(async () => {
      if (isLast) await this.#recorded?.finish()
      this.#passing = undefined
      if (isLast && this.#phase === "answering") {
        this.#finish("complete", undefined)
        this.#response.end(piece)
      } else if (this.#write(answer, piece)) answer.resume()
    })
  }

  // A paused stream still tells that it has ended, so the end has to wait for the piece that is on its way.
  #afterPieces(next: () => void): void {
    if (this.#passing) void this.#passing.then(next)
    else next()
  }

  /** False while the client has to catch up. */
  #write(answer: IncomingMessage, piece: Buffer): boolean {
    if (this.#phase !== "answering") return true
    if (this.#response.write(piece)) return true
    answer.pause()
    this.#response.once("drain", () => answer.resume())
    return false
  }

  async #answerEnded(answer: IncomingMessage): Promise<void> {
    await this.#recorded?.finish()
    const isWhole = answer.complete
    if (!isWhole) {
      this.#upstreamFailed(brokenAnswer(this.#parts.target))
      return
    }
    if (!this.#isOver()) {
      if (answer.rawTrailers.length > 0) {
        this.#response.addTrailers(pairsOf(answer.rawTrailers).map(([name, value]): [string, string] => [name, value]))
      }
      this.#finish("complete", undefined)
      this.#response.end()
    }
    // It said all it wanted to say about a request it did not want to the end.
    if (!this.#upstream?.writableEnded) this.#upstream?.destroy()
  }

  #upstreamSilent(): void {
    const { upstream } = this.#parts.target
    const minutes = Math.round(this.#parts.limits.upstreamSilenceMs / 60_000)
    this.#fellSilent(
      new OrangeboxError("UPSTREAM_SILENT", {
        what: `${upstream.name} (${upstream.origin}) said nothing for ${minutes} minutes`,
      }),
    )
  }

  #fellSilent(silence: Error): void {
    if (this.#phase === "over") return
    const hadAnswer = this.#answer !== undefined
    this.#finish("timeout", silence)
    this.#upstream?.destroy()
    if (hadAnswer) this.#breakOff()
    else refuse(this.#response, { status: 504, code: "upstream_silent", message: silence.message })
  }

  #upstreamFailed(error: Error): void {
    if (this.#phase === "over") return
    if (this.#phase === "draining") {
      this.#finish("complete", undefined)
      return
    }
    const hadAnswer = this.#answer !== undefined
    this.#finish("upstream_reset", error)
    if (hadAnswer) {
      this.#breakOff()
      return
    }
    const { upstream } = this.#parts.target
    const reason = (error as NodeJS.ErrnoException).code ?? error.message
    refuse(this.#response, {
      status: 502,
      code: "upstream_failed",
      message: `${upstream.name} (${upstream.origin}) could not be reached or broke off before it answered: ${reason}`,
    })
  }

  /** The client gets every byte that came, and then the ending its upstream gave: a connection that closes in the middle. */
  #breakOff(): void {
    const { socket } = this.#response
    if (!socket || socket.destroyed) return
    const isDelimited = this.#response.chunkedEncoding || this.#answer?.headers["content-length"] !== undefined
    setTimeout(() => socket.destroy(), this.#parts.limits.drainMs).unref()
    // A body that ends with its connection would look complete, so that one is reset.
    socket.end(() => (isDelimited ? socket.destroy() : socket.resetAndDestroy()))
  }

  #clientClosed(): void {
    if (this.#phase === "over" || this.#phase === "draining") return
    if (this.#phase === "answering" && this.#observed?.call.hasWholeAnswer()) {
      this.#phase = "draining"
      this.#parts.draining.add(this)
      this.#drainTimer = setTimeout(() => this.stopDraining(), this.#parts.limits.drainMs)
      this.#answer?.resume()
      return
    }
    // Destroyed first: the upstream must not work without a client, and writing the record takes longer than a packet.
    this.#upstream?.destroy()
    this.#finish("client_abort", undefined)
  }

  stopDraining(): void {
    this.#finish("complete", undefined)
    this.#upstream?.destroy()
  }

  #isOver(): boolean {
    return this.#phase === "over"
  }

  #finish(how: WireEnd, err: unknown): void {
    if (this.#phase === "over") return
    this.#phase = "over"
    this.#parts.draining.delete(this)
    clearTimeout(this.#waitTimer)
    clearTimeout(this.#drainTimer)
    this.#recorded?.abandon()
    this.#observed?.ended({
      how,
      err,
      head: this.#recorded?.head,
      storedBytes: this.#recorded?.storedBytes ?? 0,
      notes: this.#recorded?.endNotes() ?? {},
    })
  }
}

function notAsked({ upstream }: Target): OrangeboxError {
  return new OrangeboxError("REPLAY", { what: `a request to ${upstream.name} was not asked of the tape` })
}

function brokenAnswer({ upstream }: Target): OrangeboxError {
  return new OrangeboxError("UPSTREAM_RESET", { what: `${upstream.name} (${upstream.origin}) broke off its answer` })
}
