/** Removes the byte order mark from the beginning of a text. Editors on Windows write it, and `JSON.parse` refuses it. */
export function withoutByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
}
