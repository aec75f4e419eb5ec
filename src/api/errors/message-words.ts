/** Formats values inside error messages. */

/** Formats a Unix time in seconds as ISO 8601. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** Shortens a text of a client to 200 characters before a message repeats it. */
export function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
