/** A text of a client, as far as a message repeats it. */
export function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
