// The proxy
export { DEFAULT_LIMITS, type ProxyLimits } from "./limits.js"
export { type Proxy, type ProxyOptions, startProxy } from "./proxy.js"
export type { UpstreamTls } from "./upstream-agents.js"
export { addStats, NO_STATS, type ProxyStats } from "./usage-ledger.js"
