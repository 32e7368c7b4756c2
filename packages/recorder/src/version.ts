export const RECORDER_VERSION = "0.1.0"
