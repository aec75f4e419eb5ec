/** Formats a code as lower-case words. */
export function inWords(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ')
}
