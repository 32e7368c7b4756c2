export const REPLAY_VERSION = "0.1.0"
