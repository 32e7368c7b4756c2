export { TapeDivergence } from "./tape-divergence.js"
export { type Taped, withTape } from "./with-tape.js"
