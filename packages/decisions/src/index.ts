export type { CaptureMode } from "@orangebox/contract"
