/** Values as messages of errors write them. */

/** Of a Unix time in seconds. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** A text of a client, as far as a message repeats it. */
export function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** A code as lower-case words. */
export function inWords(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ')
}
