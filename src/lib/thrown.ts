/** The message of something that was thrown. Everything that the program and its packages throw is an `Error`. */
export function messageIn(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
