/**
 * Every bound of the proxy, with its default. Traffic is never cut by the first group: beyond these the bytes still pass, and the record says
 * what it left out.
 */
export interface ProxyLimits {
  /** A request body is read whole, and recorded whole, up to this size. A larger one streams through, and its first part is recorded. */
  readonly requestBytes: number
  /** Decoded bytes of one answer that are recorded. */
  readonly responseBytes: number
  /** A body that unpacks to more than this many times its size, past the first MiB, is taken for a bomb and recorded as it came. */
  readonly decodeRatio: number
  /** Content encodings on top of each other that are undone. */
  readonly decodeLayers: number

  readonly connections: number
  /** Connections that have not shown the token yet. One more closes the oldest of them. */
  readonly unknownConnections: number
  /** How long one of them has to show it. */
  readonly unknownMs: number
  readonly headerBytes: number
  /** How long a client may take to send its headers: what a Slowloris has. */
  readonly headersMs: number
  /** How long a client may take to send a whole request. */
  readonly requestMs: number
  /**
   * Silence of an upstream after which it counts as gone. Far above the ten minutes that model clients wait by default, because a proxy that
   * gives up before its client does changes what the client sees.
   */
  readonly upstreamSilenceMs: number
  /** How long the rest of an answer is still read after its client left with everything it needed. */
  readonly drainMs: number
}

const MIB = 1024 * 1024
const MINUTE = 60_000

export const DEFAULT_LIMITS: ProxyLimits = {
  requestBytes: 32 * MIB,
  responseBytes: 32 * MIB,
  decodeRatio: 200,
  decodeLayers: 2,
  connections: 1024,
  unknownConnections: 128,
  unknownMs: 20_000,
  headerBytes: 64 * 1024,
  headersMs: MINUTE,
  requestMs: 30 * MINUTE,
  upstreamSilenceMs: 60 * MINUTE,
  drainMs: 10_000,
}
