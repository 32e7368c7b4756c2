export { OrangeboxError } from "@orangebox/contract"
